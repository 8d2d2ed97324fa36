"""Any model behind OpenAI's chat completions, theirs or a compatible server's.

Importing this package does not load the SDK; the first answer does, which takes it a second.
"""

from adapters.openai.costs import Prices
from adapters.openai.model import OPENAI, OpenAIModel

__all__ = ["OPENAI", "OpenAIModel", "Prices"]

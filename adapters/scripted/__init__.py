"""A model that costs nothing and always answers the same: for demos, and for tests.

It knows nothing but a few Portuguese words, and obeys the same JSON as any other model.
"""

from adapters.scripted.model import NAME, ScriptedModel

__all__ = ["NAME", "ScriptedModel"]

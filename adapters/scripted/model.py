"""The model port without a model."""

import json
from collections import deque
from collections.abc import Iterable
from typing import Final

from adapters.scripted.dialogue import answer_to
from domain.conversation.model import ModelAnswer, ModelRequest

NAME: Final = "scripted"
"""What events name as the model."""

_REMEMBERED: Final = 1_000


class ScriptedModel:
    """Answers by state and by what the lead said, or first by a script.

    `requests` are the newest it was asked, `script` what is left of the script.
    """

    def __init__(self, script: Iterable[str | Exception] = ()) -> None:
        """Begin.

        Args:
            script: for the first requests, in order: texts that are answered as they are, and
                errors that are raised. Then it answers by itself.
        """
        self.script = deque(script)
        self.requests: deque[ModelRequest] = deque(maxlen=_REMEMBERED)

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """Answer at once, for nothing."""
        self.requests.append(request)
        if self.script:
            line = self.script.popleft()
            if isinstance(line, Exception):
                raise line
            return ModelAnswer(text=line, model=NAME)
        return ModelAnswer(text=json.dumps(answer_to(request), ensure_ascii=False), model=NAME)

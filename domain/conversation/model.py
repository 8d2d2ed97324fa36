"""Asking a model: what it is given, and what it may answer. The answer's meaning: `answer`."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message as the model sees it, in order. `assistant` is whoever spoke for the business."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One call. `messages` end with everything the lead said that nobody answered yet.

    `correction` is set on the one re-ask: what was wrong with the answer before, which was
    `previous`. `state` and `agent` are what the scripted model answers by.
    """

    agent: str
    state: str
    system: str
    messages: tuple[Said, ...]
    schema: dict[str, object]
    previous: str | None = None
    correction: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """What the model wrote, unread, and what it cost. Costs are None where no price is set."""

    text: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int | None = None
    cost_currency: str | None = None
    latency_ms: int = 0


class ModelRefused(Exception):
    """The model will not answer this: asking again is useless. Its message is a word."""


class ModelUnavailable(Exception):
    """No answer came: timeout, limit, outage. The same request may be sent again later."""

    def __init__(self, reason: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after_s = retry_after_s

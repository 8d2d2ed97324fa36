"""A turn: what an agent was asked, what the asking used, and what came of it."""

from dataclasses import dataclass, field
from typing import Any

from domain.conversation.answer import Answer
from domain.conversation.facts import Facts
from domain.conversation.policy import Policy
from domain.conversation.states import State
from domain.conversation.thread import Thread, Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What an agent was asked: every message that waited, in a session, in a state."""

    session_id: str
    state: State
    covered: list[Waiting]
    agent: str
    prompt: str | None = None
    said: str = ""

    @property
    def last(self) -> str:
        """The message that names the turn."""
        return self.covered[-1].message_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a decision about a turn stands on, and what it may need.

    `new_session` is the id of the session it may open; `card` what a human would read first.
    """

    thread: Thread
    policy: Policy
    facts: Facts
    new_session: str = ""
    card: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the calls of one turn used. Money in millionths of the currency."""

    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int | None = None
    cost_currency: str | None = None
    latency_ms: int = 0

    def said(self) -> dict[str, Any]:
        """Return the usage as fields of an event; nothing if no model was called."""
        if not self.model:
            return {}
        return {
            "model": self.model[:100],
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_micros": self.cost_micros,
            "cost_currency": self.cost_currency,
            "latency_ms": self.latency_ms,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of asking: an answer, or the word that says why there is none."""

    answer: Answer | None = None
    reason: str | None = None
    usage: Usage = field(default_factory=Usage)

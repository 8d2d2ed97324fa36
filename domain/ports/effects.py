"""Ports of what cannot be repeated: acting on the world, and asking it what only it knows.

Projections cannot import this module (an import contract), so a replay can neither act nor
depend on when or where it runs.
"""

from typing import NamedTuple, Protocol

from domain.conversation.delivery import OutboundText, SendResult
from domain.conversation.model import ModelAnswer, ModelRequest


class Clock(Protocol):
    """Tells the time."""

    def __call__(self) -> str:
        """Return now, fixed-width UTC (`domain.instants`)."""
        ...


class IdFactory(Protocol):
    """Makes identifiers nobody else has."""

    def __call__(self) -> str:
        """Return a UUIDv7 as text: unique, and later ids sort later."""
        ...


class ReadyLead(NamedTuple):
    """A lead whose turn it is to be worked on."""

    organization_id: str
    lead: str


class WakeUps(Protocol):
    """Says that a lead has something to do; what it is stands in the log.

    A wake-up is a hint: it may come twice, late or never. Those of one lead are worked on one
    after the other.
    """

    def wake(self, organization_id: str, lead: str, message_id: str) -> None:
        """Ask for the lead to be looked at soon.

        Raises:
            Unavailable: the queue did not take it.
        """
        ...


class Channel(Protocol):
    """One channel's way out. Never raises for what the channel answers: the result says it."""

    def send(self, text: OutboundText) -> SendResult:
        """Hand one text over, once; no retry inside."""
        ...

    def typing(self, account: str, message_id: str) -> None:
        """Show that the message was read and an answer is being written. Best effort, silent."""
        ...


class Model(Protocol):
    """A language model, or what stands in for one."""

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """Answer one request, within the time the settings allow; no retry inside.

        Raises:
            ModelRefused: it will not answer; asking again is useless.
            ModelUnavailable: no answer came.
        """
        ...

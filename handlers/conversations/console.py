"""The console as a place to talk at: a lead without a phone, and whoever follows a conversation."""

from dataclasses import dataclass, field
from typing import Final

from domain.addresses import address, identity_keys
from domain.conversation.inbound import InboundMessage
from domain.conversation.messages import Message
from domain.conversation.thread import Thread
from domain.errors import Rejected, Unavailable
from domain.event import MAX_ID_CHARACTERS
from handlers.conversations.ground import Conversations
from handlers.conversations.receiving import Receiving
from handlers.conversations.sends import Deciding

CHANNEL: Final = "console"
_FOLLOWED: Final = 60
"""Messages of a look; who falls further behind than this misses the oldest."""


@dataclass(slots=True, kw_only=True)
class Following:
    """Who reads along: each message once, those of ours when they have arrived."""

    conversations: Conversations
    lead: str
    _told: set[str] = field(default_factory=set, init=False)

    def news(self) -> list[Message]:
        """Return what was said since the last look, in the order it was said."""
        before = self._unsettled()
        history = self.conversations.history(self.lead, limit=_FOLLOWED)
        # A text that is in the outbox may still be dropped; one that came between both looks too.
        unsettled = before | self._unsettled()
        fresh = [
            each
            for each in history
            if each.message_id not in self._told
            and each.message_id not in unsettled
            and (each.direction == "inbound" or each.error is None)
        ]
        self._told.update(each.message_id for each in fresh)
        return fresh

    def skip(self, message_id: str) -> None:
        """Leave a message out that is known already."""
        self._told.add(message_id)

    def _unsettled(self) -> set[str]:
        thread = self.conversations.look(self.lead).thread
        return {each.outbound_id for each in thread.outbox} if thread else set()


@dataclass(slots=True, kw_only=True)
class ConsoleLead:
    """A lead that writes at a terminal, under an identifier of its own there."""

    receiving: Receiving
    conversations: Conversations
    deciding: Deciding
    organization_id: str
    identifier: str
    _following: Following | None = field(default=None, init=False)

    def say(self, text: str) -> None:
        """Write a message.

        Raises:
            Unavailable: it is not durable; write it again.
            Rejected: the identifier is none, or what was written cannot be taken.
        """
        item = InboundMessage(
            channel=CHANNEL,
            source=CHANNEL,
            external_event_id=self.deciding.new_id(),
            account="",
            address=address(CHANNEL, self.identifier[: MAX_ID_CHARACTERS + 1]),
            occurred_at=self.deciding.now(),
            raw=b"",
            reply_to=self.identifier,
            media_type="text",
            text=text,
        )
        [received] = self.receiving.receive(self.organization_id, [item])
        if received.outcome == "retry":
            raise Unavailable("The message could not be kept.")
        if received.lead is None:
            raise Rejected("The message could not be taken.", hint="See `leads quarantine list`.")

    def hear(self) -> list[Message]:
        """Return what the business said since the last look."""
        following = self._followed()
        return (
            [] if following is None else [m for m in following.news() if m.direction == "outbound"]
        )

    def catch_up(self) -> None:
        """Leave out what was said before."""
        self.hear()

    def is_waiting(self) -> bool:
        """Tell whether something of the lead's is still to be answered or sent."""
        following = self._followed()
        thread: Thread | None = None
        if following is not None:
            thread = self.conversations.look(following.lead).thread
        return thread is not None and thread.due_at is not None

    def _followed(self) -> Following | None:
        if self._following is None:
            named = identity_keys(self.organization_id, address(CHANNEL, self.identifier))
            found = self.conversations.log.store.resolve(named)
            for lead in found.values():
                self._following = Following(conversations=self.conversations, lead=lead)
        return self._following

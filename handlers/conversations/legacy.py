"""What an earlier deployment left half done: read once, recorded as facts, and gone (seeds 000, 002).

It kept a buffer of texts and an unsent reply under the lead's phone. Its consumer is gone; whoever
writes from that phone, or a command that names it, brings what was left into the log.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from domain import canonical, keys
from domain.conversation.facts import Facts
from domain.conversation.inbound import InboundMessage, Item
from domain.conversation.routing import forms
from domain.event import Address, NewEvent
from domain.instants import parse_instant
from domain.ports.effects import Clock
from domain.ports.storage import StateTable
from domain.records import Condition, Equal, Row
from handlers.conversations.ground import Conversation
from handlers.conversations.sends import Deciding

BUFFER: Final = "BUFFER"
PENDING_REPLY: Final = "PENDING_REPLY"

_TEXTS: Final = ("text", "messages", "texts", "content", "reply_text", "reply")
_STAMPS: Final = ("first_message_at", "updated_at", "created_at")

Receive = Callable[[str, Sequence[Item]], Sequence[str]]
"""(organization, items) → what became of each."""


class Drained(NamedTuple):
    """What was found of one phone and is in the log now."""

    buffers: int = 0
    replies: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Legacy:
    """Drains the records of an earlier deployment. Doing it twice finds nothing the second time."""

    table: StateTable
    deciding: Deciding
    now: Clock

    def drain(
        self, organization_id: str, address: Address, account: str, receive: Receive
    ) -> Drained:
        """Bring what was left under any form of a phone into its lead's log.

        A buffer becomes a message that waits for an answer. A reply that was never sent is queued
        behind the same fence as every other text: a window that has closed drops it.

        Raises:
            Unavailable, Uncertain: the store did not answer; what is not in the log stands.
        """
        drained = Drained()
        for phone in forms(address):
            for row in self._left_by(phone):
                if row.key.sk == BUFFER:
                    item = self._buffered(row, address, account, phone)
                    if receive(organization_id, [item])[0] == "retry":
                        continue
                    drained = drained._replace(buffers=drained.buffers + 1)
                elif self._queue(organization_id, address, row):
                    drained = drained._replace(replies=drained.replies + 1)
                self.table.delete(row.key, _unchanged(row))
        return drained

    def _left_by(self, phone: str) -> list[Row]:
        page = self.table.query(keys.thread_partition(phone))
        return [row for row in page.items if row.key.sk in {BUFFER, PENDING_REPLY}]

    def _buffered(self, row: Row, address: Address, account: str, phone: str) -> InboundMessage:
        """Return the texts of a buffer as one message, joined as its consumer joined them."""
        stamp = _stamp(row)
        return InboundMessage(
            channel="whatsapp",
            source="whatsapp",
            external_event_id=f"legacy:{canonical.digest(phone, stamp)}",
            account=str(row.attributes.get("whatsapp_instance", account)),
            address=address,
            occurred_at=self._occurred_at(stamp),
            raw=canonical.dumps({name: str(value) for name, value in row.attributes.items()}),
            reply_to=phone,
            media_type="text",
            text=_text(row),
        )

    def _queue(self, organization_id: str, address: Address, row: Row) -> bool:
        text = _text(row)[:4096]
        cause = f"legacy:{canonical.digest(row.key.pk, _stamp(row), PENDING_REPLY)}"
        if not text:
            return False

        def decide(conversation: Conversation, facts: Facts) -> Sequence[NewEvent]:
            if conversation.thread is None:
                return []
            return [facts.reply_queued("legacy_reply", text, cause=cause)]

        return bool(self.deciding.record_at(organization_id, address, decide).events)

    def _occurred_at(self, stamp: str) -> str:
        try:
            return min(parse_instant(stamp), self.now())
        except ValueError:
            return self.now()


def _stamp(row: Row) -> str:
    return next((str(row.attributes[name]) for name in _STAMPS if name in row.attributes), "")


def _unchanged(row: Row) -> Condition | None:
    """Return the condition that nobody has written the record anew (`delete_if_first_message_at`)."""
    for name in _STAMPS:
        if name in row.attributes:
            return Equal(name, row.attributes[name])
    return None


def _text(row: Row) -> str:
    """Return what a record says: its text, or its list of texts joined by line ends."""
    for name in _TEXTS:
        value = row.attributes.get(name)
        if not isinstance(value, str) or not value:
            continue
        if value.startswith("["):
            try:
                parts = canonical.loads(value)
            except ValueError:
                return value
            return "\n".join(_said(part) for part in parts)
        return value
    return ""


def _said(part: object) -> str:
    if isinstance(part, dict):
        return str(part.get("content") or part.get("text") or "")
    return str(part)

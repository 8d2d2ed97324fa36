"""A delivery of WhatsApp's webhook, read into items: pure, total, in order, one item at a time.

What is strange is a notice with its bytes beside the good items, never a refusal of them: Meta sends
a refused delivery again for seven days.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from adapters.whatsapp.bodies import UNREADABLE, decode
from adapters.whatsapp.change import HISTORY, Change, Reader, StrangeError, change_of, guarded, many
from adapters.whatsapp.history import chunk, of_thread
from adapters.whatsapp.messages import echo, message
from adapters.whatsapp.people import Fields
from adapters.whatsapp.reports import anything, handover, preference, problem, status
from domain.conversation.inbound import Item

OBJECT: Final = "whatsapp_business_account"

Problem = Literal["not_json", "unknown_object"]


class Delivery(NamedTuple):
    """The items of one delivery in the order they stand, and what was wrong with all of it."""

    items: list[Item]
    problem: Problem | None = None


def parse(raw: bytes, received_at: str) -> Delivery:
    """Read the body of one delivery. Never raises, whatever the bytes are.

    Args:
        raw: the body, its signature verified.
        received_at: fixed-width UTC; stands in for every time that cannot be read.
    """
    body = decode(raw)
    if body is UNREADABLE:
        return Delivery([], "not_json")
    if not isinstance(body, dict) or body.get("object") != OBJECT:
        return Delivery([], "unknown_object")
    entries = many(body.get("entry"))
    return Delivery([item for entry in entries for item in _of_entry(entry, received_at)])


def _of_entry(entry: Any, received_at: str) -> Iterator[Item]:
    outside = change_of("", {}, received_at=received_at, told_at=None)
    if not isinstance(entry, dict):
        yield guarded(_stray, entry, outside)
        return
    for each in many(entry.get("changes")):
        value = each.get("value") if isinstance(each, dict) else None
        if not isinstance(value, dict):
            yield guarded(_stray, each, outside)
            continue
        named = each.get("field")
        field = named if isinstance(named, str) else ""
        change = change_of(field, value, received_at=received_at, told_at=entry.get("time"))
        for read, item in _items(field, value):
            yield guarded(read, item, change)


def _items(field: str, value: Fields) -> Iterator[tuple[Reader, Any]]:
    """Yield every item of a change with its reader. What a list holds says what it is, not the field."""
    if field == "messaging_handovers":
        yield handover, value
    elif not value.keys() & (_LISTS.keys() | {HISTORY}):
        # Nothing but what stands around items is an empty delivery.
        if not value.keys() <= _AROUND:
            yield anything, value
    else:
        for name, read in _LISTS.items():
            reader = _FROM_BEFORE if field == HISTORY and read is message else read
            yield from ((reader, item) for item in many(value.get(name)))
        for part in many(value.get(HISTORY)):
            yield from chunk(part)


def _stray(_item: Fields, _change: Change) -> Item:
    raise StrangeError("no_change")


_LISTS: Final[Mapping[str, Reader]] = {
    "messages": message,
    "standby": message,
    "message_echoes": echo,
    "statuses": status,
    "user_preferences": preference,
    "errors": problem,
}
"""The lists a change may hold, and who reads their items."""

_AROUND: Final = frozenset(("messaging_product", "metadata", "contacts"))
_FROM_BEFORE: Final = of_thread(None)

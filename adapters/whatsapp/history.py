"""Messages from before the channel was connected, as a business shares them once."""

from collections.abc import Iterator
from typing import Any, Final

from adapters.whatsapp.bodies import local_id
from adapters.whatsapp.change import Change, Reader, StrangeError, code_of, event_id, many, required
from adapters.whatsapp.contents import any_content_of
from adapters.whatsapp.errors import told
from adapters.whatsapp.messages import RECIPIENT
from adapters.whatsapp.people import Fields, Person
from domain.conversation.inbound import ChannelNotice, HistoryMessage

HISTORY_SOURCE: Final = "whatsapp_history"

_DECLINED: Final = 2593109
"""The business did not share. Source: Meta's reference of the history webhook."""
_PLACEHOLDER: Final = "media_placeholder"
_SENDER: Final = ("from", "from_user_id", "from_parent_user_id")


def chunk(value: Any) -> Iterator[tuple[Reader, Any]]:
    """Yield every item of one of a change's `history` with its reader, in order."""
    if not isinstance(value, dict):
        yield _no_chunk, value
        return
    yield from ((_problem, error) for error in many(value.get("errors")))
    for thread in many(value.get("threads")):
        if isinstance(thread, dict):
            read = of_thread(thread.get("id"))
            yield from ((read, message) for message in many(thread.get("messages")))
        else:
            yield _no_chunk, thread


def of_thread(thread: Any) -> Reader:
    """Return the reader of a thread's messages; of None: of those that stand in no thread.

    The thread names the person. What says to whom it goes, or comes from the business, is outbound.
    """

    def read(item: Fields, change: Change) -> HistoryMessage:
        outbound = item.get("to") is not None or change.is_ours(item.get("from"))
        person = _person(thread, item, change, outbound=outbound)
        content = any_content_of(item)
        known = event_id(item)
        # The media themselves follow under the same id, which must be free for them.
        placeholder = content.media_type == _PLACEHOLDER
        return HistoryMessage(
            **change.common(
                item,
                external_event_id=_placeholder_id(known) if placeholder else known,
                address=person.address,
                source=HISTORY_SOURCE,
                timestamp=item.get("timestamp"),
            ),
            direction="outbound" if outbound else "inbound",
            media_type=content.media_type,
            text=content.text,
        )

    return read


def _person(thread: Any, item: Fields, change: Change, *, outbound: bool) -> Person:
    stated = [item.get(name) for name in (RECIPIENT if outbound else _SENDER)]
    person = change.contacts.person(thread, *stated)
    if person.address is None:
        raise StrangeError("history_without_person")
    return person


def _placeholder_id(known: str) -> str:
    return required(f"{known}:placeholder", "unusable_id")


def _no_chunk(_item: Fields, _change: Change) -> ChannelNotice:
    raise StrangeError("unreadable_history")


def _problem(item: Fields, change: Change) -> ChannelNotice:
    code = code_of(item)
    common = change.common(
        item,
        external_event_id=local_id(item, change.account),
        address=None,
        source=HISTORY_SOURCE,
    )
    kind = "history_declined" if code == _DECLINED else "history_error"
    return ChannelNotice(**common, kind=kind, text=told(item).title or "", error_code=code)

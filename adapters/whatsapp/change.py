"""One change of a delivery: what stands around its items, and what every item has in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypedDict

from adapters.whatsapp.bodies import encode, local_id
from adapters.whatsapp.cleaning import id_of, moment, number
from adapters.whatsapp.contents import part
from adapters.whatsapp.people import CHANNEL, Contacts, Fields, Person, contacts_of, forms_of
from domain.conversation.inbound import ChannelNotice, Item
from domain.event import Address

SOURCE: Final = "whatsapp"

STANDBY: Final = "standby"
HISTORY: Final = "history"


class StrangeError(Exception):
    """An item that should have been understood and cannot be; `kind` says why in a word."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Common(TypedDict):
    """What `ChannelItem` asks of every item."""

    channel: str
    source: str
    external_event_id: str
    account: str
    address: Address | None
    occurred_at: str
    occurred_at_stated: bool
    raw: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The field that changed, whose it is, who is named beside it, and when it came.

    `business` are the forms of the business's own number. `told_at` is the time of the entry, which
    Meta states for accounts.
    """

    field: str
    account: str
    business: frozenset[str]
    contacts: Contacts
    received_at: str
    told_at: Any

    def sender(self, item: Fields) -> Person:
        """Return who wrote a message; nobody if it was the business."""
        if self.is_ours(item.get("from")):
            return Person()
        return self.contacts.person(*(item.get(name) for name in _SENDER))

    def is_ours(self, stated: Any) -> bool:
        """Tell whether an address is the business's own."""
        return not self.business.isdisjoint(forms_of(stated))

    def common(
        self,
        item: Any,
        *,
        external_event_id: str,
        address: Address | None,
        source: str = SOURCE,
        timestamp: Any = None,
    ) -> Common:
        """Return the fields that every item has."""
        stated = moment(timestamp, self.received_at)
        return Common(
            channel=CHANNEL,
            source=source,
            external_event_id=external_event_id,
            account=self.account,
            address=address,
            occurred_at=stated or self.received_at,
            occurred_at_stated=stated is not None,
            raw=encode(item),
        )

    def strange(self, item: Any, kind: str) -> ChannelNotice:
        """Return the notice of an item that cannot be understood.

        Its id is never the item's own: that must stay free for what a better reader makes of it.
        """
        person = self.sender(item) if isinstance(item, dict) else Person()
        stated = item.get("timestamp") if isinstance(item, dict) else None
        common = self.common(
            item, external_event_id=local_id(item), address=person.address, timestamp=stated
        )
        return ChannelNotice(**common, kind=kind, strange=True)


Reader = Callable[[Fields, Change], Item]

_SENDER: Final = ("from", "from_user_id", "from_parent_user_id")


def change_of(field: str, value: Fields, *, received_at: str, told_at: Any) -> Change:
    """Return what stands around the items of one change."""
    metadata = part(value, "metadata")
    return Change(
        field=field,
        account=id_of(metadata.get("phone_number_id")) or "",
        business=frozenset(forms_of(metadata.get("display_phone_number"))),
        contacts=contacts_of(value.get("contacts")),
        received_at=received_at,
        told_at=told_at,
    )


def guarded(read: Reader, item: Any, change: Change) -> Item:
    """Return what a reader makes of an item, and a strange notice if it makes nothing of it.

    A fault of our own is answered like one of theirs: it must not cost the other items of the
    delivery, and what it failed on is kept.
    """
    try:
        if not isinstance(item, dict):
            return change.strange(item, "no_object")
        return read(item, change)
    except StrangeError as strange:
        return change.strange(item, strange.kind)
    except Exception:  # noqa: BLE001 - whatever it is; the notice has a name of its own
        return change.strange(item, "parser_failed")


def event_id(item: Fields) -> str:
    """Return an item's own id, or one made of its bytes if it has none.

    Raises:
        StrangeError: it has one that cannot be stored.
    """
    stated = item.get("id")
    if stated is None or stated == "":
        return local_id(item)
    return required(stated, "unusable_id")


def required(value: Any, kind: str) -> str:
    """Return an id that an item cannot do without.

    Raises:
        StrangeError: of this kind; there is none that can be stored.
    """
    known = id_of(value)
    if known is None:
        raise StrangeError(kind)
    return known


def many(value: Any) -> Sequence[Any]:
    """Return the members of a list; what is none counts as the only member of one."""
    if value is None:
        return ()
    return value if isinstance(value, list) else (value,)


def code_of(errors: Any) -> int | None:
    """Return the code of the first of some errors."""
    first = next(iter(many(errors)), None)
    code = number(first.get("code")) if isinstance(first, dict) else None
    return code if code is not None and code >= 0 else None

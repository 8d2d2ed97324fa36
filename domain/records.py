"""What the storage ports carry: records, heads, receipts, rows, and the commit that writes them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, NamedTuple, TypeVar

from eventsourcing.persistence import IntegrityError, StoredEvent

from domain.event import Envelope
from domain.keys import Key

T = TypeVar("T")

Value = str | int | bytes
Attributes = Mapping[str, Value]

UNKNOWN_CONTENT: Final = ""
"""The fingerprint of a receipt that was made again after a restore: what its sender brought is not
known any more, so whatever comes under its key is the same again."""


@dataclass(frozen=True)
class LeadRecord(StoredEvent):
    """A stored event with its envelope: topic is the eventType, state the payload's bytes.

    `raw_payload` travels on writes only; reads leave it out (`LeadRecorder.raw_payload` has it).
    """

    envelope: Envelope
    raw_payload: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """How far a lead's stream and its rows have come.

    `version` is the last sequence, `projected` the sequence the rows reflect, `fold_version` the
    edition of the projections that made them, `rev` the number of times the head was written,
    `goal` the sequence that rows are being rebuilt to (None outside a rebuild). `unknown` is what
    a newer edition wrote and this one does not know; every writer carries it over.
    """

    lead: str
    organization_id: str
    version: int
    projected: int
    fold_version: int
    rev: int
    goal: int | None = None
    unknown: Attributes = field(default_factory=dict)


class Receipt(NamedTuple):
    """Proof that one (source, externalEventId) is taken, and by what.

    `key` is `keys.receipt(…)`. `nonce` is the attempt that wrote it: a writer who never got an
    answer knows its own event by it. `fingerprint` is of what the sender brought, or
    `UNKNOWN_CONTENT`.
    """

    key: str
    lead: str
    event_id: str
    sequence: int
    nonce: str
    fingerprint: str

    def is_of_other(self, fingerprint: str) -> bool:
        """Tell whether it was given for another content than this."""
        return self.fingerprint not in {UNKNOWN_CONTENT, fingerprint}


class Identity(NamedTuple):
    """A claim of one address by one lead. `key` is `keys.identity(…)`."""

    key: str
    lead: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the state table. Attributes are flat: text, integers, bytes; no floats.

    `gsi1` puts the row into the index; `ttl` (epoch seconds) is for ephemeral rows only: a view
    row never has one, its next event would restart its sums.
    """

    key: Key
    attributes: Attributes
    gsi1: tuple[str, str] | None = None
    ttl: int | None = None


@dataclass(frozen=True, slots=True)
class Absent:
    """The row must not exist."""


@dataclass(frozen=True, slots=True)
class Equal:
    """The row must exist and this attribute must have this value."""

    attribute: str
    value: Value


@dataclass(frozen=True, slots=True)
class AbsentOrBelow:
    """The row must not exist, or this attribute must sort below this value (an expiry)."""

    attribute: str
    value: Value


Condition = Absent | Equal | AbsentOrBelow


class Check(NamedTuple):
    """A condition on a row that the transaction does not write."""

    key: Key
    condition: Condition


@dataclass(frozen=True, slots=True)
class PutHead:
    """Write the head, on condition that its `rev` is still `expected_rev` (0: no head yet)."""

    head: Head
    expected_rev: int


@dataclass(frozen=True, slots=True)
class CheckHead:
    """Leave the head, on condition that it stands as described; None is not compared."""

    lead: str
    rev: int | None = None
    projected: int | None = None
    fold_version: int | None = None
    goal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What one transaction writes beside its events. All of it, or nothing.

    Receipts and identities are put where nothing stands yet; rows are put and deleted without a
    condition, since the head's is theirs.
    """

    head: PutHead | CheckHead
    receipts: tuple[Receipt, ...] = ()
    identities: tuple[Identity, ...] = ()
    puts: tuple[Row, ...] = ()
    deletes: tuple[Key, ...] = ()
    checks: tuple[Check, ...] = ()


class Refused(IntegrityError):
    """A condition of the commit did not hold; nothing was written.

    What stands in the way is told without another read, each field only as far as the store
    reported it: `identities` that are taken and by whom, `receipts` that are taken, whether the
    `head` moved, `checks` that failed, whether an `event` of that key exists.
    """

    def __init__(
        self,
        *,
        identities: Sequence[Identity] = (),
        receipts: Sequence[Receipt] = (),
        head: bool = False,
        checks: Sequence[Key] = (),
        event: bool = False,
    ) -> None:
        super().__init__("a condition of the commit did not hold")
        self.identities = tuple(identities)
        self.receipts = tuple(receipts)
        self.head = head
        self.checks = tuple(checks)
        self.event = event


class Snapshot(NamedTuple):
    """Head, rows and receipts as they stood at one moment. What is absent is missing or None."""

    head: Head | None
    rows: dict[Key, Row]
    receipts: dict[str, Receipt]


class Write(NamedTuple):
    """One commit of a batch."""

    events: Sequence[StoredEvent]
    commit: Commit


class Page(NamedTuple, Generic[T]):
    """Part of a list, and where to go on: `cursor` is None when there is no more."""

    items: list[T]
    cursor: str | None


def every(fetch: Callable[[str | None], Page[T]]) -> Iterator[T]:
    """Yield every item of a list, page by page, as `fetch` gives the page behind a cursor."""
    cursor: str | None = None
    while True:
        page = fetch(cursor)
        yield from page.items
        cursor = page.cursor
        if cursor is None:
            return

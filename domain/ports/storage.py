"""Ports of our own data, which a replay may use: the log's recorder and the state table.

The log is the recorder contract of the `eventsourcing` library (topic = eventType, state =
payload) with one keyword more: `commit`, everything else that one transaction writes.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from eventsourcing.persistence import AggregateRecorder, IntegrityError, StoredEvent

from domain.event import Envelope
from domain.keys import Key

T = TypeVar("T")

Value = str | int | bytes
Attributes = Mapping[str, Value]


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
    answer knows its own event by it.
    """

    key: str
    lead: str
    event_id: str
    sequence: int
    nonce: str
    fingerprint: str


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


class LeadRecorder(AggregateRecorder):
    """The log of one deployment: events, receipts, heads, identities, and the rows of its commits.

    Every method raises `errors.Unavailable` when the store cannot answer and nothing was written.
    """

    settle_s: float
    """How long after a head was read every commit before it is visible to every read (rule 9)."""

    @abstractmethod
    def insert_events(
        self, stored_events: Sequence[StoredEvent], *, commit: Commit | None = None, **kwargs: Any
    ) -> Sequence[int] | None:
        """Write events and everything of the commit in one transaction.

        Without a commit a bare one is built: a receipt a position, a head that follows, no rows.

        Raises:
            Refused: a condition did not hold, nothing was written.
            errors.LimitExceeded: a limit of `domain.limits` would be passed, nothing was sent.
            errors.Unavailable: contention, throttling or an outage; nothing was written.
            errors.Uncertain: no answer; it may have been written. Receipts tell.
        """

    @abstractmethod
    def insert_many(self, writes: Sequence[Write]) -> list[Exception | None]:
        """Write several commits, each atomic for itself and answered for itself, in their order.

        An answer is None for a commit that is durable, else the exception `insert_events` would
        have raised. The commits of one call are of different leads.
        """

    @abstractmethod
    def snapshot(
        self, lead: str, keys: Iterable[Key] = (), receipts: Iterable[str] = ()
    ) -> Snapshot:
        """Read the head and what is named, as of one moment, in one round trip per 99 items.

        Raises:
            errors.Unavailable: also when the head moved between two parts of a large read.
        """

    @abstractmethod
    def select_events(
        self,
        originator_id: Any,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        """Read a stream by sequence, consistently; `LeadRecord`s, unless inserted bare.

        On DynamoDB a commit still being applied may show as a hole: `LeadLog` asks again.
        """

    @abstractmethod
    def select_by_time(  # noqa: PLR0913 - one query, all of its clauses
        self,
        lead: str,
        *,
        event_type: str | None = None,
        since: str | None = None,
        until: str | None = None,
        desc: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[LeadRecord]:
        """Read a lead's events by occurredAt (ties by eventId), `since` inclusive, `until` not.

        One page of one type is one query of `event-type-index`, without a filter; an index may
        lag behind the log. The cursor is the position after the last item, good for this lead,
        type and direction only.

        Raises:
            errors.Rejected: the cursor is none of ours.
        """

    @abstractmethod
    def raw_payload(self, lead: str, sequence: int) -> bytes | None:
        """Return the sender's own bytes of an event, None if there are none."""

    @abstractmethod
    def resolve(self, identities: Sequence[str]) -> dict[str, str]:
        """Return the lead of each identity key that is claimed, read consistently."""

    @abstractmethod
    def receipt(self, key: str) -> Receipt | None:
        """Return the receipt of one key, read consistently."""

    @abstractmethod
    def leads(self, organization_id: str, *, limit: int, cursor: str | None = None) -> Page[str]:
        """List an organization's leads, in no promised order, each once."""

    @abstractmethod
    def settle(self) -> None:
        """Wait until every commit that was in flight at the call is visible to every read."""


class StateTable(Protocol):
    """View rows, records and locks by (PK, SK). Views are written only by the log's commits."""

    def get(self, key: Key) -> Row | None:
        """Read one row, consistently."""
        ...

    def query(
        self,
        pk: str,
        *,
        prefix: str = "",
        desc: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Row]:
        """List rows of one partition by sort key, consistently, those that begin with `prefix`."""
        ...

    def query_index(
        self, pk: str, *, desc: bool = False, limit: int = 100, cursor: str | None = None
    ) -> Page[Row]:
        """List rows of one GSI1 partition by its sort key. The index may lag: entries are hints."""
        ...

    def put(self, row: Row, condition: Condition | None = None) -> bool:
        """Write a record; False if the condition did not hold and nothing was written."""
        ...

    def delete(self, key: Key, condition: Condition | None = None) -> bool:
        """Delete a record; False if the condition did not hold. A missing row is deleted."""
        ...

"""Ports of our own data, which a replay may use: the log's recorder and the state table.

The log is the recorder contract of the `eventsourcing` library (topic = eventType, state =
payload) with one keyword more: `commit`, everything else that one transaction writes.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, TypeVar

from eventsourcing.persistence import AggregateRecorder, StoredEvent

from domain.keys import Key
from domain.records import (
    Commit,
    Condition,
    LeadRecord,
    Page,
    Receipt,
    Row,
    Snapshot,
    Write,
)

T = TypeVar("T")
R = TypeVar("R")


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

    def planning(self) -> AbstractContextManager[Any]:
        """Return what to hold while a commit is planned; nothing, unless a recorder says so.

        On an embedded store planning is computing. Threads that all compute at once only trade the
        interpreter's lock, statement by statement, and the one that writes waits behind them.
        """
        return nullcontext()

    def side_by_side(self, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Return what the work returns for each item, in their order.

        A recorder that waits for a network works on several at once; an embedded one on one after
        the other. What the work raises is raised.
        """
        return [work(item) for item in items]

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
    def streams(self, *, cursor: str | None = None) -> Page[str]:
        """List every lead that has a head or an event, of all organizations, in no order.

        It reads the whole log, for maintenance while nobody writes. A lead may come twice, and a
        page without leads may have a cursor.
        """

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

    def write(self, puts: Sequence[tuple[Row, Condition | None]]) -> bool:
        """Write records in one transaction; False if a condition did not hold: nothing was written.

        At most a hundred, each of another key.

        Raises:
            errors.LimitExceeded: a limit of `domain.limits` would be passed; nothing was sent.
            errors.Uncertain: they may have been written, all of them.
        """
        ...

    def delete(self, key: Key, condition: Condition | None = None) -> bool:
        """Delete a record; False if the condition did not hold. A missing row is deleted."""
        ...

"""DynamoDB's way of showing a commit, on any recorder: item by item, to everything but a snapshot.

    log = InFlightLog(recorder, state_table)
    flight = log.hold()                     # the next commit is durable, and none of it is seen yet
    log.insert_events(events, commit=commit)
    log.select_events(lead)                 # without its events
    flight.show("event", 3)                 # … now with event 3
    log.snapshot(lead)                      # Unavailable: the head is still in flight
    flight.land()                           # everything shows; `log.settle()` does it for all flights

Items of a flight: ("event", sequence), ("receipt", key), ("identity", key), ("row", Key) and
("head", lead). Reads: `log` is a LeadRecorder, `log.state` a StateTable. What AWS documents: reads
of several items around a transaction see each of them before or after it, in any combination; a
TransactGetItems or TransactWriteItems that touches one of its items is refused.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from eventsourcing.persistence import StoredEvent

from domain.errors import Unavailable
from domain.keys import Key
from domain.ports.storage import LeadRecorder, StateTable
from domain.records import (
    Commit,
    Condition,
    LeadRecord,
    Page,
    PutHead,
    Receipt,
    Row,
    Snapshot,
    Write,
)
from tests.support.stepping import insert_each

Kind = Literal["event", "receipt", "identity", "row", "head"]
Item = tuple[Kind, Any]


class Flight:
    """One commit on its way into sight; empty until it is written."""

    def __init__(self) -> None:
        self.lead = ""
        self.hidden: set[Item] = set()
        self.before: dict[Key, Row | None] = {}
        """Rows as they were before the commit."""

    def show(self, kind: Kind, name: Any) -> None:
        """Let one item be seen; a KeyError says that it is not hidden."""
        self.hidden.remove((kind, name))

    def land(self) -> None:
        """Let everything be seen."""
        self.hidden.clear()


class InFlightLog(LeadRecorder):
    """A recorder whose commits can be held half visible. One thread at a time."""

    def __init__(self, recorder: LeadRecorder, state: StateTable) -> None:
        self.settle_s = recorder.settle_s
        self.settled = 0
        """How often somebody waited for what was in flight."""
        self.state: StateTable = InFlightRows(state, self)
        self._recorder = recorder
        self._rows = state
        self._next: Flight | None = None
        self._flights: list[Flight] = []

    def hold(self) -> Flight:
        """Hold the next commit that succeeds."""
        self._next = Flight()
        return self._next

    def in_flight(self, lead: str, item: Item) -> bool:
        """Tell whether an item is still on its way into sight."""
        return any(
            item in flight.hidden
            for flight in self._flights
            if item[0] != "event" or flight.lead == lead
        )

    def row_before(self, key: Key, now: Row | None) -> Row | None:
        """Return a row as a plain read sees it."""
        for flight in self._flights:
            if ("row", key) in flight.hidden:
                return flight.before[key]
        return now

    def rows_in_flight(self) -> dict[Key, Row | None]:
        """Return every row on its way into sight, as a plain read sees it."""
        return {
            key: row
            for flight in self._flights
            for key, row in flight.before.items()
            if ("row", key) in flight.hidden
        }

    def insert_events(
        self, stored_events: Sequence[StoredEvent], *, commit: Commit | None = None, **kwargs: Any
    ) -> Sequence[int] | None:
        """Write, unless something of it is in flight; then hold it if that was asked for."""
        items = _items_of(stored_events, commit) if commit else set()
        lead = _lead_of(commit) if commit else ""
        self._refuse(lead, items | {("head", lead)})
        flight = self._next
        keys = [name for kind, name in items if kind == "row"]
        before = {key: self._rows.get(key) for key in keys} if flight else {}
        answer = self._recorder.insert_events(stored_events, commit=commit, **kwargs)
        if flight is not None:
            flight.lead, flight.hidden, flight.before = lead, items, before
            self._flights.append(flight)
            self._next = None
        return answer

    def insert_many(self, writes: Sequence[Write]) -> list[Exception | None]:
        """Write one after the other."""
        return insert_each(self, writes)

    def snapshot(
        self, lead: str, keys: Iterable[Key] = (), receipts: Iterable[str] = ()
    ) -> Snapshot:
        """Read, unless something of it is in flight."""
        keys, receipts = list(keys), list(receipts)
        wanted: list[Item] = [("head", lead), *(("row", key) for key in keys)]
        self._refuse(lead, [*wanted, *(("receipt", key) for key in receipts)])
        return self._recorder.snapshot(lead, keys, receipts)

    def select_events(
        self,
        originator_id: Any,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        """Read what can be seen."""
        found = self._recorder.select_events(originator_id, gt=gt, lte=lte, desc=desc)
        return self._seen(str(originator_id), found)[:limit]

    def select_by_time(self, lead: str, **clauses: Any) -> Page[LeadRecord]:
        """Read what can be seen."""
        page = self._recorder.select_by_time(lead, **clauses)
        return Page(self._seen(lead, page.items), page.cursor)

    def raw_payload(self, lead: str, sequence: int) -> bytes | None:
        """Read what can be seen."""
        hidden = self.in_flight(lead, ("event", sequence))
        return None if hidden else self._recorder.raw_payload(lead, sequence)

    def resolve(self, identities: Sequence[str]) -> dict[str, str]:
        """Read what can be seen."""
        found = self._recorder.resolve(identities)
        return {
            key: lead for key, lead in found.items() if not self.in_flight("", ("identity", key))
        }

    def receipt(self, key: str) -> Receipt | None:
        """Read what can be seen."""
        return None if self.in_flight("", ("receipt", key)) else self._recorder.receipt(key)

    def leads(self, organization_id: str, *, limit: int, cursor: str | None = None) -> Page[str]:
        """List the leads; a new one may be missing."""
        page = self._recorder.leads(organization_id, limit=limit, cursor=cursor)
        return Page([lead for lead in page.items if not self._is_new(lead)], page.cursor)

    def streams(self, *, cursor: str | None = None) -> Page[str]:
        """List what there is; nobody writes meanwhile."""
        return self._recorder.streams(cursor=cursor)

    def settle(self) -> None:
        """Let everything be seen."""
        self.settled += 1
        for flight in self._flights:
            flight.land()

    def _seen(self, lead: str, found: Sequence[Any]) -> list[Any]:
        return [
            event
            for event in found
            if not self.in_flight(lead, ("event", event.originator_version))
        ]

    def _is_new(self, lead: str) -> bool:
        return any({("head", lead), ("event", 1)} <= flight.hidden for flight in self._flights)

    def _refuse(self, lead: str, items: Iterable[Item]) -> None:
        if any(self.in_flight(lead, item) for item in items):
            message = "Another transaction is at work on one of the items."
            raise Unavailable(message)


class InFlightRows:
    """Plain reads of the state table beside commits in flight: each row before or after."""

    def __init__(self, rows: StateTable, log: InFlightLog) -> None:
        self._rows = rows
        self._log = log

    def get(self, key: Key) -> Row | None:
        """Read a row as it can be seen."""
        return self._log.row_before(key, self._rows.get(key))

    def query(self, pk: str, *, prefix: str = "", **clauses: Any) -> Page[Row]:
        """List rows as they can be seen. With rows in flight, one page must hold them all."""
        page = self._rows.query(pk, prefix=prefix, **clauses)
        held = {
            key: row
            for key, row in self._log.rows_in_flight().items()
            if key.pk == pk and key.sk.startswith(prefix)
        }
        return _replaced(page, held, desc=clauses.get("desc", False), by=_sort_key)

    def query_index(self, pk: str, **clauses: Any) -> Page[Row]:
        """List rows as they can be seen. With rows in flight, one page must hold them all."""
        page = self._rows.query_index(pk, **clauses)
        held = {
            key: row if row is not None and row.gsi1 is not None and row.gsi1[0] == pk else None
            for key, row in self._log.rows_in_flight().items()
        }
        return _replaced(page, held, desc=clauses.get("desc", False), by=_index_key)

    def put(self, row: Row, condition: Condition | None = None) -> bool:
        """Write, unless the row is in flight."""
        self._log._refuse("", [("row", row.key)])
        return self._rows.put(row, condition)

    def write(self, puts: Sequence[tuple[Row, Condition | None]]) -> bool:
        """Write, unless one of the rows is in flight."""
        self._log._refuse("", [("row", row.key) for row, _ in puts])
        return self._rows.write(puts)

    def delete(self, key: Key, condition: Condition | None = None) -> bool:
        """Delete, unless the row is in flight."""
        self._log._refuse("", [("row", key)])
        return self._rows.delete(key, condition)


def _lead_of(commit: Commit) -> str:
    return commit.head.head.lead if isinstance(commit.head, PutHead) else commit.head.lead


def _items_of(stored_events: Sequence[StoredEvent], commit: Commit) -> set[Item]:
    items: set[Item] = {("event", event.originator_version) for event in stored_events}
    items.update(("receipt", receipt.key) for receipt in commit.receipts)
    items.update(("identity", identity.key) for identity in commit.identities)
    items.update(("row", row.key) for row in commit.puts)
    items.update(("row", key) for key in commit.deletes)
    return items | ({("head", _lead_of(commit))} if isinstance(commit.head, PutHead) else set())


def _sort_key(row: Row) -> tuple[str, ...]:
    return (row.key.sk,)


def _index_key(row: Row) -> tuple[str, ...]:
    return ("" if row.gsi1 is None else row.gsi1[1], *row.key)


def _replaced(page: Page[Row], held: dict[Key, Row | None], *, desc: bool, by: Any) -> Page[Row]:
    if not held:
        return page
    assert page.cursor is None, "a list with rows in flight must fit one page"
    rows = [row for row in page.items if row.key not in held]
    rows += [row for row in held.values() if row is not None]
    return Page(sorted(rows, key=by, reverse=desc), None)

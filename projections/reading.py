"""Reading a lead: its events, and its views as of one version. R1 to R7 of the head's rules."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from eventsourcing.persistence import EventStore

from domain.errors import NotFound, Outage, Unavailable
from domain.event import MAX_ID_CHARACTERS, LeadEvent
from domain.keys import Key
from domain.ports.storage import LeadRecorder, StateTable
from domain.records import Head, LeadRecord, Page, Receipt, Row, Snapshot, every
from projections.committing import Edition, believed
from projections.folding import Fold, evolve_all
from projections.projection import NeedRow, Projection

ROUNDS = 8
"""How often a read or a commit is tried before the answer is Unavailable."""

PAGE = 1000


class View(NamedTuple):
    """Rows of one projection that reflect exactly events 1 to `version`, as states."""

    version: int
    states: dict[Key, Any]


class Ground(NamedTuple):
    """What a decision stands on: one moment's head, receipts and folded rows.

    `snapshot` is that moment, and `wanted` every row it was asked for.
    """

    lead: str
    head: Head | None
    receipts: dict[str, Receipt]
    fold: Fold
    snapshot: Snapshot
    wanted: tuple[Key, ...]


class Reader:
    """Reads what one edition of the projections may believe, and folds where it may not."""

    def __init__(
        self,
        recorder: LeadRecorder,
        table: StateTable,
        events: EventStore[str],
        edition: Edition,
        pause: Callable[[int], None],
    ) -> None:
        self.recorder = recorder
        self.table = table
        self.edition = edition
        self._store = events
        self.pause = pause

    def head(self, lead: str, organization_id: str | None = None) -> Head:
        """Return a lead's head; a commit that is just being applied to it is waited for.

        Raises:
            NotFound: there is none, or it is another organization's.
            Unavailable: the store cannot answer.
        """
        # What is no lead's id was never stored, and DynamoDB refuses to look for some of it.
        head = self._look(lead) if 0 < len(lead) <= MAX_ID_CHARACTERS else None
        if head is None or organization_id not in {None, head.organization_id}:
            message = "There is no such lead."
            raise NotFound(message, hint="Check the lead's id.")
        return head

    def events(self, lead: str, *, gt: int = 0, lte: int) -> list[LeadEvent]:
        """Return events gt+1 … lte, oldest first, without a hole (rule 3).

        Raises:
            Unavailable: a commit that is still being applied stayed half visible.
            CorruptEvent: one of them cannot be read back.
        """
        if gt >= lte:
            return []
        for attempt in range(1, ROUNDS + 1):
            found = cast("list[LeadEvent]", list(self._store.get(lead, gt=gt, lte=lte)))
            if len(found) == lte - gt and _dense(found, gt):
                return found
            self.pause(attempt)
        message = "Events of this lead are missing between two that are there."
        raise Unavailable(message, hint="Try again; if it stays, verify the lead.")

    def decode(self, record: LeadRecord) -> LeadEvent:
        """Return the event of a record; see `LeadMapper.to_domain_event` for what it raises."""
        return cast("LeadEvent", self._store.mapper.to_domain_event(record))

    def ground(
        self,
        lead: str,
        projections: Sequence[Projection],
        keys: Iterable[Key],
        receipts: Iterable[str] = (),
    ) -> Ground:
        """Return a moment to decide on, folding only the projections the decision stands on.

        Raises:
            ViewBroken: one of these projections cannot read an event.
            Unavailable: the store cannot answer.
        """
        wanted = list(keys)
        while True:
            snapshot = self.recorder.snapshot(lead, wanted, receipts)
            try:
                fold = self._fold(lead, projections, wanted, snapshot)
            except NeedRow as need:
                wanted.append(need.key)
            else:
                return Ground(lead, snapshot.head, snapshot.receipts, fold, snapshot, tuple(wanted))

    def view(
        self,
        lead: str,
        projection: Projection,
        prefix: str = "",
        organization_id: str | None = None,
    ) -> View:
        """Return all rows of a projection in the lead's own partitions, as of one version.

        Rows are listed between two reads of the head that agree; a lead whose rows lag, or move
        too fast, is folded from its events, which is as right and only slower (rule 12).

        Raises:
            NotFound, Unavailable: see `head`.
        """
        for attempt in range(1, ROUNDS + 1):
            before = self.head(lead, organization_id)
            if not (believed(before, self.edition) and before.projected == before.version):
                break
            rows = self.list_rows(lead, projection, prefix)
            if self.head(lead).rev == before.rev:
                states = {row.key: projection.decode(row) for row in rows}
                return View(before.version, states)
            self.pause(attempt)
        head = self.head(lead)
        fold = self.fold(lead, [projection], self.events(lead, lte=head.version))
        own = projection.partitions(lead)
        states = {
            key: state
            for key, state in fold.states(projection).standing().items()
            if key.pk in own and key.sk.startswith(prefix)
        }
        return View(head.version, states)

    def fold(
        self, lead: str, projections: Sequence[Projection], events: Iterable[LeadEvent]
    ) -> Fold:
        """Return the fold of these events from nothing.

        Raises:
            ViewBroken: a projection cannot read one of the events.
        """
        fold = Fold(projections, lead)
        evolve_all(fold, events)
        return fold

    def list_rows(self, lead: str, projection: Projection, prefix: str = "") -> list[Row]:
        """Return the stored rows of a projection in the lead's own partitions, by key."""
        return [
            row
            for partition in projection.partitions(lead)
            for row in every(partial(self._page, partition, prefix))
            if projection.owns(row.key)
        ]

    def _page(self, partition: str, prefix: str, cursor: str | None) -> Page[Row]:
        return self.table.query(partition, prefix=prefix, limit=PAGE, cursor=cursor)

    def _look(self, lead: str) -> Head | None:
        for attempt in range(1, ROUNDS):
            try:
                return self.recorder.snapshot(lead).head
            except Outage:
                raise
            except Unavailable:
                self.pause(attempt)
        return self.recorder.snapshot(lead).head

    def _fold(
        self,
        lead: str,
        projections: Sequence[Projection],
        wanted: Sequence[Key],
        snapshot: Snapshot,
    ) -> Fold:
        head = snapshot.head
        if head is None or head.version == 0:
            return Fold(projections, lead)
        if not believed(head, self.edition):
            return self.fold(lead, projections, self.events(lead, lte=head.version))
        fold = Fold(projections, lead, {key: snapshot.rows.get(key) for key in wanted})
        evolve_all(fold, self.events(lead, gt=head.projected, lte=head.version))
        return fold


def _dense(events: Sequence[LeadEvent], gt: int) -> bool:
    return all(event.sequence == gt + offset for offset, event in enumerate(events, start=1))

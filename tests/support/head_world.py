"""One store, the actors on it, and what must hold in it after every single commit.

`World.violations` fills as commits land. A scenario drives an interleaving and returns it: empty
with the rules of the head as they stand, not empty with one of them taken out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import pytest
from eventsourcing.persistence import InfrastructureFactory, StoredEvent

from domain import keys
from domain.errors import Unavailable
from domain.event import LeadEvent
from domain.keys import Key
from domain.outcomes import Appended, Duplicate, Outcome
from domain.ports.storage import LeadRecorder, StateTable
from domain.records import Commit, Head, PutHead, Receipt, Row
from projections.lead_log import Stores
from projections.mapper import LeadMapper
from projections.reading import View
from projections.repairing import Repaired
from tests.support import toy
from tests.support.make import LEAD
from tests.support.stepping import Died, SteppedLog

BOTH = pytest.mark.parametrize("factory", ["sqlite", "ministack"], indirect=True)
"""Runs a test on both backends."""

Amend = Callable[["World", Commit], Commit]


class World:
    """A store and everybody on it.

    Args:
        factory: of the backend.
        recorder: what actors see of the log, if not the backend's own.
        table: what actors see of the rows, if not the backend's own.
    """

    def __init__(
        self,
        factory: InfrastructureFactory[Any],
        recorder: LeadRecorder | None = None,
        table: StateTable | None = None,
    ) -> None:
        self._factory = factory
        self.real = cast("LeadRecorder", factory.application_recorder())
        self.rows = cast("Stores", factory).state_table()
        self._seen_recorder = recorder or self.real
        self._seen_table = table or self.rows
        self._mapper = LeadMapper({}, lambda _type, _version, payload: payload)
        self._ids = 0
        self._records: list[Row] = []
        self._fold_versions: dict[str, int] = {}
        self._heads: dict[tuple[str, int], Head] = {}
        self.amends: list[Amend] = []
        self.claims = 0
        """How often rows were given up to be rebuilt."""
        self.violations: list[str] = []

    def log(self, edition: int = 1, *, most_rows: int | None = None) -> SteppedLog:
        """A new actor. `most_rows` is how many view rows one of its commits may hold."""
        return SteppedLog(
            self._factory,
            self._seen_recorder,
            self._seen_table,
            edition=toy.EDITIONS[edition],
            new_id=self.new_id,
            send=self._send,
            most_rows=most_rows,
        )

    def new_id(self) -> str:
        """An id nobody else has."""
        self._ids += 1
        return f"made-{self._ids:06d}"

    def without(self, amend: Amend) -> None:
        """Take a rule out: every commit is amended on its way to the store."""
        self.amends.append(amend)

    def keep(self, key: Key) -> None:
        """Put a record or a lock that no projection may touch."""
        row = Row(key, {"leadOrganizationId": LEAD, "owner": "somebody"})
        self.rows.put(row)
        self._records.append(row)

    def damage(self, key: Key, value: int | None) -> None:
        """Change or remove a row behind the head's back."""
        if value is None:
            self.rows.delete(key)
        else:
            self.rows.put(Row(key, {"leadOrganizationId": LEAD, "value": value}))

    def head_at(self, lead: str, rev: int) -> Head:
        """The head as it was at a revision."""
        return self._heads[lead, rev]

    def head(self, lead: str = LEAD) -> Head:
        """The head as it is stored."""
        head = self.real.snapshot(lead).head
        assert head is not None
        return head

    def events(self, lead: str = LEAD) -> list[LeadEvent]:
        """The events as they are stored."""
        return [self._mapper.to_domain_event(each) for each in self.real.select_events(lead)]

    def lags(self, lead: str = LEAD) -> bool:
        """Whether the sweeper is told of the lead."""
        return self.rows.get(keys.lag(lead)) is not None

    def stored(self, lead: str, events: Sequence[LeadEvent]) -> dict[Key, Row]:
        """Every view row there is of the lead, whichever edition wrote it, orphans included."""
        partitions = (toy.count_key(lead).pk, toy.marks_key(lead).pk)
        found = [row for pk in partitions for row in self.rows.query(pk, limit=1000).items]
        items = {each.payload["item"] for each in events if "item" in each.payload}
        shelves = [self.rows.get(toy.shelf_key(item)) for item in items]
        found += [row for row in shelves if row is not None]
        return {row.key: row for row in found if row.key != toy.lease_key(lead)}

    def look(self, lead: str = LEAD) -> None:
        """Check all that must hold of a lead between any two commits."""
        events = self.events(lead)
        records = [row.key for row in self._records]
        head, rows, receipts = self.real.snapshot(
            lead, [keys.lag(lead), *records], [_receipt_key(event) for event in events]
        )
        if head is None:
            return
        self._heads[lead, head.rev] = head
        say = self.violations.append
        if [event.sequence for event in events] != list(range(1, head.version + 1)):
            say("the sequence is not dense")
        if not 0 <= head.projected <= head.version:
            say("projected is ahead of version")
        if (keys.lag(lead) in rows) != (head.projected < head.version):
            say("the lag list does not say who lags")
        if head.fold_version < self._fold_versions.get(lead, 0):
            say("an older edition took the rows of a newer one")
        self._fold_versions[lead] = head.fold_version
        self._look_at_rows(head, events)
        self._look_at_receipts(events, receipts)
        self._look_at_decisions(events)
        if [row for row in self._records if rows.get(row.key) != row]:
            say("a record is gone")

    def answered(self, outcomes: Sequence[Outcome]) -> None:
        """Check that what callers were told is what stands."""
        for each in outcomes:
            if not isinstance(each, Appended | Duplicate):
                self.violations.append("a fact was not recorded")
            elif (each.sequence, each.event_id) not in {
                (event.sequence, event.event_id) for event in self.events(each.lead)
            }:
                self.violations.append("a caller was told of an event that is not there")

    def read(self, edition: int, view: View, lead: str = LEAD) -> None:
        """Check that a reader's answer is the fold of events 1 to the version it names."""
        upto = [event for event in self.events(lead) if event.sequence <= view.version]
        expected = {
            key: row.attributes["value"]
            for key, row in toy.folded(edition, lead, upto).items()
            if key.pk == f"TOY#{lead}"
        }
        factor = toy.FACTOR[edition]
        if {key: state * factor for key, state in view.states.items()} != expected:
            self.violations.append("a reader was shown rows of no version")

    def repair(self, log: SteppedLog, lead: str = LEAD, *, force: bool = False) -> Repaired | None:
        """Let an actor repair, and note it if that takes more commits than any repair here needs."""
        log.steps.die(n=30)
        try:
            return log.repairer.repair(lead, force=force)
        except Died:
            self.violations.append("a repair never ends")
        except Unavailable:
            self.violations.append("a repair gave up")
        return None

    def swept(self, edition: int = 2, lead: str = LEAD) -> None:
        """Let a lone sweeper of the newest edition run; then all must be equal, with no orphan."""
        repaired = self.repair(self.log(edition), lead)
        if repaired is None:
            return
        if repaired.verified is None or repaired.verified.state != "equal":
            self.violations.append(f"a lone sweeper ends {repaired.state}, not equal")
        self.look(lead)

    def end_well(self) -> None:
        """From wherever a test without violations left off, one sweeper must be able to finish.

        A lead whose view the newest edition cannot build must be left as it was.
        """
        if self.violations:
            return
        for lead in self._fold_versions:
            before = self.head(lead)
            repaired = self.log(2).repairer.repair(lead, force=True)
            if repaired.state == "broken":
                assert self.head(lead) == before
                continue
            assert repaired.verified is not None
            assert repaired.verified.state == "equal"
            self.look(lead)
        assert self.violations == []

    def _send(self, stored_events: Sequence[StoredEvent], commit: Commit) -> Any:
        for amend in self.amends:
            commit = amend(self, commit)
        answer = self._seen_recorder.insert_events(stored_events, commit=commit)
        self.claims += is_claim(commit)
        self.look(_lead(commit))
        return answer

    def _look_at_rows(self, head: Head, events: Sequence[LeadEvent]) -> None:
        if head.projected == 0:
            return
        expected = toy.folded(head.fold_version, head.lead, events[: head.projected])
        if self.stored(head.lead, events) != expected:
            self.violations.append("rows are not the fold of what the head says")

    def _look_at_receipts(
        self, events: Sequence[LeadEvent], receipts: Mapping[str, Receipt]
    ) -> None:
        names = [_receipt_key(event) for event in events]
        if len(set(names)) != len(names):
            self.violations.append("one key made two events")
        for name, event in zip(names, events, strict=True):
            receipt = receipts.get(name)
            if receipt is None or (receipt.event_id, receipt.sequence) != (
                event.event_id,
                event.sequence,
            ):
                self.violations.append("a receipt does not name its event")

    def _look_at_decisions(self, events: Sequence[LeadEvent]) -> None:
        for event in events:
            if event.event_type != "toy_noted":
                continue
            count = toy.folded_count(
                event.payload["edition"], event.lead, events[: event.sequence - 1]
            )
            if event.payload["saw"] != count:
                self.violations.append("a decision stood on what never was")


@contextmanager
def dying() -> Iterator[None]:
    """Expect an actor to die inside."""
    try:
        yield
    except Died:
        return
    message = "nobody died"
    raise AssertionError(message)


def driven(first: Callable[..., Any], *others: Callable[..., Any]) -> pytest.MarkDecorator:
    """Run a test with each scenario, and with the first one on both backends."""
    cases = [("sqlite", each) for each in (first, *others)]
    return pytest.mark.parametrize(
        ("factory", "scenario"),
        [*cases, ("ministack", first)],
        indirect=["factory"],
        ids=[*(each.__name__ for _, each in cases), f"{first.__name__}-ministack"],
    )


def is_claim(commit: Commit) -> bool:
    """Whether a commit gives rows up: T5."""
    return (
        isinstance(commit.head, PutHead)
        and commit.head.head.goal is not None
        and not commit.receipts
    )


def nothing(*_: Any) -> None:
    """Take no rule out."""


def caught(violations: Sequence[str], words: str) -> bool:
    """Whether one of the violations says this."""
    return any(words in each for each in violations)


def _receipt_key(event: LeadEvent) -> str:
    return keys.receipt(event.organization_id, event.source, event.external_event_id)


def _lead(commit: Commit) -> str:
    head = commit.head
    return head.head.lead if isinstance(head, PutHead) else head.lead

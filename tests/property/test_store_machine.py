"""SQLite and DynamoDB side by side: the same calls, the same answers, the same things stored.

A model in dicts says what must be answered. Requests to DynamoDB conflict, are throttled, or lose
their reply now and then; nobody may notice.
"""

import itertools
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from domain import keys
from domain.errors import LeadError, NotFound, Rejected
from domain.event import Address, NewEvent
from domain.keys import Key
from domain.outcomes import Appended, Failed
from domain.records import (
    Absent,
    AbsentOrBelow,
    Check,
    CheckHead,
    Commit,
    Condition,
    Equal,
    LeadRecord,
    Refused,
    Row,
)
from tests.support import toy
from tests.support.dynamodb import on_ministack
from tests.support.faults import READ, Faults
from tests.support.log_model import LogModel, holds
from tests.support.logs import SharedLog
from tests.support.make import ORGANIZATION, instant
from tests.support.ministack import new_account
from tests.support.sqlite import on_sqlite

OTHER_ORGANIZATION = "org-two"
LEADS = ("lead-a", "lead-b", "lead-c")
LOCKS = (Key("LOCK#one", "META"), Key("LOCK#two", "META"))
RECORDS = tuple(Key("RECORD#one", name) for name in ("a", "a#b", "b", "é"))

TYPES = (
    "toy_counted",
    "toy_counted",
    "toy_opened",
    "toy_closed",
    "toy_shelved",
    "toy_tallied",
    "toy_flooded",
    "toy_marked",
    "of_no_type",
)
FAULTS: dict[str, Callable[[Faults], None]] = {
    "none": lambda _: None,
    "conflict": lambda faults: faults.conflict(),
    "two conflicts": lambda faults: faults.conflict(times=2),
    "throttled": lambda faults: faults.throttle(),
    "reply lost": lambda faults: faults.lose_reply(),
    "request lost": lambda faults: faults.lose_request(),
    "read in conflict": lambda faults: faults.conflict(READ),
}

leads = st.sampled_from(LEADS)
editions = st.sampled_from([1, 1, 1, 2])
names = st.sampled_from([f"k{n}" for n in range(12)])
seconds = st.integers(0, 3)
limits = st.integers(1, 4)
faults = st.sampled_from([name for name in FAULTS if name != "none"])
conditions: st.SearchStrategy[Condition] = st.sampled_from(
    [Absent(), Equal("n", 1), Equal("n", 2), AbsentOrBelow("n", 2)]
)
addresses = st.lists(st.sampled_from(["ana", "bia", "caio"]), min_size=1, max_size=2, unique=True)


@st.composite
def facts(draw: st.DrawFn) -> NewEvent:
    """A fact of a stated lead, or of an address; its event id is still to come."""
    organization_id = draw(st.sampled_from([ORGANIZATION, ORGANIZATION, OTHER_ORGANIZATION]))
    lead = draw(st.one_of(leads, leads, st.none()))
    first, *aliases = draw(addresses) if lead is None else ["nobody"]
    event_type = draw(st.sampled_from(TYPES))
    payloads: dict[str, dict[str, Any]] = {
        "toy_counted": {"n": draw(st.integers(1, 3))},
        "toy_shelved": {"item": f"{organization_id}:{lead or first}"},
        "toy_flooded": {"rows": draw(st.sampled_from([3, 3, 120]))},
        "toy_marked": {"breaks": draw(st.sampled_from([0, 1, 2]))},
        "of_no_type": {"text": draw(st.sampled_from(["", "é\u2028\\", "x" * 2000]))},
    }
    made = toy.fact(
        event_type,
        draw(names),
        lead=lead,
        address=None if lead else Address(channel="web", identifier=first, aliases=tuple(aliases)),
        organization_id=organization_id,
        **payloads.get(event_type, {}),
    )
    return replace(made, occurred_at=instant(draw(seconds)))


@st.composite
def calls(draw: st.DrawFn) -> list[NewEvent]:
    """Facts of one call. A key has one home there: which of two is first, the log leaves open."""
    homes: dict[tuple[str, str], object] = {}
    return [
        fact
        for fact in draw(st.lists(facts(), min_size=1, max_size=5))
        if homes.setdefault((fact.organization_id, fact.external_event_id), home(fact))
        == home(fact)
    ]


def home(fact: NewEvent) -> object:
    return fact.organization_id, fact.lead or fact.address


class PassingFaults(Faults):
    """Faults that are over with the call they were planned for."""

    call = 0

    def _next(self, operation: str, times: int, fault: Callable[[Any], Any]) -> None:
        planned_for = self.call
        super()._next(
            operation,
            times,
            lambda request: fault(request) if self.call == planned_for else None,
        )


class Side:
    """One store, and an actor of each edition on it."""

    def __init__(self, factory: Any, passing: PassingFaults | None = None) -> None:
        self.recorder = factory.application_recorder()
        self.table = factory.state_table()
        self.logs = {
            number: SharedLog(factory, edition=edition, new_id=self._new_id)
            for number, edition in toy.EDITIONS.items()
        }
        self._passing = passing
        self._call = 0
        self._ids = itertools.count()

    def run(self, act: Callable[["Side"], Any], fault: str) -> Any:
        """Return what the call answers, or raises. Ids begin anew with each call."""
        self._call, self._ids = self._call + 1, itertools.count()
        if self._passing is not None:
            self._passing.call = self._call
            FAULTS[fault](self._passing)
        try:
            return act(self)
        except (LeadError, Refused) as error:
            return error
        finally:
            if self._passing is not None:
                self._passing.call = 0

    def lead(self, lead: str, shelves: list[Key]) -> list[Any]:
        """Return all that is stored of a lead: head, LAG row, view rows, records."""
        pages = [self.table.query(pk, limit=1000) for pk in (f"TOY#{lead}", f"MARK#{lead}")]
        head, found, _ = self.recorder.snapshot(lead, [keys.lag(lead), *shelves])
        lag = found.pop(keys.lag(lead), None)
        rows = found | {row.key: row for page in pages for row in page.items}
        return [head, lag, rows, self.recorder.select_events(lead)]

    def _new_id(self) -> str:
        return f"made-{self._call:04d}-{next(self._ids):03d}"


class StoreMachine(RuleBasedStateMachine):
    """Does everything on both stores, and compares."""

    endpoint = ""

    def __init__(self) -> None:
        super().__init__()
        self.lent = ExitStack()
        sqlite = self.lent.enter_context(on_sqlite(":memory:"))
        # One worker: the commits of a call land in the order they are given.
        dynamodb = self.lent.enter_context(
            on_ministack(self.endpoint, new_account(), LEADS_DYNAMODB_WORKERS="1")
        )
        self.sides = Side(sqlite), Side(dynamodb, PassingFaults(dynamodb.client))
        self.model = LogModel()
        self.rows: dict[Key, Row] = {}
        self.calls = 0
        self.moved: set[str] = set()
        self.damaged: set[str] = set()

    def teardown(self) -> None:
        try:
            self.moved.update(self.model.streams)
            self.each_lead_that_moved_is_the_same_on_both()
            self._listings_are_the_same_on_both()
        finally:
            self.lent.close()

    # --- the log ------------------------------------------------------------------------------

    @initialize(call=calls())
    def begin(self, call: list[NewEvent]) -> None:
        self.append(call, 1, "none")

    @rule(call=calls(), edition=editions)
    def append_undisturbed(self, call: list[NewEvent], edition: int) -> None:
        self.append(call, edition, "none")

    @rule(call=calls(), edition=editions, fault=faults)
    def append(self, call: list[NewEvent], edition: int, fault: str) -> None:
        addressed = {home(fact) for fact in call if fact.address}
        if len(addressed) > 1:
            fault = "none"  # whoever is not held up claims what two addresses share
        elif addressed and fault == "read in conflict":
            fault = "conflict"  # what is read again is named in another order
        call = [
            replace(
                fact,
                event_id=f"event-{self.calls:04d}-{place}",
                received_at=instant(60 + self.calls),
            )
            for place, fact in enumerate(call)
        ]

        answers = self.both(lambda side: side.logs[edition].append(call), fault)

        assert plain(answers) == plain(self.model.append(call, answers))
        self.moved.update(each.lead for each in answers if isinstance(each, Appended))

    @rule(lead=leads, name=names, edition=editions, fault=faults)
    def decide(self, lead: str, name: str, edition: int, fault: str) -> None:
        proof = self.model.proofs.get(toy.receipt_key(name))
        owner = self.model.owners.get(lead, ORGANIZATION)
        decision = toy.noting(name, edition, lead=lead)
        assert decision.command is not None

        recorded = self.both(lambda side: side.logs[edition].record(decision), fault)

        if owner != ORGANIZATION:
            assert isinstance(recorded, NotFound)
        elif proof is None:
            (event,) = recorded.events
            self.model.record(event, decision.command.fingerprint)
            self.moved.add(lead)
        elif proof.fingerprint == decision.command.fingerprint:
            assert recorded.events == ()
            assert recorded.receipt.event_id == proof.event_id
        else:
            assert isinstance(recorded, Rejected)

    @rule(lead=leads, edition=editions, force=st.booleans(), fault=faults)
    def repair(self, lead: str, edition: int, *, force: bool, fault: str) -> None:
        def mend(side: Side) -> Any:
            repaired = side.logs[edition].repairer.repair(lead, force=force)
            # How much one try wrote, one whose reply was lost does not know.
            return repaired.state.replace("repaired", "current"), repaired.verified

        answer = self.both(mend, fault)

        assert isinstance(answer, NotFound) == (lead not in self.model.streams)
        if isinstance(answer, tuple) and answer[0] == "current":
            assert (answer[1].state == "equal") or (lead in self.damaged and not force)
            if force:
                self.damaged.discard(lead)
        self.moved.add(lead)

    @rule(lead=leads, edition=editions)
    def look(self, lead: str, edition: int) -> None:
        verified = self.both(lambda side: side.logs[edition].verifier.verify(lead))
        view = self.both(lambda side: side.logs[edition].reader.view(lead, toy.COUNTING[edition]))

        if lead not in self.model.streams:
            assert isinstance(verified, NotFound)
            assert isinstance(view, NotFound)
        elif lead not in self.damaged:
            assert verified.state != "drift"
            assert view.version == self.model.versions[lead]
            count = toy.folded_count(edition, lead, self.model.streams[lead])
            assert view.states.get(toy.count_key(lead), 0) == count

    @precondition(lambda self: not self.damaged and self.model.streams)
    @rule(data=st.data(), value=st.integers(0, 30))
    def damage(self, data: st.DataObject, value: int) -> None:
        lead = data.draw(st.sampled_from(sorted(self.model.streams)))
        key = toy.count_key(lead)
        row = Row(key, {"leadOrganizationId": lead, "value": value})
        self.both(lambda side: side.table.put(row) if value else side.table.delete(key))
        self.damaged.add(lead)
        self.moved.add(lead)

    @rule(
        lead=leads,
        event_type=st.sampled_from([None] * 9 + sorted(set(TYPES))),
        since=st.none() | seconds,
        until=st.none() | seconds,
        desc=st.booleans(),
        limit=limits,
    )
    def list_events(
        self,
        lead: str,
        event_type: str | None,
        since: int | None,
        until: int | None,
        *,
        desc: bool,
        limit: int,
    ) -> None:
        span = {
            "since": None if since is None else instant(since),
            "until": None if until is None else instant(until),
        }
        found = self.both(
            lambda side: paged(
                side.recorder.select_by_time,
                lead,
                event_type=event_type,
                desc=desc,
                limit=limit,
                **span,
            )
        )

        expected = sorted(
            event.occurred_at_id
            for event in self.model.streams.get(lead, [])
            if event_type in {None, event.event_type}
            and (since is None or event.occurred_at >= instant(since))
            and (until is None or event.occurred_at < instant(until))
        )
        assert [
            f"{each.envelope.occurred_at}#{each.envelope.event_id}"
            for each in found
            if each.topic != "identity_linked"
        ] == (expected[::-1] if desc else expected)

    # --- the state table ----------------------------------------------------------------------

    @rule(
        key=st.sampled_from(LOCKS + RECORDS),
        n=st.integers(0, 3),
        condition=st.one_of(st.none(), st.none(), conditions),
    )
    def put_or_delete(self, key: Key, n: int, condition: Condition | None) -> None:
        row = Row(key, {"n": n}, gsi1=("RECORDS", f"{n}#{key.sk}") if n > 1 else None, ttl=n)

        done = self.both(
            lambda side: side.table.put(row, condition) if n else side.table.delete(key, condition)
        )

        assert done == holds(condition, self.rows.get(key))
        if done and n:
            self.rows[key] = row
        elif done:
            self.rows.pop(key, None)

    @rule(prefix=st.sampled_from(["", "", "a", "a#", "z"]), desc=st.booleans(), limit=limits)
    def list_records(self, prefix: str, *, desc: bool, limit: int) -> None:
        pk = RECORDS[0].pk

        # Two rows of one sort key of the index come in no promised order, in pages of any size.
        def indexed(side: Side) -> Any:
            found = paged(side.table.query_index, "RECORDS", desc=desc, limit=limit)
            ordered = [row.gsi1[1] for row in found]
            assert ordered == sorted(ordered, reverse=desc)
            return sorted(found, key=lambda row: row.key)

        found = self.both(
            lambda side: paged(side.table.query, pk, prefix=prefix, desc=desc, limit=limit)
        )
        assert found == sorted(
            (row for key, row in self.rows.items() if key.pk == pk and key.sk.startswith(prefix)),
            key=lambda row: row.key.sk,
            reverse=desc,
        )
        assert self.both(indexed) == sorted(
            (row for row in self.rows.values() if row.gsi1), key=lambda row: row.key
        )

    @rule(
        lead=leads,
        lock=st.sampled_from(LOCKS),
        condition=conditions,
        key=st.sampled_from(RECORDS),
        late=st.booleans(),
    )
    def commit_under_a_lock(
        self, lead: str, lock: Key, condition: Condition, key: Key, *, late: bool
    ) -> None:
        row = Row(key, {"n": 1, "by": lead})

        def commit(side: Side) -> None:
            head = side.recorder.snapshot(lead).head
            check = CheckHead(lead, rev=(head.rev if head else 1) - late)
            side.recorder.insert_events(
                [], commit=Commit(head=check, puts=(row,), checks=(Check(lock, condition),))
            )

        answer = self.both(commit)

        free = holds(condition, self.rows.get(lock))
        stands = lead in self.model.streams and not late
        if free and stands:
            assert answer is None
            self.rows[key] = row
        else:
            assert (answer.checks, answer.head) == (() if free else (lock,), not stands)

    # --- what must hold -----------------------------------------------------------------------

    @invariant()
    def each_lead_that_moved_is_the_same_on_both(self) -> None:
        for lead in sorted(self.moved & self.model.streams.keys()):
            self._lead_is_the_same_on_both(lead)
        self.moved.clear()

    def both(self, act: Callable[[Side], Any], fault: str = "none") -> Any:
        """Do it on both sides, and return the one answer they must give."""
        self.calls += 1
        one, other = (side.run(act, fault) for side in self.sides)
        assert plain(one) == plain(other)
        return one

    def _lead_is_the_same_on_both(self, lead: str) -> None:
        known = self.model.streams[lead]
        shelves = [toy.shelf_key(each.payload["item"]) for each in known if "item" in each.payload]
        one, other = (side.lead(lead, list(dict.fromkeys(shelves))) for side in self.sides)
        assert plain(one) == plain(other)
        head, lag, rows, records = one
        events = [self.sides[0].logs[1].reader.decode(each) for each in records]
        assert [event.sequence for event in events] == list(range(1, head.version + 1))
        assert head.version == self.model.versions[lead]
        assert [each for each in events if each.event_type != "identity_linked"] == known
        assert (lag is not None) == (head.projected < head.version)
        if lead in self.damaged:
            return
        reader = self.sides[0].logs[head.fold_version].reader
        view = reader.view(lead, toy.COUNTING[head.fold_version])
        count = toy.folded_count(head.fold_version, lead, known)
        assert (view.version, view.states.get(toy.count_key(lead), 0)) == (head.version, count)
        if head.projected > 0:
            upto = events[: head.projected]
            assert rows == toy.folded(head.fold_version, lead, upto)

    def _listings_are_the_same_on_both(self) -> None:
        for organization_id in (ORGANIZATION, OTHER_ORGANIZATION):
            found = self.both(partial(_leads, organization_id))
            assert found == sorted(
                lead for lead, owner in self.model.owners.items() if owner == organization_id
            )
        self.both(lambda side: [side.table.query(pk).items for pk in keys.lag_partitions()])
        assert self.both(lambda side: side.recorder.resolve(list(self.model.claims))) == (
            self.model.claims
        )
        for key, proof in self.model.proofs.items():
            receipt = self.both(partial(_receipt, key))
            assert (receipt.fingerprint, receipt.lead, receipt.event_id, receipt.sequence) == (
                proof.fingerprint,
                proof.lead,
                proof.event_id,
                proof.sequence,
            )


def paged(query: Callable[..., Any], *of: Any, **clauses: Any) -> list[Any]:
    """Follow the cursors to the end."""
    found, cursor = [], None
    while True:
        page = query(*of, cursor=cursor, **clauses)
        assert len(page.items) <= clauses["limit"]
        found += page.items
        cursor = page.cursor
        if cursor is None:
            return found


def _leads(organization_id: str, side: Side) -> list[str]:
    return sorted(paged(side.recorder.leads, organization_id, limit=2))


def _receipt(key: str, side: Side) -> Any:
    return side.recorder.receipt(key)


def plain(answer: Any) -> Any:
    """What of an answer must be the same: of errors all but their words.

    The id of an `identity_linked` is the log's own, and drawn again by each try.
    """
    match answer:
        case Failed(error):
            return plain(error)
        case LeadError() | Refused():
            told = {name: value for name, value in vars(answer).items() if name not in WORDS}
            return type(answer), told
        case LeadRecord(topic="identity_linked"):
            return replace(answer, envelope=answer.envelope._replace(event_id=""))
        case list():
            return [plain(each) for each in answer]
        case _:
            return answer


WORDS = {"detail", "hint"}


@pytest.mark.timeout(240)  # of which a failure takes most, to become small
def test_sqlite_and_dynamodb_cannot_be_told_apart(ministack):
    class OnThis(StoreMachine):
        endpoint = ministack

    run_state_machine_as_test(
        OnThis,
        settings=settings(max_examples=settings().max_examples // 5, stateful_step_count=35),
    )

"""Rule 2: a decision or a fold stands on one snapshot; a stale head costs a new one."""

import pytest

from domain.errors import Unavailable
from domain.keys import Key
from domain.records import Row, Snapshot
from tests.support import toy
from tests.support.head_world import BOTH, caught, driven, nothing
from tests.support.make import LEAD
from tests.support.stepping import Stepping


def remember_rows(log):
    """After a stale head take the new head and keep the rows that were read before."""
    first: dict[Key, Row] = {}

    def with_old_rows(snapshot):
        for key, row in snapshot.rows.items():
            first.setdefault(key, row)
        return snapshot._replace(rows={key: first[key] for key in snapshot.rows})

    log.steps.change("snapshot", with_old_rows)


def read_row_by_row(self, lead, keys=(), receipts=()):
    """Fetch each row by itself, after the head."""
    head, _, proofs = self._recorder.snapshot(lead, (), receipts)
    rows = {key: row for key in keys if (row := self._recorder.state.get(key)) is not None}
    return self._steps.run("snapshot", lambda: Snapshot(head, rows, proofs))


def a_fact_meets_a_faster_one(world, spoil=nothing):
    world.log().append([toy.counted(1, "a")])
    slow, fast = world.log(), world.log()
    spoil(slow)
    slow.steps.before("insert_events", lambda: fast.append([toy.counted(2, "b")]))
    world.answered(slow.append([toy.counted(3, "c")]))
    return world.violations


def a_decision_meets_a_faster_fact(world, spoil=nothing):
    world.log().append([toy.counted(1, "a")])
    slow, fast = world.log(), world.log()
    spoil(slow)
    slow.steps.before("insert_events", lambda: fast.append([toy.counted(2, "b")]))
    slow.record(toy.noting("c"))
    return world.violations


def a_fold_needs_one_more_row_while_another_commits(world, spoil=nothing):
    world.log().append([toy.counted(1, "a")])
    slow, fast = world.log(), world.log()
    spoil(slow)
    slow.steps.before("snapshot", lambda: fast.append([toy.counted(2, "b")]), n=2)
    world.answered(slow.append([toy.fact("toy_tallied", "c")]))
    return world.violations


def a_catch_up_needs_one_more_row_while_another_commits(world, spoil=nothing):
    world.log().append([toy.counted(1, "a")])
    other = world.log(2)
    other.append([toy.fact("toy_tallied", "b")])
    sweeper = world.log()
    spoil(sweeper)
    sweeper.steps.before("snapshot", lambda: other.append([toy.counted(2, "c")]), n=3)
    world.repair(sweeper)
    return world.violations


def a_decision_meets_a_commit_in_flight(world, flights):
    world.log().append([toy.counted(1, "a")])
    flight = flights.hold()
    world.log().append([toy.counted(2, "b")])
    flight.show("head", LEAD)
    decider = world.log()
    decider.steps.before("insert_events", flight.land)
    decider.steps.before("snapshot", flight.land, n=3)
    decider.record(toy.noting("c"))
    return world.violations


SCENARIOS = [
    a_fact_meets_a_faster_one,
    a_decision_meets_a_faster_fact,
    a_fold_needs_one_more_row_while_another_commits,
]


@driven(*SCENARIOS, a_catch_up_needs_one_more_row_while_another_commits)
def test_rule_2_a_stale_head_costs_a_new_snapshot_with_all_rows(world, scenario):
    assert scenario(world) == []
    world.swept()
    assert world.violations == []


@driven(*SCENARIOS)
def test_a_new_head_with_old_rows_is_caught_when_rule_2_is_taken_out(world, scenario):
    violations = scenario(world, remember_rows)
    assert caught(violations, "rows are not the fold") or caught(violations, "a decision stood")


@BOTH
def test_rule_2_a_commit_in_flight_is_waited_for(hazy, log_in_flight):
    assert a_decision_meets_a_commit_in_flight(hazy, log_in_flight) == []


@BOTH
def test_a_row_fetched_after_the_head_is_caught_when_rule_2_is_taken_out(
    hazy, log_in_flight, monkeypatch
):
    monkeypatch.setattr(Stepping, "snapshot", read_row_by_row)
    violations = a_decision_meets_a_commit_in_flight(hazy, log_in_flight)
    assert caught(violations, "a decision stood")


def test_a_commit_that_stays_in_flight_makes_a_decision_unavailable(hazy, log_in_flight):
    hazy.log().append([toy.counted(1, "a")])
    log_in_flight.hold()
    hazy.log().append([toy.counted(2, "b")])
    with pytest.raises(Unavailable):
        hazy.log().record(toy.noting("c"))
    assert hazy.head().version == 2

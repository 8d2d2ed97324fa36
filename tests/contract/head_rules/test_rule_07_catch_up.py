"""Rule 7: a tail is caught up with its rows and the head in one transaction, in my edition only."""

from dataclasses import replace

import pytest

from domain.records import CheckHead, PutHead
from projections.repairing import Repairer
from tests.support import toy
from tests.support.head_world import BOTH, caught, dying, nothing
from tests.support.make import LEAD

step = Repairer._step


def rows_before_head(log):
    """Write the rows of a step in a transaction of their own, before the head."""
    commit = log.repairer._commit

    def in_two(each):
        put = each.head
        if isinstance(put, PutHead) and each.puts:
            commit(replace(each, head=CheckHead(put.head.lead, rev=put.expected_rev)))
            commit(replace(each, puts=()))
        else:
            commit(each)

    log.repairer._commit = in_two


def lagging(world, *facts):
    """A lead of edition 1 whose tail was appended by edition 2."""
    world.log(1).append([toy.counted(1, "a")])
    world.answered(world.log(2).append(facts))


def a_sweeper_crashes_after_its_first_transaction(world, spoil=nothing):
    lagging(world, toy.counted(2, "b"))
    sweeper = world.log(1)
    spoil(sweeper)
    sweeper.steps.die(n=2)
    try:
        world.repair(sweeper)
    finally:
        world.repair(world.log(1))
    return world.violations


def another_edition_catches_up(world):
    lagging(world, toy.counted(2, "b"))
    world.repair(world.log(2))
    return world.violations


def two_sweepers_meet(world):
    lagging(world, toy.counted(2, "b"), toy.fact("toy_opened", "c"))
    one, other = world.log(1, most_rows=1), world.log(1, most_rows=1)
    one.steps.before("insert_events", lambda: world.repair(other))
    world.repair(one)
    return world.violations


@BOTH
def test_rule_7_rows_and_head_of_a_step_are_one_transaction(world):
    assert a_sweeper_crashes_after_its_first_transaction(world) == []
    assert world.head().projected == 2


def test_rows_written_before_the_head_are_caught_when_rule_7_is_taken_out(world):
    violations = a_sweeper_crashes_after_its_first_transaction(world, rows_before_head)
    assert caught(violations, "rows are not the fold")


def test_rule_7_a_tail_is_folded_on_rows_of_my_edition_only(world):
    assert another_edition_catches_up(world) == []
    assert world.head().fold_version == 2


def test_catching_up_on_foreign_rows_is_caught_when_rule_7_is_taken_out(world, monkeypatch):
    monkeypatch.setattr(Repairer, "_mine", lambda *_: True)
    assert caught(another_edition_catches_up(world), "rows are not the fold")


def test_catching_up_from_zero_is_caught_when_rule_7_is_taken_out(world, monkeypatch):
    def from_zero(self, head, folds, *, compared):
        return (
            self._catch_up(head, folds)
            if head.projected == 0
            else step(self, head, folds, compared=compared)
        )

    world.log(most_rows=0).append([toy.fact("toy_opened", "a"), toy.fact("toy_closed", "b")])
    world.damage(toy.extra_key(), 10)
    monkeypatch.setattr(Repairer, "_step", from_zero)
    world.repair(world.log())
    assert caught(world.violations, "rows are not the fold")


@BOTH
def test_rule_7_a_step_takes_as_many_events_as_fit_and_every_state_between_is_right(world):
    lagging(
        world,
        toy.counted(2, "b"),
        toy.fact("toy_opened", "c"),
        toy.fact("toy_tallied", "d"),
        toy.fact("toy_closed", "e"),
    )
    sweeper = world.log(1, most_rows=1)
    repaired = world.repair(sweeper)
    assert world.violations == []
    assert repaired.state == "repaired"
    assert sweeper.steps.calls["insert_events"] == 4
    assert not world.lags()


def test_two_sweepers_count_every_event_once(world):
    assert two_sweepers_meet(world) == []
    assert world.head().projected == 3


def test_a_writer_between_two_steps_is_neither_lost_nor_counted_twice(world):
    lagging(world, toy.counted(2, "b"), toy.fact("toy_opened", "c"))
    sweeper = world.log(1, most_rows=1)
    sweeper.steps.before("insert_events", lambda: world.log(1).append([toy.counted(4, "d")]), n=2)
    world.repair(sweeper)
    assert world.violations == []
    assert world.head().projected == 4


def test_a_step_too_large_even_for_one_event_becomes_a_rebuild(world, one_row_a_chunk):
    lagging(world, toy.fact("toy_flooded", "b", rows=3))
    world.repair(world.log(1, most_rows=1))
    assert world.violations == []
    assert (world.claims, world.head().projected) == (1, 2)


@pytest.mark.parametrize("arrives", [True, False], ids=["committed", "lost"])
def test_rule_7_a_step_whose_reply_is_lost_is_not_done_twice(world, arrives):
    lagging(world, toy.counted(2, "b"))
    sweeper = world.log(1)
    (sweeper.steps.lose_reply if arrives else sweeper.steps.lose_request)()
    repaired = world.repair(sweeper)
    assert world.violations == []
    assert repaired.verified.state == "equal"


def test_a_projection_that_raises_leaves_the_lag_and_the_rows(world):
    lagging(world, toy.fact("toy_marked", "b", breaks=1))
    assert world.log(1).repairer.repair(LEAD).state == "broken"
    assert world.lags()
    sweeper = world.log(2)
    sweeper.steps.die()
    with dying():
        sweeper.repairer.repair(LEAD)
    world.swept(2)
    assert world.violations == []

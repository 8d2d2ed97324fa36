"""Rule 6: fold first, then one transaction or claim, chunks of one phase, and the last step."""

from dataclasses import replace

import pytest

from domain.errors import Uncertain
from domain.records import Commit, PutHead
from projections.committing import lag_row
from projections.repairing import Repairer
from tests.support import rules_out, toy
from tests.support.head_world import BOTH, caught, driven, dying, nothing
from tests.support.make import LEAD

pytestmark = pytest.mark.usefixtures("one_row_a_chunk")

step = Repairer._step


def claim_unfolded(self, head, folds):
    """Give the rows up before anybody knows whether they can be built."""
    claimed = replace(
        head, projected=0, fold_version=self._edition.fold_version, goal=head.version,
        rev=head.rev + 1,
    )  # fmt: skip
    lag = lag_row(head.lead, head.organization_id)
    self._commit(Commit(head=PutHead(claimed, head.rev), puts=(lag,)))
    return 0


def take_zero_for_empty(self, head, folds, *, compared):
    """Catch up from zero as if no row stood there."""
    if head.projected == 0 and head.goal is None:
        return self._catch_up(head, folds)
    return step(self, head, folds, compared=compared)


def take_unknown_for_done(log):
    """Go on after an unknown outcome without looking."""
    commit = log.repairer._commit

    def careless(each):
        try:
            commit(each)
        except Uncertain:
            return

    log.repairer._commit = careless


def lived(world, edition=1):
    world.log(edition).append([toy.counted(1, "a"), toy.fact("toy_opened", "b")])


def a_new_edition_fails_on_an_old_event(world):
    world.log(1).append([toy.counted(1, "a"), toy.fact("toy_marked", "b", breaks=2)])
    repaired = world.repair(world.log(2, most_rows=1))
    if repaired is None or repaired.state != "broken":
        world.violations.append("a fold that raises was not reported")
    if world.head().projected == 0:
        world.violations.append("healthy rows were given up")
    return world.violations


def a_chunk_lands_after_the_rebuild(world):
    lived(world)
    first = world.log(2, most_rows=1)
    first.steps.hold(n=2)
    with dying():
        first.repairer.repair(LEAD)
    world.repair(world.log(2))
    world.answered(world.log(2).append([toy.counted(2, "c")]))
    first.steps.deliver()
    return world.violations


def a_chunk_lands_amid_the_next_rebuild(world):
    lived(world)
    first = world.log(2, most_rows=1)
    first.steps.hold(n=2)
    with dying():
        first.repairer.repair(LEAD)
    world.repair(world.log(2))
    world.answered(world.log(2).append([toy.counted(2, "c")]))
    world.damage(toy.count_key(), 70)
    world.damage(toy.open_key(), 70)
    second = world.log(2, most_rows=1)
    second.steps.before("insert_events", first.steps.deliver, n=3)
    world.repair(second, force=True)
    return world.violations


def a_chunk_of_an_older_edition_lands_amid_a_rebuild(world):
    lived(world)
    world.damage(toy.count_key(), 70)
    world.damage(toy.open_key(), 70)
    older = world.log(1, most_rows=1)
    older.steps.hold(n=2)
    with dying():
        older.repairer.repair(LEAD, force=True)
    newer = world.log(2, most_rows=1)
    newer.steps.before("insert_events", older.steps.deliver, n=3)
    world.repair(newer)
    return world.violations


def a_claimer_crashes(world):
    lived(world)
    builder = world.log(2, most_rows=1)
    builder.steps.die(n=2)
    with dying():
        builder.repairer.repair(LEAD)
    return world.violations


def a_zero_that_nobody_claimed(world):
    world.log(most_rows=0).append([toy.counted(1, "a")])
    world.damage(toy.count_key(), 70)
    world.repair(world.log())
    return world.violations


def a_chunk_is_lost(world, spoil=nothing):
    lived(world)
    builder = world.log(2, most_rows=1)
    spoil(builder)
    builder.steps.lose_request(n=2)
    world.repair(builder)
    return world.violations


LATE = [
    a_chunk_lands_after_the_rebuild,
    a_chunk_lands_amid_the_next_rebuild,
    a_chunk_of_an_older_edition_lands_amid_a_rebuild,
]


@BOTH
def test_rule_6_a_fold_that_raises_changes_nothing(world):
    assert a_new_edition_fails_on_an_old_event(world) == []
    world.answered(world.log(1).append([toy.counted(2, "c")]))
    assert world.head().projected == 3


def test_a_claim_before_the_fold_is_caught_when_rule_6_is_taken_out(world, monkeypatch):
    monkeypatch.setattr(Repairer, "_rewrite", claim_unfolded)
    assert caught(a_new_edition_fails_on_an_old_event(world), "healthy rows were given up")


@driven(*LATE)
def test_rule_6_a_chunk_lands_only_in_its_own_phase(world, scenario):
    assert scenario(world) == []
    world.swept()
    assert world.violations == []


@pytest.mark.parametrize(
    ("checked", "scenario"),
    [
        ((), a_chunk_lands_after_the_rebuild),
        (("projected",), a_chunk_lands_amid_the_next_rebuild),
        (("projected", "fold_version"), a_chunk_lands_amid_the_next_rebuild),
        (("projected", "goal"), a_chunk_of_an_older_edition_lands_amid_a_rebuild),
    ],
    ids=["nothing", "zero", "zero-and-edition", "zero-and-goal"],
)
def test_a_late_chunk_is_caught_when_a_part_of_its_condition_is_taken_out(world, checked, scenario):
    world.without(rules_out.chunks_checked_by(*checked))
    assert caught(scenario(world), "rows are not the fold")


@BOTH
def test_rule_6_a_claim_tells_the_sweeper(world):
    assert a_claimer_crashes(world) == []
    assert world.lags()


def test_a_silent_claim_is_caught_when_rule_6_is_taken_out(world):
    world.without(rules_out.claims_without_lag)
    assert caught(a_claimer_crashes(world), "the lag list")


def test_rule_6_a_zero_without_a_goal_is_claimed_anew(world):
    assert a_zero_that_nobody_claimed(world) == []
    assert world.claims == 1
    assert world.head().projected == 1


def test_zero_taken_for_empty_is_caught_when_rule_6_is_taken_out(world, monkeypatch):
    monkeypatch.setattr(Repairer, "_step", take_zero_for_empty)
    assert caught(a_zero_that_nobody_claimed(world), "rows are not the fold")


@pytest.mark.parametrize("dies_at", [2, 3, 4], ids=["claimed", "one-chunk", "two-chunks"])
def test_rule_6_a_crash_between_chunks_is_resumed_by_another(world, dies_at):
    lived(world)
    builder = world.log(2, most_rows=1)
    builder.steps.die(n=dies_at)
    with dying():
        builder.repairer.repair(LEAD)
    world.answered(world.log(1).append([toy.fact("toy_closed", "c")]))
    world.repair(world.log(2, most_rows=1))
    assert world.violations == []
    head = world.head()
    assert (world.claims, head.version, head.projected, head.goal) == (1, 3, 3, None)


@pytest.mark.parametrize("step_number", [1, 2, 3, 4], ids=["claim", "chunk", "chunk-2", "last"])
@pytest.mark.parametrize("arrives", [True, False], ids=["committed", "lost"])
def test_rule_6_a_repair_goes_on_after_any_unknown_outcome(world, step_number, arrives):
    lived(world)
    builder = world.log(2, most_rows=1)
    lose = builder.steps.lose_reply if arrives else builder.steps.lose_request
    lose(n=step_number)
    repaired = world.repair(builder)
    assert repaired.verified.state == "equal"
    assert world.violations == []
    assert world.claims == 1


def test_an_unknown_chunk_taken_for_done_is_caught_when_rule_6_is_taken_out(world):
    assert caught(a_chunk_is_lost(world, take_unknown_for_done), "rows are not the fold")


def test_two_builders_help_each_other_and_write_the_same(world):
    lived(world)
    one, other = world.log(2, most_rows=1), world.log(2, most_rows=1)
    one.steps.before("insert_events", lambda: world.repair(other), n=3)
    world.repair(one)
    assert world.violations == []
    assert (world.claims, world.head().projected) == (1, 2)


def test_rule_6_the_last_step_is_taken_in_its_own_phase_only(world):
    lived(world)
    slow = world.log(2, most_rows=1)

    def finish_and_go_on():
        world.repair(world.log(2))
        world.answered(world.log(2).append([toy.counted(2, "c")]))

    slow.steps.after("insert_events", finish_and_go_on, n=3)
    world.repair(slow)
    assert world.violations == []
    assert (world.claims, world.head().projected) == (1, 3)

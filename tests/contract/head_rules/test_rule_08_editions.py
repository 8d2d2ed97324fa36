"""Rule 8: a newer edition claims anew; an older one leaves a newer one's rows alone and appends."""

import pytest

from projections import repairing
from projections.repairing import Repairer
from tests.support import rules_out, toy
from tests.support.head_world import BOTH, caught, dying
from tests.support.make import LEAD

pytestmark = pytest.mark.usefixtures("one_row_a_chunk")

step = Repairer._step


def join_any_claim(self, head, folds, *, compared):
    """Build on whatever zero there is."""
    if head.projected == 0 and head.goal is not None:
        return self._build(head, head.goal, folds)
    return step(self, head, folds, compared=compared)


def claimed_by_the_older(world):
    """A lead whose rebuild by edition 1 crashed, its first chunk still on its way."""
    world.log(1).append([toy.counted(1, "a"), toy.fact("toy_opened", "b")])
    world.damage(toy.count_key(), 70)
    world.damage(toy.open_key(), 70)
    older = world.log(1, most_rows=1)
    older.steps.hold(n=2)
    with dying():
        older.repairer.repair(LEAD, force=True)
    return older


def a_newer_edition_meets_the_claim_of_an_older(world):
    older = claimed_by_the_older(world)
    newer = world.log(2, most_rows=1)
    for n in (2, 3):
        newer.steps.before("insert_events", older.steps.deliver, n=n)
    world.repair(newer)
    return world.violations


def an_older_edition_meets_the_claim_of_a_newer(world):
    world.log(1).append([toy.counted(1, "a"), toy.fact("toy_opened", "b")])
    newer = world.log(2, most_rows=1)
    newer.steps.before("insert_events", lambda: world.repair(world.log(1)), n=2)
    world.repair(newer)
    return world.violations


def an_older_edition_meets_rows_of_a_newer(world):
    world.log(2).append([toy.counted(1, "a")])
    world.repair(world.log(1), force=True)
    world.answered(world.log(1).append([toy.counted(2, "b")]))
    world.repair(world.log(1))
    return world.violations


@BOTH
def test_rule_8_a_newer_edition_never_joins_an_older_claim(world):
    assert a_newer_edition_meets_the_claim_of_an_older(world) == []
    assert (world.claims, world.head().fold_version, world.head().projected) == (2, 2, 2)


def test_joining_an_older_claim_is_caught_when_rule_8_is_taken_out(world, monkeypatch):
    monkeypatch.setattr(Repairer, "_step", join_any_claim)
    world.without(rules_out.chunks_of_whoever_claimed)
    violations = a_newer_edition_meets_the_claim_of_an_older(world)
    assert caught(violations, "rows are not the fold")


def test_a_claim_of_no_edition_is_caught_when_rule_8_is_taken_out(world):
    world.without(rules_out.claims_of_no_edition)
    assert caught(an_older_edition_meets_the_claim_of_a_newer(world), "a repair never ends")


@BOTH
def test_rule_8_an_older_edition_leaves_rows_and_claims_of_a_newer_alone(world):
    assert an_older_edition_meets_rows_of_a_newer(world) == []
    head = world.head()
    assert (head.version, head.projected, head.fold_version) == (2, 1, 2)
    assert world.lags()
    assert world.log(1).repairer.repair(LEAD).state == "newer"
    world.swept()
    assert world.violations == []


def test_an_older_sweeper_leaves_the_claim_of_a_newer_alone(world):
    assert an_older_edition_meets_the_claim_of_a_newer(world) == []
    assert world.claims == 1


@pytest.mark.parametrize(
    "scenario",
    [an_older_edition_meets_rows_of_a_newer, an_older_edition_meets_the_claim_of_a_newer],
)
def test_taking_over_newer_rows_is_caught_when_rule_8_is_taken_out(world, scenario, monkeypatch):
    monkeypatch.setattr(repairing, "outranked", lambda *_: False)
    assert caught(scenario(world), "an older edition took the rows")

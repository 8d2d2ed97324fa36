"""Rule 5: append alone keeps projected, foldVersion and goal; the LAG row follows the gap."""

from dataclasses import replace

import pytest

from domain import keys
from domain.records import PutHead
from projections import appending
from projections.committing import commit_alone as alone
from projections.committing import split
from tests.support import rules_out, toy
from tests.support.head_world import BOTH, caught, dying
from tests.support.make import LEAD

pytestmark = pytest.mark.usefixtures("one_row_a_chunk")


def written(commit):
    assert isinstance(commit.head, PutHead)
    return commit.head.head


def changed_head(monkeypatch, **change):
    """Append alone, and change more of the head than the version."""

    def spoiled(head, events, claims):
        commit = alone(head, events, claims)
        moved = written(commit)
        fields = {name: make(moved) for name, make in change.items()}
        return replace(commit, head=PutHead(replace(moved, **fields), head.rev))

    monkeypatch.setattr(appending, "commit_alone", spoiled)


def without_lag(head, events, claims):
    """Open a gap and tell nobody."""
    return replace(alone(head, events, claims), puts=())


def repair_in_passing(world, monkeypatch):
    """At projected = 0 write what differs from the fold, and the own events with it."""

    def repairing(head, events, claims):
        commit = alone(head, events, claims)
        if head.projected or not head.version:
            return commit
        past = world.events(head.lead)
        expected = toy.folded(head.fold_version, head.lead, [*past, *events])
        stored = world.stored(head.lead, past)
        differing = {key: row for key, row in expected.items() if stored.get(key) != row}
        moved = replace(written(commit), projected=written(commit).version, goal=None)
        puts, _ = split(differing)
        return replace(
            commit,
            head=PutHead(moved, head.rev),
            puts=puts,
            deletes=(*(key for key in stored if key not in expected), keys.lag(head.lead)),
        )

    monkeypatch.setattr(appending, "commit_alone", repairing)


def another_edition_appends(world):
    world.log(1).append([toy.counted(1, "a")])
    world.answered(world.log(2).append([toy.counted(2, "b")]))
    world.answered(world.log(2).append([toy.counted(3, "c")]))
    return world.violations


def an_append_amid_a_rebuild(world):
    world.log(1).append([toy.counted(1, "a"), toy.fact("toy_opened", "b")])
    builder = world.log(2, most_rows=1)
    builder.steps.before(
        "insert_events", lambda: world.log(1).append([toy.fact("toy_closed", "c")]), n=3
    )
    world.repair(builder)
    if world.claims != 1:
        world.violations.append("an append sent a rebuild back to its beginning")
    return world.violations


def a_gap_is_opened_and_closed(world):
    another_edition_appends(world)
    world.repair(world.log(1))
    return world.violations


def a_writer_amid_a_rebuild_lands_before_its_last_step(world):
    world.log().append([toy.counted(1, "a"), toy.fact("toy_opened", "b")])
    world.damage(toy.count_key(), 3)
    world.damage(toy.open_key(), 9)
    builder, writer = world.log(most_rows=1), world.log()

    def plan_and_die():
        writer.steps.hold()
        with dying():
            writer.append([toy.counted(2, "c")])

    builder.steps.before("insert_events", plan_and_die, n=2)
    builder.steps.before("insert_events", writer.steps.deliver, n=3)
    world.repair(builder, force=True)
    return world.violations


@BOTH
def test_rule_5_an_append_alone_moves_the_version_and_nothing_else(world):
    assert another_edition_appends(world) == []
    head = world.head()
    assert (head.version, head.projected, head.fold_version, head.goal) == (3, 1, 1, None)
    assert world.lags()
    world.swept()
    assert world.violations == []


@pytest.mark.parametrize(
    "change",
    [
        {"projected": lambda head: head.version},
        {"fold_version": lambda _: 2},
    ],
    ids=["projected", "foldVersion"],
)
def test_moving_more_than_the_version_is_caught_when_rule_5_is_taken_out(
    world, change, monkeypatch
):
    changed_head(monkeypatch, **change)
    assert caught(another_edition_appends(world), "rows are not the fold")


def test_rule_5_an_append_leaves_a_rebuild_its_goal(world):
    assert an_append_amid_a_rebuild(world) == []
    assert world.head().projected == 3


def test_dropping_the_goal_is_caught_when_rule_5_is_taken_out(world, monkeypatch):
    changed_head(monkeypatch, goal=lambda _: None)
    assert caught(an_append_amid_a_rebuild(world), "back to its beginning")


@BOTH
def test_rule_5_the_lag_row_stands_exactly_while_the_gap_is_open(world):
    assert a_gap_is_opened_and_closed(world) == []
    assert not world.lags()


def test_a_gap_opened_in_silence_is_caught_when_rule_5_is_taken_out(world, monkeypatch):
    monkeypatch.setattr(appending, "commit_alone", without_lag)
    assert caught(a_gap_is_opened_and_closed(world), "the lag list")


def test_a_gap_closed_in_silence_is_caught_when_rule_5_is_taken_out(world):
    world.without(rules_out.gaps_never_closed)
    assert caught(a_gap_is_opened_and_closed(world), "the lag list")


def test_rule_5_a_live_writer_repairs_nothing_in_passing(world):
    assert a_writer_amid_a_rebuild_lands_before_its_last_step(world) == []
    assert world.head().projected == 3


def test_a_repair_in_passing_is_caught_when_rule_5_is_taken_out(world, monkeypatch):
    repair_in_passing(world, monkeypatch)
    violations = a_writer_amid_a_rebuild_lands_before_its_last_step(world)
    assert caught(violations, "rows are not the fold")


def test_rule_5_the_very_first_event_may_go_alone(world):
    world.answered(world.log(most_rows=0).append([toy.counted(1, "a")]))
    head = world.head()
    assert (head.version, head.projected, head.goal) == (1, 0, None)
    world.answered(world.log().append([toy.counted(2, "b")]))
    world.log().record(toy.noting("c"))
    world.swept(1)
    assert world.violations == []
    assert world.log().repairer.repair(LEAD).state == "current"

"""Rule 1: the head carries `rev`; every head write is conditional on the `rev` that was read."""

from dataclasses import replace

import pytest

from domain.records import Commit, PutHead
from tests.support import rules_out, toy
from tests.support.head_world import caught, driven, dying

pytestmark = pytest.mark.usefixtures("one_row_a_chunk")


def an_old_writer_lands_amid_a_rebuild(world):
    old = world.log()
    old.append([toy.counted(1, "a"), toy.fact("toy_opened", "b")])
    old.steps.hold()
    with dying():
        old.append([toy.fact("toy_closed", "c")])
    builder = world.log(2, most_rows=1)
    builder.steps.before("insert_events", old.steps.deliver, n=3)
    world.repair(builder)
    return world.violations


def an_append_alone_lands_after_a_catch_up(world):
    world.log().append([toy.counted(1, "a")])
    world.log(2).append([toy.counted(2, "b")])
    late = world.log(2)
    late.steps.hold()
    with dying():
        late.append([toy.counted(3, "c")])
    world.repair(world.log())
    late.steps.deliver()
    return world.violations


def a_writer_from_before_a_repair_lands_after_it(world):
    world.log().append([toy.counted(1, "a"), toy.counted(2, "b")])
    world.damage(toy.count_key(), 70)
    writer = world.log()
    writer.steps.hold()
    with dying():
        writer.append([toy.counted(3, "c")])
    world.repair(world.log(), force=True)
    writer.steps.deliver()
    return world.violations


SCENARIOS = [
    an_old_writer_lands_amid_a_rebuild,
    an_append_alone_lands_after_a_catch_up,
    a_writer_from_before_a_repair_lands_after_it,
]


@driven(*SCENARIOS)
def test_rule_1_whoever_read_the_head_before_it_moved_writes_nothing(world, scenario):
    assert scenario(world) == []
    world.swept()
    assert world.violations == []


@driven(*SCENARIOS)
def test_a_head_compared_by_version_alone_is_caught_when_rule_1_is_taken_out(world, scenario):
    world.without(rules_out.heads_compared_by("version"))
    assert caught(scenario(world), "rows are not the fold")


def test_a_head_compared_by_all_but_rev_is_caught_when_rule_1_is_taken_out(world):
    world.without(rules_out.heads_compared_by("version", "projected", "fold_version"))
    violations = a_writer_from_before_a_repair_lands_after_it(world)
    assert caught(violations, "rows are not the fold")


def test_every_writer_of_a_head_carries_over_what_it_does_not_know(world):
    world.log().append([toy.counted(1, "a"), toy.fact("toy_opened", "b")])
    head = world.head()
    newer = replace(head, rev=head.rev + 1, unknown={"shade": "blue"})
    world.real.insert_events([], commit=Commit(head=PutHead(newer, head.rev)))
    world.log().append([toy.counted(2, "c")])
    world.log(2).append([toy.counted(3, "d")])
    world.repair(world.log())
    world.repair(world.log(2, most_rows=1))
    head = world.head()
    assert (head.projected, head.fold_version, head.rev) == (4, 2, 7)
    assert head.unknown == {"shade": "blue"}

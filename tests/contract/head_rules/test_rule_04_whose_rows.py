"""Rule 4: rows are believed only if their edition is mine and `projected` > 0; else all is folded."""

import pytest

from projections import committing, reading
from tests.support import toy
from tests.support.head_world import caught, driven, dying
from tests.support.make import LEAD

pytestmark = pytest.mark.usefixtures("one_row_a_chunk")


def believe_if(monkeypatch, rule):
    monkeypatch.setattr(committing, "believed", rule)
    monkeypatch.setattr(reading, "believed", rule)


def any_edition(head, _):
    return head.projected > 0


def also_at_zero(head, edition):
    return head.fold_version == edition.fold_version


def a_newer_edition_decides_on_older_rows(world):
    world.log(1).append([toy.counted(30, "a")])
    world.log(2).record(toy.noting("b", 2))
    return world.violations


def an_older_edition_decides_on_newer_rows(world):
    world.log(2).append([toy.counted(3, "a")])
    world.log(1).record(toy.noting("b", 1))
    return world.violations


def an_edition_appends_to_rows_of_another(world):
    world.log(1).append([toy.counted(30, "a")])
    world.log(2).append([toy.counted(1, "b")])
    world.log(1).append([toy.counted(1, "c")])
    return world.violations


def a_reader_lists_rows_of_another_edition(world):
    world.log(1).append([toy.counted(30, "a")])
    world.read(2, world.log(2).reader.view(LEAD, toy.COUNTING[2]))
    return world.violations


def a_decision_meets_the_rows_of_a_crashed_rebuild(world):
    world.log(1).append([toy.counted(3, "a"), toy.fact("toy_opened", "b")])
    builder = world.log(2, most_rows=1)
    builder.steps.die(n=3)
    with dying():
        builder.repairer.repair(LEAD)
    world.log(2).record(toy.noting("c", 2))
    return world.violations


SCENARIOS = [
    a_newer_edition_decides_on_older_rows,
    an_older_edition_decides_on_newer_rows,
    an_edition_appends_to_rows_of_another,
    a_reader_lists_rows_of_another_edition,
]


@driven(*SCENARIOS, a_decision_meets_the_rows_of_a_crashed_rebuild)
def test_rule_4_rows_that_are_not_mine_or_not_whole_count_as_absent(world, scenario):
    assert scenario(world) == []
    world.swept()
    assert world.violations == []


@driven(*SCENARIOS)
def test_believing_rows_of_another_edition_is_caught_when_rule_4_is_taken_out(
    world, scenario, monkeypatch
):
    believe_if(monkeypatch, any_edition)
    assert scenario(world) != []


def test_believing_rows_at_zero_is_caught_when_rule_4_is_taken_out(world, monkeypatch):
    believe_if(monkeypatch, also_at_zero)
    violations = a_decision_meets_the_rows_of_a_crashed_rebuild(world)
    assert caught(violations, "a decision stood")

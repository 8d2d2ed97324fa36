"""Rule 3: tail reads are dense from the first to the last sequence asked for, else read again."""

import pytest

from domain.errors import Unavailable
from projections.reading import Reader
from tests.support import toy
from tests.support.head_world import caught, driven
from tests.support.make import LEAD

HIDDEN = pytest.mark.parametrize("hidden", [2, 3], ids=["before-another", "the-last"])


def take_what_comes(self, lead, *, gt=0, lte):
    """Take a tail as it comes, holes included."""
    return list(self._store.get(lead, gt=gt, lte=lte))


def with_a_hole(world, flights, hidden):
    """A lead that lags by two events, one of which is not to be seen yet."""
    world.log().append([toy.counted(1, "a")])
    flight = flights.hold()
    world.log(2).append([toy.counted(2, "b"), toy.counted(4, "c")])
    for item in sorted(flight.hidden - {("event", hidden)}, key=repr):
        flight.show(*item)
    return flight


def a_decision_reads_a_tail_with_a_hole(world, flights, hidden):
    flight = with_a_hole(world, flights, hidden)
    decider = world.log()
    decider.steps.before("select_events", flight.land, n=2)
    decider.record(toy.noting("d"))
    return world.violations


def a_sweeper_reads_a_tail_with_a_hole(world, flights, hidden):
    flight = with_a_hole(world, flights, hidden)
    sweeper = world.log()
    sweeper.steps.before("select_events", flight.land, n=2)
    world.repair(sweeper)
    return world.violations


@HIDDEN
@driven(a_decision_reads_a_tail_with_a_hole, a_sweeper_reads_a_tail_with_a_hole)
def test_rule_3_a_tail_with_a_hole_is_read_again(hazy, log_in_flight, scenario, hidden):
    assert scenario(hazy, log_in_flight, hidden) == []


@pytest.mark.parametrize(
    ("scenario", "hidden"),
    [
        (a_decision_reads_a_tail_with_a_hole, 2),
        (a_decision_reads_a_tail_with_a_hole, 3),
        (a_sweeper_reads_a_tail_with_a_hole, 2),
    ],
)
def test_a_fold_over_a_hole_is_caught_when_rule_3_is_taken_out(
    hazy, log_in_flight, scenario, hidden, monkeypatch
):
    monkeypatch.setattr(Reader, "events", take_what_comes)
    violations = scenario(hazy, log_in_flight, hidden)
    assert caught(violations, "rows are not the fold") or caught(violations, "a decision stood")


def test_rule_3_a_hole_that_stays_is_unavailable_and_nothing_is_decided(hazy, log_in_flight):
    with_a_hole(hazy, log_in_flight, 2)
    with pytest.raises(Unavailable):
        hazy.log().reader.events(LEAD, gt=1, lte=3)
    assert [event.sequence for event in hazy.log().reader.events(LEAD, gt=2, lte=3)] == [3]

"""Rule 10: a decision folds only the projections it stands on."""

from dataclasses import replace

import pytest

from domain.errors import LeadError, ViewBroken
from projections.reading import Reader
from tests.support import toy
from tests.support.head_world import BOTH, caught

fold = Reader._fold


def fold_everything(self, lead, projections, wanted, snapshot):
    """Fold all projections, whatever the decision stands on."""
    return fold(self, lead, self.edition.projections, wanted, snapshot)


def a_projection_raises_and_the_lead_writes_on(world):
    world.log().append([toy.counted(3, "a")])
    world.answered(world.log().append([toy.fact("toy_marked", "b", breaks=1)]))
    try:
        world.log().record(toy.noting("c"))
    except LeadError:
        world.violations.append("a bug in one view silenced the conversation")
    return world.violations


@BOTH
def test_rule_10_a_projection_that_raises_silences_no_other_decision(world):
    assert a_projection_raises_and_the_lead_writes_on(world) == []
    assert world.head().version == 3
    world.swept(2)
    assert world.violations == []


def test_folding_everything_is_caught_when_rule_10_is_taken_out(world, monkeypatch):
    monkeypatch.setattr(Reader, "_fold", fold_everything)
    assert caught(a_projection_raises_and_the_lead_writes_on(world), "silenced")


def test_a_decision_that_stands_on_the_broken_view_says_so_at_once(world):
    world.log().append([toy.counted(3, "a"), toy.fact("toy_marked", "b", breaks=1)])
    log = world.log()
    with pytest.raises(ViewBroken) as caught_error:
        log.record(replace(toy.noting("c"), stands_on=toy.EDITIONS[1].projections))
    assert caught_error.value.sequence == 2
    assert log.pauses == []
    assert world.head().version == 2

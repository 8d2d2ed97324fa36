"""A name that a decision claims is one owner's, for ever; and what is claimed can be claimed again."""

import pytest

from domain.records import Identity
from projections.deciding import ClaimTaken, Decision
from tests.support import toy
from tests.support.head_world import BOTH

NAME = "CRM_DEAL#org-one#31415"


def claiming(name, lead, owner):
    facts = [toy.counted(1, name, lead=lead)]
    return Decision(
        organization_id="org-one",
        lead=lead,
        decide=lambda _: facts,
        stands_on=[toy.COUNTING[1]],
        claims=[Identity(NAME, owner)],
    )


@BOTH
def test_a_claim_is_one_owners(world):
    world.log().record(claiming("first", "lead-one", "session-a"))

    with pytest.raises(ClaimTaken):
        world.log().record(claiming("second", "lead-two", "session-b"))
    assert world.real.resolve([NAME]) == {NAME: "session-a"}
    assert world.real.snapshot("lead-two").head is None


@BOTH
def test_its_owner_may_claim_it_again(world):
    world.log().record(claiming("first", "lead-one", "session-a"))

    assert len(world.log().record(claiming("again", "lead-one", "session-a")).events) == 1


@BOTH
def test_of_two_that_claim_it_at_once_one_does(world):
    slow = world.log()
    other = claiming("fast", "lead-two", "session-b")
    slow.steps.before("insert_events", lambda: world.log().record(other))

    with pytest.raises(ClaimTaken):
        slow.record(claiming("slow", "lead-one", "session-a"))
    assert world.real.resolve([NAME]) == {NAME: "session-b"}

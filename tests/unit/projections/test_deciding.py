import pytest

from domain.errors import NotFound, Rejected
from projections.deciding import Command, Recorded
from tests.support import toy
from tests.support.make import LEAD


def test_a_decision_that_yields_nothing_records_nothing(world):
    nothing = toy.replaced(toy.noting("a"), lambda _: [])
    assert world.log().record(nothing) == Recorded((), None, LEAD)
    assert world.real.snapshot(LEAD).head is None


def test_the_receipt_of_a_command_keeps_what_was_asked_not_what_was_decided(world):
    recorded = world.log().record(toy.noting("a"))
    assert recorded.receipt.fingerprint == "asked for a"
    assert world.real.receipt(toy.receipt_key("a")) == recorded.receipt


def test_other_facts_of_a_decision_have_receipts_of_their_own_content(world):
    facts = [toy.counted(1, "a"), toy.fact("toy_opened", "b")]
    world.log().record(toy.replaced(toy.noting("a"), lambda _: facts))
    assert world.real.receipt(toy.receipt_key("b")).fingerprint == facts[1].fingerprint


def test_a_command_is_answered_before_anything_is_decided(world):
    world.log().record(toy.noting("a"))

    def never(_):
        raise AssertionError

    again = world.log().record(toy.replaced(toy.noting("a"), never))
    assert (again.events, again.receipt.sequence) == ((), 1)


def test_a_row_the_decision_did_not_name_is_loaded_with_a_new_snapshot(world):
    world.log().append([toy.counted(3, "a")])
    log = world.log()
    log.record(toy.replaced(toy.noting("b"), keys=()))
    assert world.violations == []
    assert world.events()[1].payload["saw"] == 3


def test_a_row_only_the_fold_can_name_is_loaded_for_the_commit(world):
    world.log().append([toy.counted(3, "a")])
    tally = toy.replaced(toy.noting("b"), lambda _: [toy.fact("toy_tallied", "b")])
    world.log().record(tally)
    assert world.head().projected == 2
    assert world.violations == []


def test_another_command_under_a_taken_key_is_rejected(world):
    world.log().record(toy.noting("a"))
    other = toy.replaced(toy.noting("a"), command=Command(toy.receipt_key("a"), "another"))
    with pytest.raises(Rejected):
        world.log().record(other)


def test_another_organization_s_lead_is_not_found(world):
    world.log().append([toy.counted(3, "a")])
    with pytest.raises(NotFound):
        world.log().record(toy.replaced(toy.noting("b"), organization_id="org-two"))

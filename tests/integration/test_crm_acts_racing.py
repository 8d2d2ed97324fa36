"""Acts of operators while others write: what was decided on has to stand when it is recorded."""

import pytest

from domain.crm.operating import ActRefused, Changed
from handlers.crm.acts import Ask
from projections.decision import ClaimTaken
from tests.support.backends import sqlite_backend
from tests.support.crm_account import STAGES
from tests.support.crm_operators import ASK, operators
from tests.support.crm_world import ORGANIZATION, CrmWorld


@pytest.fixture
def world(tmp_path):
    with sqlite_backend(tmp_path) as backend:
        yield CrmWorld(backend)


def acted(world, session="s-1"):
    return world.events(session, "crm_operator_action")


@pytest.fixture
def blocked(world):
    world.start()
    world.turn()
    world.say("s-1", "crm_sync_blocked", revision=world.row().revision, reason="x", marker="kept")
    return world


def test_what_changes_before_the_lease_is_taken_is_seen(blocked):
    steps, made = operators(blocked)
    steps.before("put", lambda: blocked.turn(intent="compra"))
    with pytest.raises(Changed):
        made.retry(ORGANIZATION, "s-1", ASK)
    assert acted(blocked) == []
    assert blocked.lease() is None


def test_what_changes_between_the_decision_and_its_commit_is_seen(blocked):
    steps, made = operators(blocked)
    steps.before("insert_events", lambda: blocked.turn(intent="compra"))
    with pytest.raises(Changed):
        made.retry(ORGANIZATION, "s-1", ASK)
    assert acted(blocked) == []


def test_an_act_whose_answer_was_lost_is_recorded_once(blocked):
    steps, made = operators(blocked)
    steps.lose_reply()
    assert made.retry(ORGANIZATION, "s-1", ASK).after.status == "PENDING"
    assert len(acted(blocked)) == 1


def test_a_deal_that_another_session_takes_meanwhile_is_not_adopted(blocked):
    world = blocked
    world.start("s-2", phone="5511955550143")
    world.turn("s-2")
    contact = world.account.create_contact({"name": "x", "phone": "5511955550144"}).record
    assert contact is not None
    deal = world.account.create_deal({"name": "x", "stage": STAGES["novo_lead"]}, contact.id)
    assert deal.record is not None
    deal_id = deal.record.id
    _, others = operators(world)
    steps, made = operators(world)

    def take():
        others.adopt(ORGANIZATION, "s-2", ASK, deal_id=deal_id)

    steps.before("put", take)
    with pytest.raises(ClaimTaken):
        made.adopt(ORGANIZATION, "s-1", ASK, deal_id=deal_id)
    assert (acted(world), len(acted(world, "s-2"))) == ([], 1)


def test_a_worker_that_was_slower_than_a_person_records_nothing(blocked):
    """Its lease ran out in the middle of its visit; the person's act took the lease since."""
    world = blocked
    world.act("s-1", "retry")
    worker = world.worker()
    _, made = operators(world)

    def act():
        world.pass_time(minutes=6)
        made.retry(ORGANIZATION, "s-1", ASK)

    worker.log.steps.before("insert_events", act)
    report = worker.run()
    assert report.endings == {"lease_lost": 1}
    assert len(acted(world)) == 2
    assert world.account.deals == {}


def test_a_dry_run_takes_no_lease(blocked):
    steps, made = operators(blocked)
    told = made.retry(ORGANIZATION, "s-1", Ask())
    assert (told.applied, told.after.status) == (False, "PENDING")
    assert (steps.calls["put"], steps.calls["insert_events"]) == (0, 0)
    with pytest.raises(ActRefused):
        made.unlink(ORGANIZATION, "s-1", Ask())

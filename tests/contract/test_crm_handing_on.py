"""A deal that goes from one session to another, on every store: never two sessions' at once."""

from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest

from domain import keys
from domain.crm.operating import ActRefused
from domain.errors import LeadError
from domain.records import CheckHead, Commit, Identity
from handlers.crm.claims import claimed
from handlers.maintenance import Maintenance
from projections.decision import ClaimTaken
from tests.support.backends import sqlite_backend
from tests.support.crm_operators import ASK, claims_told, operators
from tests.support.crm_world import ORGANIZATION, CrmWorld
from tests.support.stepping import Died

pytestmark = pytest.mark.beyond_moto

SESSIONS = ("s-1", "s-2", "s-3")


@pytest.fixture
def world(backend):
    """Three sessions. The first one has a deal, which nobody has unlinked yet."""
    world = CrmWorld(backend)
    world.start("s-1")
    world.turn("s-1")
    world.worker().run()
    for number, session in enumerate(SESSIONS[1:], start=3):
        world.start(session, phone=f"551195555014{number}")
        world.turn(session)
    return world


@pytest.fixture
def deal(world):
    return world.row("s-1").deal_id


@pytest.fixture
def free(world, deal):
    """The deal, unlinked."""
    unlink(world, "s-1")
    return deal


def unlink(world, session):
    return operators(world)[1].unlink(ORGANIZATION, session, ASK)


def adopt(world, session, deal):
    return operators(world)[1].adopt(ORGANIZATION, session, ASK, deal_id=deal)


def claims(world, deal):
    return claimed(world.log.reader.recorder, ORGANIZATION, deal)


def holders(world, deal):
    return [each for each in SESSIONS if world.row(each).deal_id == deal]


def check(world, deal):
    """The rows say who is the deal, the claims say the same, and the log says what the claims say."""
    holder = claims(world, deal).holder
    assert holders(world, deal) == ([] if holder is None else [holder])
    told = claims_told(world, *SESSIONS)
    assert world.log.reader.recorder.resolve(list(told)) == told
    for session in SESSIONS:
        verified = world.log.verifier.verify(world.lead(session))
        assert (verified.state, verified.missing_identities) == ("equal", 0)


def test_a_deal_that_is_linked_is_not_adopted(world, deal):
    with pytest.raises(ActRefused):
        adopt(world, "s-2", deal)
    world.account.edit(deal, key="")
    with pytest.raises(ClaimTaken):
        adopt(world, "s-2", deal)
    check(world, deal)


def test_a_deal_is_handed_on_and_back_and_every_session_ends_with_one_deal(world, free):
    adopt(world, "s-2", free)
    check(world, free)
    world.worker().run()
    unlink(world, "s-2")
    check(world, free)
    unlink(world, "s-1")
    adopt(world, "s-1", free)
    check(world, free)
    world.worker().run()

    assert claims(world, free).sessions == ("s-1", "s-2", "s-1")
    rows = [world.row(each) for each in SESSIONS]
    assert {each.status for each in rows} == {"SYNCED"}
    assert len({each.deal_id for each in rows}) == len(SESSIONS)


def test_of_two_who_adopt_a_free_deal_at_once_one_does(world, free):
    steps, slow = operators(world)
    steps.before("insert_events", lambda: adopt(world, "s-2", free))
    with pytest.raises(ClaimTaken):
        slow.adopt(ORGANIZATION, "s-3", ASK, deal_id=free)
    assert holders(world, free) == ["s-2"]
    check(world, free)


def test_who_looked_before_the_deal_was_taken_and_freed_again_looks_again(world, free):
    steps, slow = operators(world)

    def pass_on():
        adopt(world, "s-2", free)
        unlink(world, "s-2")

    steps.before("insert_events", pass_on)
    with pytest.raises(ClaimTaken):
        slow.adopt(ORGANIZATION, "s-3", ASK, deal_id=free)
    check(world, free)
    slow.adopt(ORGANIZATION, "s-3", ASK, deal_id=free)
    assert claims(world, free).sessions == ("s-1", "s-2", "s-3")
    check(world, free)


def test_one_that_dies_before_its_commit_takes_nothing(world, free):
    steps, dying = operators(world)
    steps.die("insert_events")
    with pytest.raises(Died):
        dying.adopt(ORGANIZATION, "s-2", ASK, deal_id=free)
    assert claims(world, free).holder is None
    adopt(world, "s-3", free)
    check(world, free)


def test_an_adoption_that_arrives_after_another_one_is_none(world, free):
    steps, dying = operators(world)
    steps.hold("insert_events")
    with pytest.raises(Died):
        dying.adopt(ORGANIZATION, "s-2", ASK, deal_id=free)
    adopt(world, "s-3", free)
    assert steps.deliver() is not None
    assert holders(world, free) == ["s-3"]
    check(world, free)


def test_an_unlink_that_dies_before_its_commit_frees_nothing(world, deal):
    steps, dying = operators(world)
    steps.die("insert_events")
    with pytest.raises(Died):
        dying.unlink(ORGANIZATION, "s-1", ASK)
    world.account.edit(deal, key="")
    with pytest.raises(ClaimTaken):
        adopt(world, "s-2", deal)
    check(world, deal)


@pytest.mark.parametrize("act", ["unlink", "adopt"])
def test_an_act_whose_answer_was_lost_is_done_once(world, deal, act):
    if act == "adopt":
        unlink(world, "s-1")
    steps, made = operators(world)
    steps.lose_reply()
    if act == "unlink":
        made.unlink(ORGANIZATION, "s-1", ASK)
    else:
        made.adopt(ORGANIZATION, "s-2", ASK, deal_id=deal)
    assert claims(world, deal).holder == (None if act == "unlink" else "s-2")
    check(world, deal)


def test_a_session_that_takes_another_deal_frees_the_one_it_had(world, deal):
    world.say("s-1", "crm_sync_blocked", revision="r", reason="x", marker="kept")
    contact = world.row("s-1").contact_id
    made = world.account.create_deal({"name": "x", "stage": "s-new"}, contact)
    world.account.edit(deal, key="")
    adopt(world, "s-1", made.record.id)
    assert (claims(world, deal).holder, claims(world, made.record.id).holder) == (None, "s-1")
    adopt(world, "s-2", deal)
    check(world, deal)


def test_a_deal_that_was_recreated_and_restored_is_free(world, deal):
    world.account.archive(deal)
    world.turn("s-1", intent="compra")
    world.worker().run()
    assert world.row("s-1").blocked_reason == "deal_archived"
    operators(world)[1].recreate(ORGANIZATION, "s-1", ASK)
    assert claims(world, deal).former == ("s-1",)
    check(world, deal)


def test_a_worker_links_a_deal_that_another_session_gave_up(world, free):
    """A person merges its deal into that one."""
    world.worker().run()
    own = world.row("s-2").deal_id
    world.account.moved[own] = free
    world.account.deals.pop(own)
    world.turn("s-2", intent="compra")
    world.worker().run()
    assert (world.row("s-2").deal_id, world.row("s-2").status) == (free, "SYNCED")
    assert claims(world, free).sessions == ("s-1", "s-2")
    check(world, free)


def test_a_first_claim_that_was_lost_frees_nobody_else_s(world, deal):
    """A release that stands alone is of that claim, not of the one that is made in its place."""
    release = Identity(keys.crm_deal_release(ORGANIZATION, "424242", 1), "s-1")
    head = world.log.reader.head(world.lead("s-1"))
    commit = Commit(head=CheckHead(head.lead, rev=head.rev), identities=(release,))
    world.log.reader.recorder.insert_events([], commit=commit)
    assert claims(world, "424242").number == 1
    first = Identity(keys.crm_deal(ORGANIZATION, "424242"), "s-2")
    world.log.reader.recorder.insert_events([], commit=replace(commit, identities=(first,)))
    assert claims(world, "424242").holder == "s-2"


@pytest.mark.parametrize("order", [1, -1])
def test_a_rebuild_makes_the_same_claims_in_any_order(world, free, tmp_path, order):
    adopt(world, "s-2", free)
    unlink(world, "s-2")
    adopt(world, "s-3", free)
    recorder, told = world.log.reader.recorder, claims_told(world, *SESSIONS)
    (tmp_path / "other").mkdir()
    with sqlite_backend(tmp_path / "other") as other:
        copy = CrmWorld(other)
        for session in SESSIONS:
            other.recorder.insert_events(list(recorder.select_events(world.lead(session))))
        assert other.recorder.resolve(list(told)) == {}

        for session in SESSIONS[::order]:
            Maintenance(copy.log).rebuild(copy.lead(session))

        assert other.recorder.resolve(list(told)) == told == recorder.resolve(list(told))
        assert [copy.row(each) for each in SESSIONS] == [world.row(each) for each in SESSIONS]
        check(copy, free)


def test_the_first_claim_has_the_key_it_always_had(world, deal):
    assert keys.crm_deal(ORGANIZATION, deal) == f"CRM_DEAL#{ORGANIZATION}#{deal}"
    assert claims_told(world, "s-1") == {keys.crm_deal(ORGANIZATION, deal): "s-1"}


def take(world, made, random, deal):
    """One act of one operator: whatever it meets, it is done whole or not at all."""
    session = random.choice(SESSIONS)
    try:
        if random.random() < 0.4:
            made.unlink(ORGANIZATION, claims(world, deal).holder or session, ASK)
        else:
            made.adopt(ORGANIZATION, session, ASK, deal_id=deal)
    except (LeadError, Died):
        return 0
    return 1


def disturb(world, steps, random, deal):
    """Let another act come between, or the network fail, at any call of an act."""
    at = random.choice(("resolve", "snapshot", "get", "put", "insert_events"))
    n = random.randint(1, 3)
    how = random.choice(("other", "other", "die", "hold", "lose", "none"))
    if how == "other":
        steps.before(at, lambda: take(world, operators(world)[1], random, deal), n=n)
    elif how == "die":
        steps.die(at, n=n)
    elif how == "hold":
        steps.hold("insert_events")
    elif how == "lose":
        steps.lose_reply()
    return how == "hold"


def test_however_many_hand_a_deal_on_at_once_it_is_one_session_s(tmp_path):
    done = longest = 0
    for seed in range(12):
        (tmp_path / str(seed)).mkdir()
        with sqlite_backend(tmp_path / str(seed)) as backend:
            random, world = Random(seed), CrmWorld(backend)
            for number, session in enumerate(SESSIONS, start=2):
                world.start(session, phone=f"551195555014{number}")
                world.turn(session)
            contact = world.account.create_contact({"name": "x"}).record
            assert contact is not None
            created = world.account.create_deal({"name": "x", "stage": "s-new"}, contact.id).record
            assert created is not None
            deal = created.id
            for _ in range(16):
                steps, made = operators(world)
                held = disturb(world, steps, random, deal)
                done += take(world, made, random, deal)
                # A lease that somebody died with is free after five minutes.
                world.pass_time(minutes=6)
                if held and random.random() < 0.7:
                    done += take(world, operators(world)[1], random, deal)
                    with suppress(AssertionError):
                        steps.deliver()
                check(world, deal)
            longest = max(longest, len(claims(world, deal).sessions))
    assert done > 50
    assert longest > 4

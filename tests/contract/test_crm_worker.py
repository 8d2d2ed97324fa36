"""The worker of the CRM mirror on every store: what reaches the account, and what is recorded of it."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from domain import keys
from domain.crm.replies import Kind, Reply
from domain.errors import Unavailable
from domain.instants import shift, to_datetime
from domain.records import Row
from handlers.crm import leases
from handlers.crm.control import DAILY_PAUSE_S
from handlers.maintenance import Maintenance
from tests.support.backends import sqlite_backend
from tests.support.crm_account import STAGES
from tests.support.crm_world import NOW, ORGANIZATION, CrmWorld
from tests.support.sockets import connections
from tests.support.stepping import Died, SteppingTable, Steps
from tests.support.talks import survives

pytestmark = pytest.mark.beyond_moto

REVOKED = Reply(kind=Kind.BREAKER, reason="token_refused", status=401)
LIMITED = Reply(kind=Kind.PAUSED, reason="limit_burst", status=429, wait_s=30)
STORIES = ("create", "update", "uncertain")
WRITES = ("insert_events", "put", "delete", "create_contact", "create_deal", "update_deal")
READS = (
    *("get", "snapshot", "query_index", "resolve"),
    *("find_contact", "search_contacts", "associate", "find_deal", "pipeline"),
)
OF_THE_STORE = ("insert_events", "put", "delete", "get", "snapshot", "query_index", "resolve")
BUSY = Reply(kind=Kind.TRANSIENT, reason="server_error", status=503)


@pytest.fixture
def world(backend):
    return CrmWorld(backend)


@pytest.fixture
def synced(world):
    """A session whose deal is there, in triage."""
    world.start()
    world.turn(segment="PESQUISA")
    world.worker().run()
    assert world.row().status == "SYNCED"
    world.account.journal.clear()
    return world


def types(world, session="s-1"):
    return [event.event_type for event in world.events(session)]


def deal(world):
    [one] = world.account.live()
    return one


def test_a_session_becomes_a_contact_and_one_deal_with_its_key(world):
    world.start()
    world.turn(segment="PESQUISA", intent="servico", qualification_data='{"amostras":"12"}')

    report = world.worker().run()

    assert report.endings == {"synced": 1}
    assert deal(world).properties == {
        "key": "test:s-1",
        "name": "Ana Lima",
        "stage": STAGES["em_triagem"],
        "segment": "PESQUISA",
        "intent": "servico",
        "notes": "amostras: 12",
    }
    [contact] = world.account.contacts.values()
    assert contact.properties["phone_key"] == "+5511955550142"
    assert deal(world).contact_ids == (contact.id,)
    row = world.row()
    assert (row.status, row.deal_id, row.contact_id) == ("SYNCED", deal(world).id, contact.id)
    assert row.confirmed_revision == row.revision
    assert types(world) == [
        "crm_contact_linked",
        "crm_deal_creation_started",
        "crm_deal_linked",
        "crm_revision_confirmed",
    ]
    assert world.lease() is None


def test_nothing_is_published_of_a_session_nobody_answered(world):
    world.start()

    assert world.worker().run().rows == 0
    assert world.account.journal == []


def test_an_unchanged_revision_asks_nothing_of_the_account(synced):
    synced.turn(segment="PESQUISA")

    assert synced.worker().run().rows == 0
    assert synced.account.journal == []


def test_the_id_of_a_deal_is_used_again_in_two_requests(synced):
    synced.turn(state="QUALIFYING", intent="servico")

    report = synced.worker().run()

    assert (report.endings, report.requests) == ({"synced": 1}, 2)
    assert deal(synced).properties["intent"] == "servico"


def test_what_stands_already_is_not_written(synced):
    synced.turn(state="QUALIFYING", intent="servico")
    synced.account.edit(deal(synced).id, intent="servico")

    synced.worker().run()

    assert synced.account.requests("update_deal") == 0
    assert synced.row().status == "SYNCED"


def test_sessions_of_one_lead_are_deals_of_one_contact(world):
    for session in ("s-1", "s-2"):
        world.start(session)
        world.turn(session)

    world.worker().run()
    world.worker().run()

    assert len(world.account.live()) == 2
    assert len(world.account.contacts) == 1
    assert world.row("s-1").deal_id != world.row("s-2").deal_id
    world.end("s-1")
    world.worker().run()
    stages = {each.properties["key"]: each.properties["stage"] for each in world.account.live()}
    assert stages == {"test:s-1": STAGES["finalizado"], "test:s-2": STAGES["em_triagem"]}


def test_a_session_that_ends_without_a_deal_gets_none(world):
    world.start()
    world.turn()
    world.end()

    assert world.worker().run().endings == {"synced": 1}
    assert world.account.requests("create_deal", "create_contact", "find_contact") == 0
    assert world.row().status == "SYNCED"


def test_a_second_worker_leaves_a_row_alone_that_another_is_at(world):
    world.start()
    world.turn()
    reports = []
    world.account.steps.before("create_deal", lambda: reports.append(world.worker().run()))

    world.worker().run()

    assert reports[0].endings == {"held": 1}
    assert len(world.account.live()) == 1


@pytest.mark.parametrize("verb", ["create_deal", "update_deal"])
def test_closing_while_a_request_is_under_way_is_shown_by_the_next_run(world, verb):
    world.start()
    world.turn()
    if verb == "update_deal":
        world.worker().run()
        world.turn(state="QUALIFYING", intent="servico")
    world.account.steps.after(verb, world.end)

    world.worker().run()

    row = world.row()
    assert (row.status, row.state) == ("PENDING", "COMPLETED")
    assert row.confirmed_revision not in {"", row.revision}
    world.worker().run()
    assert deal(world).properties["stage"] == STAGES["finalizado"]
    assert world.row().status == "SYNCED"


def test_a_turn_that_was_overtaken_is_no_reason_to_ask_for_anything(synced):
    before = synced.row().revision
    synced.say(
        "s-1",
        "agent_turn_superseded",
        covered_message_ids=["wamid.2"],
        reason="newer_message",
        agent="triagem",
    )

    assert synced.row().revision == before
    assert synced.worker().run().rows == 0


def test_a_deal_that_is_gone_is_not_created_again(synced):
    del synced.account.deals[synced.row().deal_id]
    synced.turn(intent="servico")

    assert synced.worker().run().endings == {"blocked": 1}
    assert synced.row().blocked_reason == "deal_missing"
    synced.pass_time(hours=5)
    synced.turn(intent="outro")
    synced.worker().run()
    assert synced.account.requests("create_deal") == 0


@pytest.mark.parametrize("when", ["before", "between"])
def test_a_deal_that_a_person_archived_is_not_created_again(synced, when):
    synced.turn(intent="servico")
    if when == "before":
        synced.account.archive(deal(synced).id)
    else:
        live = deal(synced).id
        synced.account.steps.after("find_deal", lambda: synced.account.archive(live))

    synced.worker().run()

    assert (synced.row().status, synced.row().blocked_reason) == ("BLOCKED", "deal_archived")
    assert synced.account.requests("create_deal") == 0


def test_a_deal_that_was_merged_is_followed(synced):
    survivor = synced.account.merge(deal(synced).id)
    synced.turn(intent="servico")

    assert synced.worker().run().endings == {"synced": 1}
    assert synced.row().deal_id == survivor
    assert synced.account.deals[survivor].properties["intent"] == "servico"


@pytest.mark.parametrize("fate", ["lost", "late"])
def test_a_creation_nobody_heard_of_heals_itself(world, fate):
    world.start()
    world.turn()
    world.account.script.extend(["done", fate])

    assert world.worker().run().endings == {"uncertain": 1}
    row = world.row()
    assert (row.status, row.attempts, row.next_attempt_at) == (
        "UNCERTAIN",
        1,
        "2026-03-20T12:01:00.000000Z",
    )
    assert row.creation_started
    assert row.verify_after == "2026-03-20T12:02:10.000000Z"
    for _ in range(5):
        world.pass_time(minutes=1)
        world.worker().run()
    assert len(world.account.live()) == 1
    assert (world.row().status, world.row().deal_id) == ("SYNCED", deal(world).id)
    assert not world.row().creation_started


def test_a_creation_that_arrives_after_another_was_made_is_refused(world):
    world.start()
    world.turn()
    world.account.chaos.random.seed(3)
    world.account.script.extend(["done", "late"])
    world.worker().run()
    world.account.steps.before("create_deal", world.account.arrive)

    world.pass_time(seconds=61)
    world.worker().run()
    world.pass_time(minutes=10)
    world.worker().run()

    assert len(world.account.live()) == 1
    assert world.row().status == "SYNCED"


def test_a_creation_that_a_person_archived_meanwhile_is_not_made_again(world):
    world.start()
    world.turn()
    world.account.reserves = False
    world.account.script.extend(["done", "lost"])
    world.worker().run()
    world.account.archive(deal(world).id)

    world.pass_time(minutes=1)
    world.worker().run()

    assert world.row().blocked_reason == "deal_archived"
    assert world.account.live() == []


def test_without_the_unique_property_a_creation_in_doubt_waits_for_a_person(world):
    world.account.deal_key = False
    world.start()
    world.turn()
    world.account.script.extend(["done", "lost"])
    world.worker().run()

    row = world.row()
    assert (row.status, row.creation_mode, row.next_attempt_at) == (
        "UNCERTAIN",
        "conservative",
        "",
    )
    assert row.last_error["class"] == "creation_result_unknown"
    world.pass_time(days=3)
    assert world.worker().run().rows == 0
    world.worker().crm.sync_one(ORGANIZATION, world.lead(), "s-1")
    assert world.account.requests("create_deal") == 1


def test_without_the_unique_property_a_crash_after_the_marker_waits_for_a_person(world):
    world.account.deal_key = False
    world.start()
    world.turn()
    world.account.steps.die("create_deal")
    assert not survives(world.worker().run)

    world.pass_time(minutes=6)
    world.worker().run()

    assert world.row().last_error["class"] == "creation_result_unknown"
    assert world.account.live() == []


def test_a_change_that_arrives_late_is_set_right_when_all_is_quiet(synced):
    synced.turn(intent="primeiro")
    synced.account.chaos.random.seed(5)
    synced.account.script.append("late")
    assert synced.worker().run().endings == {"deferred": 1}
    synced.turn(intent="segundo")
    assert synced.worker().run().endings == {"synced": 1}
    assert deal(synced).properties["intent"] == "segundo"
    assert synced.row().status == "SYNCED"

    synced.pass_time(seconds=125)
    assert deal(synced).properties["intent"] == "primeiro"
    assert synced.worker().run().rows == 0
    synced.pass_time(seconds=10)
    assert synced.worker().run().endings == {"synced": 1}

    assert deal(synced).properties["intent"] == "segundo"
    assert not synced.row().verify_after
    assert synced.lease() is None
    synced.pass_time(days=1)
    assert synced.worker().run().rows == 0


def test_what_a_dead_worker_wrote_is_no_edit_of_a_person(synced):
    synced.turn(intent="primeiro")
    worker = synced.worker()
    worker.log.steps.die("insert_events")
    assert not survives(worker.run)
    assert deal(synced).properties["intent"] == "primeiro"

    synced.turn(intent="segundo")
    synced.pass_time(minutes=6)
    synced.worker().run()

    assert deal(synced).properties["intent"] == "segundo"


def test_what_people_edit_is_kept_and_told(synced):
    synced.account.edit(deal(synced).id, name="Conta da Ana", intent="outra coisa")
    synced.turn(intent="servico", qualification_data='{"prazo":"maio"}')

    report = synced.worker().run()

    assert report.kept_by_people == 2
    assert deal(synced).properties["name"] == "Conta da Ana"
    assert deal(synced).properties["intent"] == "outra coisa"
    assert deal(synced).properties["notes"] == "prazo: maio"
    [confirmed] = synced.events("s-1", "crm_revision_confirmed")[1:]
    assert confirmed.payload["keptByPeople"] == "deal.intent,deal.name"


@pytest.mark.parametrize(
    ("moved_to", "ends_in"),
    [
        (STAGES["novo_lead"], STAGES["atendimento_humano"]),
        (STAGES["finalizado"], STAGES["finalizado"]),
        ("somebody-elses", "somebody-elses"),
    ],
)
def test_a_stage_moves_only_forward_and_a_closed_deal_stays_closed(synced, moved_to, ends_in):
    synced.account.edit(deal(synced).id, stage=moved_to)
    synced.ask_for_people()

    synced.worker().run()

    assert deal(synced).properties["stage"] == ends_in
    assert synced.row().status == "SYNCED"


def test_a_session_given_back_to_agents_stays_with_people_in_the_crm(synced):
    synced.ask_for_people()
    synced.worker().run()
    synced.give_back()
    synced.worker().run()

    assert deal(synced).properties["stage"] == STAGES["atendimento_humano"]
    assert synced.row().status == "SYNCED"


@pytest.mark.parametrize("state", ["missing", "equal"])
def test_an_invalid_final_stage_blocks_before_any_request_about_the_deal(synced, state):
    synced.end()
    stage = None if state == "missing" else STAGES["em_triagem"]

    synced.worker(hubspot_stage_finalizado=stage).run()

    assert synced.row().blocked_reason == "stage_configuration_invalid"
    assert synced.account.requests("find_deal", "update_deal", "find_contact") == 0


def test_a_stage_that_the_pipeline_lacks_blocks_until_somebody_retries(synced):
    synced.account.stages = tuple(each for each in STAGES.values() if each != STAGES["finalizado"])
    synced.end()
    worker = synced.worker()
    worker.run()
    assert synced.row().blocked_reason == "stage_missing"

    synced.account.stages = tuple(STAGES.values())
    synced.act("s-1", "retry")
    worker.run()
    assert synced.row().blocked_reason == "stage_missing", "what was read is kept for ten minutes"
    synced.act("s-1", "retry")
    synced.seconds += 601
    worker.run()
    assert synced.row().status == "SYNCED"


def test_one_deal_is_never_two_sessions(world):
    for session in ("s-1", "s-2"):
        world.start(session)
        world.turn(session)
    world.worker().run()
    merged = world.account.merge(world.row("s-1").deal_id)
    world.account.moved[world.row("s-2").deal_id] = merged
    del world.account.deals[world.row("s-2").deal_id]
    for session in ("s-1", "s-2"):
        world.turn(session, intent="servico")

    world.worker().run()

    states = {(world.row(each).status, world.row(each).blocked_reason) for each in ("s-1", "s-2")}
    assert states == {("SYNCED", ""), ("BLOCKED", "deal_shared")}


def test_tries_are_one_to_sixty_minutes_apart(synced):
    worker = synced.worker()
    synced.turn(intent="um")
    worker.run()
    synced.turn(intent="servico")
    waits = []
    for _ in range(8):
        synced.account.reads = [BUSY]
        before = synced.now
        worker.crm.sync_one(ORGANIZATION, synced.lead(), "s-1")
        row = synced.row()
        waits.append(minutes_between(before, row.next_attempt_at))
        synced.now = row.next_attempt_at

    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    synced.account.reads = []
    synced.worker().run()
    assert (synced.row().status, synced.row().attempts) == ("SYNCED", 0)


def test_the_account_may_ask_for_more_time_than_a_try_would_wait(synced):
    synced.turn(intent="servico")
    worker = synced.worker()
    worker.run()
    synced.turn(intent="outro")
    synced.account.reads = [replace(BUSY, wait_s=600)]
    worker.run()

    assert minutes_between(synced.now, synced.row().next_attempt_at) == 10


def two_of_one_phone(world):
    """Two new sessions of one phone, in two of its forms, where no phone is unique."""
    world.account.contact_key = False
    for session, phone in (("s-1", "5511985550142"), ("s-2", "551185550142")):
        world.start(session, phone=phone)
        world.turn(session)
        world.pass_time(seconds=1)


def contacts_of(world):
    return [each.contact_ids for each in world.account.live()]


def test_two_sessions_of_one_phone_in_one_run_are_one_contact_without_a_unique_phone(world):
    two_of_one_phone(world)
    assert world.worker().run().endings == {"synced": 2}

    [contact] = world.account.contacts
    assert contacts_of(world) == [(contact,), (contact,)]
    assert {world.row(each).contact_id for each in ("s-1", "s-2")} == {contact}


@pytest.mark.parametrize("change", ["archived", "another phone"])
def test_a_contact_that_is_no_longer_of_the_phone_it_was_made_of_is_not_taken(world, change):
    two_of_one_phone(world)

    def changed():
        [made] = world.account.contacts
        if change == "archived":
            world.account.archive(made)
        else:
            world.account.edit(made, phone="5511955550199")

    world.account.steps.after("associate", changed)
    assert world.worker().run().endings == {"synced": 2}
    assert len(world.account.contacts) == 2


@pytest.mark.parametrize("reply", [REVOKED, LIMITED], ids=["breaker", "pause"])
@pytest.mark.parametrize("verb", ["find_deal", "update_deal", "create_deal"])
def test_an_account_that_rests_uses_up_no_try_and_blocks_no_row(world, reply, verb):
    world.start()
    world.turn()
    worker = world.worker()
    if verb == "create_deal":
        world.account.script.extend(["done", reply])
    else:
        worker.run()
        world.turn(intent="servico")
        (world.account.reads if verb == "find_deal" else world.account.script).append(reply)
    for session in ("s-2", "s-3"):
        world.pass_time(seconds=1)
        world.start(session, phone="551155550199")
        world.turn(session)

    report = worker.run()

    assert report.stopped == "account"
    assert report.rows == 1
    for session in ("s-1", "s-2", "s-3"):
        row = world.row(session)
        assert (row.status, row.attempts, row.creation_started) == ("PENDING", 0, "")
    asked = len(world.account.journal)
    assert world.worker().run().stopped == "account"
    assert len(world.account.journal) == asked, "another worker asked an account that rests"
    world.pass_time(minutes=5)
    assert world.worker().run().endings == {"synced": 3}


def test_one_worker_tries_an_account_again_and_the_others_wait(synced):
    synced.account.reads.append(REVOKED)
    synced.turn(intent="servico")
    worker = synced.worker()
    worker.run()
    synced.pass_time(minutes=5)
    synced.account.journal.clear()
    others = []
    synced.account.steps.before("pipeline", lambda: others.append(synced.worker().run()))
    synced.account.reads.append(REVOKED)

    worker.run()

    assert others[0].stopped == "account"
    assert [verb for verb, _ in synced.account.journal] == ["pipeline"]
    rest = worker.crm.control.rest(ORGANIZATION)
    assert (rest.why, rest.reason, rest.until) == (
        "breaker",
        "token_refused",
        "2026-03-20T12:10:00.000000Z",
    )


@pytest.mark.parametrize("wait_s", [30, 7_200])
def test_a_pause_that_meets_the_limit_of_the_day_says_so_and_a_shorter_one_changes_nothing(
    world, wait_s
):
    control = world.worker().crm.control
    control.refused(ORGANIZATION, replace(LIMITED, wait_s=wait_s))
    world.pass_time(seconds=5)
    control.refused(ORGANIZATION, replace(LIMITED, reason="limit_daily", wait_s=None))
    met = control.rest(ORGANIZATION)
    assert (met.why, met.reason, met.opened_at) == ("paused", "limit_daily", NOW)
    assert met.until == shift(NOW, timedelta(seconds=max(wait_s, 5 + DAILY_PAUSE_S)))

    control.refused(ORGANIZATION, LIMITED)
    assert control.rest(ORGANIZATION).reason == "limit_daily"


def test_an_account_that_is_tried_again_says_which_limit_it_met_then(synced):
    synced.account.reads.append(LIMITED)
    synced.turn(intent="servico")
    worker = synced.worker()
    worker.run()
    for reason in ("limit_daily", "limit_search"):
        synced.pass_time(hours=1)
        synced.account.reads.append(replace(LIMITED, reason=reason, wait_s=1_800))
        worker.run()
        assert worker.crm.control.rest(ORGANIZATION).reason == reason


def test_a_person_pauses_an_account_and_only_a_person_goes_on(synced):
    synced.turn(intent="servico")
    worker = synced.worker()
    worker.crm.control.pause(ORGANIZATION, operator="ana", reason="manutenção")
    synced.pass_time(days=2)

    assert worker.run().stopped == "account"
    rest = worker.crm.control.refused(ORGANIZATION, REVOKED)
    assert (rest.why, rest.until) == ("manual", "")
    assert synced.account.journal == []
    assert worker.crm.control.resume(ORGANIZATION)
    assert not worker.crm.control.resume(ORGANIZATION)
    assert worker.run().endings == {"synced": 1}


def test_an_account_that_says_nothing_of_itself_stops_the_run_and_no_row(synced):
    synced.turn(intent="servico")
    synced.account.reads.append(BUSY)

    assert synced.worker().run().stopped == "account"
    assert (synced.row().status, synced.row().attempts) == ("PENDING", 0)
    assert synced.worker().run().endings == {"synced": 1}


def test_a_disabled_mirror_does_nothing_and_loses_nothing(world):
    world.start()
    world.turn()

    report = world.worker(hubspot_enabled=False).run()

    assert (report.stopped, report.rows, world.account.journal) == ("disabled", 0, [])
    assert world.row().status == "PENDING"
    assert world.worker().run().endings == {"synced": 1}


def test_a_run_begins_no_row_after_its_budget(world):
    for number in range(3):
        world.start(f"s-{number}", phone=f"551195555014{number}")
        world.turn(f"s-{number}")
        world.pass_time(seconds=1)

    def slowly():
        world.seconds += 40

    world.account.steps.after("create_deal", slowly)
    world.account.steps.after("create_deal", slowly, n=2)

    report = world.worker().run(max_seconds=70)

    assert (report.stopped, report.endings) == ("budget", {"synced": 2})
    assert [world.row(f"s-{n}").status for n in range(3)] == ["SYNCED", "SYNCED", "PENDING"]


@pytest.mark.parametrize("error", [RuntimeError("a bug"), Unavailable("down")])
def test_what_one_row_meets_stops_no_other(world, error):
    for session in ("s-1", "s-2"):
        world.start(session, phone="5511955550142")
        world.turn(session)
        world.pass_time(seconds=1)

    def raises(_):
        raise error

    world.account.steps.instead("create_deal", raises)

    report = world.worker().run()

    assert report.endings == {"failed": 1, "synced": 1}
    assert world.row("s-1").creation_started
    assert world.lease("s-1") is not None, "lease and marker stand"
    world.pass_time(minutes=6)
    assert world.worker().run().endings == {"synced": 1}
    assert len(world.account.live()) == 2


@pytest.mark.parametrize("verb", ["create_contact", "create_deal", "update_deal", "find_deal"])
def test_a_lost_lease_is_the_end_of_writing(world, verb):
    world.start()
    world.turn()
    if verb in {"update_deal", "find_deal"}:
        world.worker().run()
        world.turn(state="QUALIFYING", intent="servico")
    before = len(world.events())
    recorded = []

    def lose():
        recorded.extend(world.events()[before:])
        world.give_lease_to_another()

    world.account.steps.after(verb, lose)
    writes = world.account.requests("update_deal", "create_deal")
    report = world.worker().run()

    assert report.endings == {"lease_lost": 1}
    assert world.events()[before:] == recorded
    sent = world.account.requests("update_deal", "create_deal") - writes
    assert sent == (verb in {"create_deal", "update_deal"})
    assert world.lease().attributes["token"] == "another"


def test_no_request_begins_so_late_that_it_could_outlive_the_lease(synced):
    synced.turn(intent="servico")
    synced.account.steps.after("find_deal", lambda: synced.pass_time(seconds=171))

    assert synced.worker().run().endings == {"lease_lost": 1}
    assert synced.account.requests("update_deal") == 0
    synced.pass_time(seconds=130)
    assert synced.worker().run().endings == {"synced": 1}


def test_an_operator_who_sets_a_row_right_meanwhile_is_not_overruled(synced):
    synced.turn(intent="servico")
    other = synced.account.create_deal({"name": "x", "key": "x"}, synced.row().contact_id).record
    synced.account.steps.after("update_deal", lambda: synced.act("s-1", "adopt", deal_id=other.id))

    assert synced.worker().run().endings == {"overtaken": 1}
    assert (synced.row().status, synced.row().deal_id) == ("PENDING", other.id)
    assert synced.worker().run().endings == {"synced": 1}


def test_other_writers_of_the_lead_are_given_way_eight_times(synced):
    synced.turn(intent="servico")
    worker = synced.worker()

    def others_write():
        synced.turn(intent=f"outro {synced.new_id()}")

    for n in range(1, 9):
        worker.log.steps.before("insert_events", others_write, n=n)
    with pytest.raises(Unavailable) as refused:
        worker.crm.sync_one(ORGANIZATION, synced.lead(), "s-1")

    assert refused.value.code == "crm_sync_concurrent_update"
    assert worker.log.steps.calls["insert_events"] == 8


@pytest.mark.parametrize("stands", ["confirmed", "later", "blocked"])
def test_a_list_that_is_late_is_only_a_hint(synced, stands):
    stale = Row(
        keys.crm_sync("s-1"),
        {"leadOrganizationId": synced.lead()},
        gsi1=(keys.crm_statuses(ORGANIZATION, "PENDING"), "2026-03-20T11:00:00.000000Z#s-1"),
    )
    worker = synced.worker()
    if stands != "confirmed":
        synced.turn(intent="servico")
        worker.run()
        synced.turn(intent="outro")
        archived = Reply(kind=Kind.REFUSED, reason="request_refused")
        synced.account.reads = [BUSY if stands == "later" else archived]
        worker.run()
        synced.account.journal.clear()
    worker.log.steps.change("query_index", lambda page: page._replace(items=[stale]))

    assert worker.run().endings == {"nothing": 1}
    assert synced.account.requests("find_deal", "update_deal") == 0
    assert synced.lease() is None


def test_nobody_but_a_person_moves_a_blocked_row(synced):
    synced.account.archive(deal(synced).id)
    synced.turn(intent="servico")
    synced.worker().run()

    synced.pass_time(days=9)
    assert synced.worker().run().rows == 0
    assert synced.worker().crm.sync_one(ORGANIZATION, synced.lead(), "s-1") == "nothing"
    assert synced.row().status == "BLOCKED"


def test_of_two_that_take_a_lease_at_once_one_has_it(table):
    for now in ("2026-03-20T12:00:00.000000Z", "2026-03-20T12:05:00.000001Z"):
        slow = Steps()
        slow.before("put", partial(taken, table, f"fast {now}", now))

        store = SteppingTable(table, slow)
        assert leases.take(store, "s-1", token=f"slow {now}", now=now) is None
        assert table.get(keys.crm_lease("s-1")).attributes["token"] == f"fast {now}"


def test_what_was_sent_outlives_the_holder_who_died_and_goes_when_it_is_settled(table):
    first = taken(table, "first", "2026-03-20T12:00:00.000000Z")
    noted = leases.remember(table, first, ["a", "b"])
    assert noted is not None
    assert leases.remember(table, noted, ["a"]) is noted

    second = taken(table, "second", "2026-03-20T12:06:00.000000Z")
    assert second.sent == {"a", "b"}
    assert leases.remember(table, noted, ["c"]) is None
    assert not leases.give_back(table, noted, settled=True)
    assert leases.give_back(table, second, settled=False)
    third = taken(table, "third", "2026-03-20T12:06:01.000000Z")
    assert third.sent == {"a", "b"}
    assert leases.give_back(table, third, settled=True)
    assert table.get(keys.crm_lease("s-1")) is None


def test_another_organization_s_row_is_none(synced):
    synced.turn(intent="servico")

    assert synced.worker().crm.sync_one("org-two", synced.lead(), "s-1") == "nothing"


def test_what_is_due_is_worked_on_oldest_first(world):
    for session, wait in (("s-b", 3), ("s-a", 2), ("s-c", 1)):
        world.start(session, phone="5511955550142")
        world.turn(session)
        world.pass_time(seconds=wait)

    world.worker().run()

    made = [sent["key"] for verb, sent in world.account.journal if verb == "create_deal"]
    assert made == ["test:s-b", "test:s-a", "test:s-c"]


def test_a_rebuild_changes_no_pending_work_and_opens_no_socket(world, backend):
    world.start("s-1")
    world.turn("s-1")
    world.worker().run()
    world.turn("s-1", intent="servico")
    world.start("s-2", phone="5511955550143")
    world.turn("s-2")
    world.account.script.extend(["done", "lost"])
    world.worker().crm.sync_one(ORGANIZATION, world.lead("s-2"), "s-2")
    before = {each: world.row(each) for each in ("s-1", "s-2")}
    due = list(world.worker().crm.due(ORGANIZATION, "9"))
    asked = len(world.account.journal)

    with connections() as opened:
        maintenance = Maintenance(world.log)
        for lead in list(maintenance.leads(ORGANIZATION)):
            maintenance.rebuild(lead)

    assert {each: world.row(each) for each in before} == before
    assert {row.status for row in before.values()} == {"PENDING", "UNCERTAIN"}
    assert list(world.worker().crm.due(ORGANIZATION, "9")) == due
    assert len(world.account.journal) == asked
    if backend.name == "sqlite":
        assert opened == []


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("operation", [*WRITES, *READS])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_worker_may_die_at_any_call(tmp_path, subtests, story, operation, when):
    with sqlite_backend(tmp_path) as backend:
        check_deaths(backend, subtests, story, operation, when)


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("operation", WRITES)
def test_what_a_dead_worker_wrote_is_no_loss_on_any_store(backend, subtests, story, operation):
    check_deaths(backend, subtests, story, operation, "after")


def check_deaths(backend, subtests, story, operation, when):
    """Let a worker die at each call of an operation, one world after the other."""
    for n in range(1, 30):
        world = CrmWorld(backend, organization=f"org-{n}")
        session = f"{world.organization}-{story}-{operation}"
        tell(world, session, story)
        worker = world.worker()
        steps = worker.log.steps if operation in OF_THE_STORE else world.account.steps
        getattr(steps, when)(operation, die, n=n)
        if survives(worker.run):
            break
        with subtests.test(call=n):
            settle(world)
            row = world.row(session)
            assert row.status == "SYNCED"
            assert [each.id for each in world.account.live()] == [row.deal_id]
            assert len(world.account.contacts) == 1
            assert world.account.deals[row.deal_id].properties["intent"] == "servico"


def taken(table, token, now):
    lease = leases.take(table, "s-1", token=token, now=now)
    assert lease is not None
    return lease


def tell(world, session, story):
    world.start(session)
    world.turn(session, intent="primeiro")
    if story == "update":
        world.worker().run()
    if story == "uncertain":
        world.account.script.extend(["done", "lost"])
        world.worker().run()
        world.pass_time(minutes=2)
    world.turn(session, intent="servico")


def settle(world):
    for _ in range(6):
        world.pass_time(minutes=6)
        world.worker().run()


def die():
    raise Died


def minutes_between(earlier, later):
    return (to_datetime(later) - to_datetime(earlier)).total_seconds() / 60

"""What a run of the mirror reports of doubt, answers and failures, and what is counted of it."""

import pytest

from domain.crm.replies import Kind, Reply
from handlers.crm.metrics import Totals, of_runs
from handlers.crm.standing import look
from tests.support.backends import sqlite_backend
from tests.support.crm_world import CrmWorld


@pytest.fixture
def world(tmp_path):
    with sqlite_backend(tmp_path) as backend:
        made = CrmWorld(backend)
        made.start()
        made.turn()
        yield made


def counted(*reports):
    did = Totals()
    for each in reports:
        did.add(each)
    told = {}
    for each in of_runs(did):
        told[f"{each.name}.{each.label[1]}" if each.label else each.name] = each.values[0]
    return {name: value for name, value in told.items() if value and name != "Runs"}


def test_every_request_is_counted_once_by_what_its_answer_meant(world):
    report = world.worker().run()
    asked = world.account.requests() - world.account.requests("pipeline", "has_unique_key")

    assert report.answers.total() == report.requests == asked
    assert report.requests_each == [asked]
    assert report.answers["ABSENT"] > 0
    assert report.answers["DONE"] > 0
    # What went well at once was no doubt, and is none that was resolved.
    assert not report.resolved


def test_each_row_is_told_by_the_requests_it_took_itself(world):
    world.start("s-2", phone="5511955550143", name="Bia Souza")
    world.turn("s-2")
    report = world.worker().run()

    assert len(report.requests_each) == len(report.waits_s) == 2
    assert sum(report.requests_each) == report.requests


def test_a_deal_that_was_found_after_all_is_a_doubt_resolved(world):
    world.account.script = ["done", "lost"]
    doubtful = world.worker().run()
    world.pass_time(minutes=5)
    healed = world.worker().run()

    assert counted(doubtful) == {
        "HttpClass.absent": doubtful.answers["ABSENT"],
        "HttpClass.done": doubtful.answers["DONE"],
        "HttpClass.ambiguous": 1,
        "Rows.uncertain": 1,
    }
    told = counted(healed)
    assert told["Reconciled.found"] == 1
    assert "Reconciled.reposted" not in told
    assert "DuplicatePrevented" not in told
    assert len(world.account.live()) == 1


def test_a_creation_that_never_arrived_is_one_that_was_sent_again(world):
    world.account.script = ["done", Reply(kind=Kind.AMBIGUOUS, reason="timeout")]
    world.worker().run()
    world.pass_time(minutes=5)
    told = counted(world.worker().run())

    assert told["Reconciled.reposted"] == 1
    assert "Reconciled.found" not in told


def test_a_second_deal_that_the_account_refused_is_counted_as_one_that_was_prevented(world):
    account = world.account
    account.script = ["done", Reply(kind=Kind.AMBIGUOUS, reason="timeout")]
    world.worker().run()
    [sent] = [properties for verb, properties in account.journal if verb == "create_deal"]
    # The first one arrives when it has just been looked for, and is about to be sent again.
    account.steps.before("create_deal", lambda: account._create(account.deals, sent, ("key",)))
    world.pass_time(minutes=1)
    told = counted(world.worker().run())

    assert told["DuplicatePrevented"] == 1
    assert told["HttpClass.conflict"] == 1
    assert len(account.live()) == 1


def test_an_archived_deal_is_told_apart_from_one_that_was_found(world):
    world.account.script = ["done", "lost"]
    world.worker().run()
    [deal] = world.account.live()
    world.account.archive(deal.id)
    world.pass_time(minutes=5)
    told = counted(world.worker().run())

    assert told["Reconciled.archived"] == 1
    assert told["Rows.blocked"] == 1


def test_a_row_that_others_write_to_all_the_time_is_counted_by_why_it_failed(world):
    worker = world.worker()
    for number in range(1, 9):
        worker.log.steps.before("insert_events", world.turn, n=number)
    report = worker.run()

    assert counted(report)["CasExhausted"] == 1
    assert report.failures == {"crm_sync_concurrent_update": 1}


def test_what_people_changed_and_what_was_refused_is_counted(world):
    world.worker().run()
    [deal] = world.account.live()
    world.account.edit(deal.id, name="Ana de Souza")
    world.turn(segment="PESQUISA")
    world.account.script = [Reply(kind=Kind.INVALID, reason="validation", invalid=("segment",))]
    told = counted(world.worker().run())

    assert (told["HumanOverride"], told["Quarantined"]) == (1, 1)


def test_a_run_that_is_out_of_time_says_so(world):
    assert counted(world.worker().run(max_seconds=0)) == {"RunBudgetExhausted": 1}


def test_an_account_that_rests_is_told_from_what_stands(world):
    world.account.reads = [Reply(kind=Kind.BREAKER, reason="token_refused", status=401)]
    worker = world.worker()
    worker.run()
    now = look(worker.crm.control, [world.organization])

    assert (now.breakers, now.paused_s, now.pending) == (1, 0.0, 1)
    worker.crm.control.pause(world.organization, operator="ana", reason="x")
    world.pass_time(seconds=90)
    now = look(worker.crm.control, [world.organization])
    assert (now.breakers, now.paused_s, now.oldest_runnable_s) == (0, 90.0, 90.0)

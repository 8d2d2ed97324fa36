"""What is measured of the mirror, from its rows and from what runs report."""

from collections import Counter

import pytest

from domain.conversation.states import State
from domain.crm.replies import Kind
from domain.crm.sync import CrmSync
from handlers.crm.control import Rest
from handlers.crm.metrics import (
    ENDINGS,
    Standing,
    Totals,
    of_confirmed,
    of_runs,
    of_standing,
    standing,
)
from handlers.crm.tally import Tally
from handlers.crm.visiting import ConcurrentUpdate
from handlers.crm.worker import RunReport

NOW = "2026-03-20T12:00:00.000000Z"
TEN_MINUTES_AGO = "2026-03-20T11:50:00.000000Z"
AN_HOUR_AGO = "2026-03-20T11:00:00.000000Z"
LATER = "2026-03-20T12:05:00.000000Z"


def row(status, *, since="", **more):
    told = {"updated_at": NOW, **more}
    return CrmSync(
        session_id="s",
        organization_id="default",
        state=State.TRIAGE,
        status=status,
        pending_since=since,
        **told,
    )


def rest(why, opened_at=TEN_MINUTES_AGO):
    return Rest(why=why, reason="said", opened_at=opened_at, until="")


def by_name(measures):
    return {(each.name, each.label and each.label[1]): each.values for each in measures}


def test_a_mirror_without_work_stands_at_zero_everywhere():
    assert standing([], [], NOW) == Standing()
    assert {each.values for each in of_standing(Standing())} == {(0.0,)}


def test_rows_are_counted_by_status_and_confirmed_ones_are_no_problem():
    rows = [
        *[row("PENDING", since=NOW)] * 2,
        *[row("BLOCKED", since=NOW)] * 3,
        *[row("UNCERTAIN", since=NOW, next_attempt_at=LATER)] * 4,
        *[row("SYNCED", updated_at=AN_HOUR_AGO, verify_after=LATER)] * 5,
    ]
    now = standing(rows, [], NOW)

    assert (now.pending, now.blocked, now.uncertain, now.verifying) == (2, 3, 4, 5)
    assert (now.oldest_pending_s, now.oldest_runnable_s) == (0.0, 0.0)


@pytest.mark.parametrize("status", ["BLOCKED", "UNCERTAIN"])
def test_one_row_that_waits_for_a_person_makes_the_seeds_age_grow_and_not_that_of_the_work(status):
    now = standing([row(status, since=AN_HOUR_AGO), row("PENDING", since=TEN_MINUTES_AGO)], [], NOW)

    assert now.oldest_pending_s == 3600.0
    assert now.oldest_runnable_s == 600.0


def test_a_row_that_does_not_say_since_when_is_as_old_as_its_last_change():
    now = standing([row("BLOCKED", updated_at=TEN_MINUTES_AGO)], [], NOW)

    assert now.oldest_pending_s == 600.0


def test_what_a_process_with_a_clock_ahead_wrote_is_not_younger_than_nothing():
    now = standing([row("PENDING", since=LATER)], [rest("paused", LATER)], NOW)

    assert (now.oldest_runnable_s, now.paused_s) == (0.0, 0.0)


def test_a_doubt_that_nothing_looks_into_by_itself_is_one_for_people():
    rows = [row("UNCERTAIN", since=NOW), row("UNCERTAIN", since=NOW, next_attempt_at=LATER)]

    assert standing(rows, [], NOW).for_people == 1


@pytest.mark.parametrize("why", ["paused", "manual"])
def test_a_pause_is_told_by_its_age_and_opens_no_breaker(why):
    now = standing([], [rest(why), rest(why, NOW)], NOW)

    assert (now.paused_s, now.breakers) == (600.0, 0)


def test_a_breaker_is_counted_and_is_no_pause():
    now = standing([], [rest("breaker")], NOW)

    assert (now.paused_s, now.breakers) == (0.0, 1)


def test_the_numbers_of_the_seed_keep_their_names():
    told = Standing(pending=1, blocked=2, uncertain=3, oldest_pending_s=4.5)
    named = {name: values for (name, _), values in by_name(of_standing(told)).items()}

    assert named["Pending"] == (1.0,)
    assert named["Blocked"] == (2.0,)
    assert named["Uncertain"] == (3.0,)
    assert named["OldestPendingSeconds"] == (4.5,)
    units = {each.name: each.unit for each in of_standing(told)}
    assert {name for name, unit in units.items() if unit == "Seconds"} == {
        "OldestPendingSeconds",
        "OldestRunnableSeconds",
        "PausedSeconds",
    }


def report(**more):
    told = {
        "stopped": "budget",
        "endings": Counter(synced=2, lease_lost=3, failed=4),
        "answers": Counter({"DONE": 5, "TRANSIENT": 6}),
        "resolved": Counter(found=7, archived=8, reposted=9, adopted=10),
        "failures": Counter({ConcurrentUpdate.code: 1, "unavailable": 3}),
        "kept_by_people": 11,
        "quarantined": 12,
        "waits_s": [4.0, 70.0],
        "requests_each": [3, 5],
    }
    return RunReport(**{**told, **more})


def totals(*reports):
    did = Totals()
    for each in reports:
        did.add(each)
    return did


def test_everything_a_run_reports_has_its_number():
    told = by_name(of_runs(totals(report())))

    assert told["Runs", None] == (1,)
    assert told["RunBudgetExhausted", None] == (1,)
    assert told["LeaseLost", None] == (3,)
    assert told["CasExhausted", None] == (1,)
    assert told["DuplicatePrevented", None] == (10,)
    assert told["HumanOverride", None] == (11,)
    assert told["Quarantined", None] == (12,)
    assert [told["Reconciled", how] for how in ("found", "archived", "reposted")] == [
        (7,),
        (8,),
        (9,),
    ]
    assert (told["HttpClass", "done"], told["HttpClass", "transient"]) == ((5,), (6,))
    assert (told["Rows", "synced"], told["Rows", "failed"]) == ((2,), (4,))
    assert all(each.adds for each in of_runs(totals(report())))


def test_numbers_that_tell_kinds_apart_name_every_kind_there_is():
    told = by_name(of_runs(Totals()))

    assert {label for name, label in told if name == "HttpClass"} == {str(k).lower() for k in Kind}
    assert {label for name, label in told if name == "Rows"} == set(ENDINGS)
    assert set(told.values()) == {(0,)}


def test_a_run_that_left_nothing_does_not_count_as_cut_short():
    told = by_name(of_runs(totals(report(stopped=""), report(stopped="account"))))

    assert (told["Runs", None], told["RunBudgetExhausted", None]) == ((2,), (0,))


def test_each_confirmed_row_is_an_observation_of_its_own():
    latency, requests = of_confirmed(report())

    assert (latency.name, latency.unit, latency.values) == (
        "SyncLatencySeconds",
        "Seconds",
        (4.0, 70.0),
    )
    assert (requests.name, requests.unit, requests.values) == (
        "RequestsPerSync",
        "Count",
        (3.0, 5.0),
    )


def test_a_process_adds_up_its_runs_and_knows_when_the_last_one_was():
    tally = Tally()
    tally.add(report(), AN_HOUR_AGO)
    tally.add(report(), NOW)
    told = by_name(tally.measures())
    latency, requests = tally.histograms()

    assert told["Runs", None] == (2,)
    assert told["HttpClass", "done"] == (10,)
    assert told["LastRunTimestampSeconds", None] == (1774008000.0,)
    # 4 s are in the first bucket, 70 s in the one up to 120; each twice.
    assert (latency.counts, latency.total) == ((2, 0, 0, 0, 2, 0, 0, 0, 0), 148.0)
    assert (requests.counts, requests.total) == ((0, 0, 2, 2, 0, 0, 0), 16.0)


def test_a_process_without_a_run_says_so():
    told = by_name(Tally().measures())

    assert (told["Runs", None], told["LastRunTimestampSeconds", None]) == ((0,), (0.0,))

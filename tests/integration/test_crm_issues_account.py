"""Failures that others have met in public with an account as a whole: over real sockets, what must not happen.

Source: research/crm.md §3. Each test has the name of the report, and asserts what stands in the account.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from structlog.testing import capture_logs

from adapters.hubspot.pacing import Pacer
from handlers.crm.acts import Acted, Ask
from handlers.simulators.hubspot import (
    DAILY_LIMITED,
    DEALS,
    SCOPES,
    STAGES,
    Access,
    Drop,
)
from tests.support.crm_deployment import deployed

EIGHT = tuple(f"s-{number}" for number in range(8))
PIPELINES = "/crm/pipelines/*"


def answered(world, *sessions):
    for session in sessions:
        world.start(session)
        world.turn(session)


def rests(logs):
    return [each for each in logs if each["event"] == "crm_account_rests"]


def limited(world):
    return [each for each in world.hubspot.journal if each.status == 429]


# Row 21: HubSpot/hubspot-api-nodejs#416 and #256, singer-io/tap-hubspot#93.
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_issue_hubspot_api_nodejs_416_a_limit_is_met_once_by_each_worker(tmp_path, workers):
    with deployed(tmp_path, burst=25) as world:
        answered(world, *EIGHT)
        # Nobody paces them: what is left is what the account itself says.
        mirrors = [world.mirror(world.adapter()) for _ in range(workers)]
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(world.run, mirrors))

        assert 1 <= len(limited(world)) <= workers
        rows = [world.row(each) for each in EIGHT]
        assert {row.attempts for row in rows} == {0}
        assert {row.status for row in rows} <= {"PENDING", "SYNCED"}
        asked = len(world.hubspot.journal)
        assert [world.run(mirror).stopped for mirror in mirrors] == ["account"] * workers
        assert len(world.hubspot.journal) == asked
        for _ in range(3):
            world.pass_time(seconds=11)
            world.run(mirrors[0])
        assert world.statuses(*EIGHT) == ["SYNCED"] * len(EIGHT)
        assert len(world.hubspot.deals()) == len(EIGHT)


# Row 21, and more than 100 rows a minute inside 100 requests in 10 s.
def test_issue_hubspot_api_nodejs_256_many_rows_go_out_below_the_limits_of_the_account(tmp_path):
    with deployed(tmp_path, burst=100, searches=5, lag_s=(0.0, 0.0)) as world:
        sessions = [f"s-{number:03d}" for number in range(120)]
        for number, session in enumerate(sessions):
            world.start(session, phone=f"55119{85550000 + number}")
            world.turn(session)
        waited = [0.0]

        def sleep(seconds):
            waited[0] += seconds
            world.pass_time(seconds=seconds)

        crm = world.adapter(Pacer(lambda: waited[0], sleep))
        report = world.run(world.mirror(crm))

        assert report.endings == {"synced": len(sessions)}
        assert limited(world) == []
        assert len(world.hubspot.deals()) == len(world.hubspot.contacts()) == len(sessions)
        assert len(sessions) / (waited[0] / 60) > 100
        assert waited[0] > 0, "nobody had to wait, so nothing was shown"


# Row 22: NangoHQ/nango#4046.
def test_issue_nango_4046_the_limit_of_a_day_is_tried_once_an_hour(tmp_path):
    with deployed(tmp_path) as world:
        world.synced("s-1")
        world.turn("s-1", intent="servico")
        world.hubspot.configure(daily=0)
        for _ in range(36):
            world.run()
            world.pass_time(minutes=5)

        assert len(limited(world)) == len(world.hubspot.journal) == 3
        assert (world.row("s-1").status, world.row("s-1").attempts) == ("PENDING", 0)
        world.hubspot.configure(daily=10**6)
        world.pass_time(hours=1)
        assert world.run().endings == {"synced": 1}


# Row 22, where a day's limit is met in the middle of a run.
def test_issue_nango_4046_the_limit_of_a_day_is_told_from_that_of_ten_seconds(tmp_path):
    with deployed(tmp_path) as world:
        answered(world, "s-1")
        world.hubspot.script(DAILY_LIMITED, path="/crm/objects/*")
        with capture_logs() as logs:
            assert world.run().endings == {"paused": 1}
        world.pass_time(minutes=30)

        assert [each["code"] for each in rests(logs)] == ["limit_daily"]
        assert world.run().stopped == "account"
        assert len(world.asked()) == 1
        world.pass_time(minutes=31)
        assert world.run().endings == {"synced": 1}


REVOKED = (Access(token="another"),)
EXPIRED = (Access(expired_at="2026-01-01T00:00:00.000000Z"),)
UNSCOPED = (Access(scopes=SCOPES - {"crm.objects.deals.write"}),)


# Row 23: supaglue-labs/supaglue#1945, airbytehq/airbyte#62467, airbytehq/airbyte#74726.
@pytest.mark.parametrize(
    ("access", "reason"),
    [
        pytest.param(REVOKED, "token_refused", id="supaglue_1945"),
        pytest.param(EXPIRED, "token_expired", id="airbyte_62467"),
        pytest.param(UNSCOPED, "scopes_missing", id="airbyte_74726"),
    ],
)
def test_issue_supaglue_1945_a_token_that_is_refused_is_one_alarm(tmp_path, access, reason):
    with deployed(tmp_path) as world:
        world.synced("s-first")
        whole = world.hubspot.setup.access
        answered(world, *EIGHT)
        world.hubspot.configure(access=access)
        with capture_logs() as logs:
            first = world.run()
            others = [world.run().stopped for _ in range(4)]

        assert (first.rows, first.stopped, others) == (1, "account", ["account"] * 4)
        assert [(each["kind"], each["code"]) for each in rests(logs)] == [("breaker", reason)]
        assert len([each for each in world.hubspot.journal if each.status in {401, 403}]) == 1
        rows = [world.row(each) for each in EIGHT]
        assert {(row.status, row.attempts) for row in rows} == {("PENDING", 0)}

        world.hubspot.configure(access=whole)
        world.pass_time(minutes=6)
        assert world.run().endings == {"synced": len(EIGHT)}
        assert len(world.hubspot.deals()) == len(EIGHT) + 1


# Row 26: airbytehq/airbyte#19838.
def test_issue_airbyte_19838_an_archived_deal_is_found_though_nothing_of_it_changed(tmp_path):
    with deployed(tmp_path) as world:
        world.synced(*EIGHT)
        deal = world.deal("s-2")
        world.pass_time(days=30)
        world.hubspot.people.archive(DEALS, deal.id)

        [gone] = world.hubspot.deals(archived=True)
        assert gone.updated_at == deal.updated_at
        report = world.diagnosed()
        assert [(each.kind, each.deal_id) for each in report.drifts] == [("archived", deal.id)]
        reads = world.asked("POST", "*/deals/batch/read")
        assert [each.query.get("archived") for each in reads] == [None, "true"]
        assert world.hubspot.journal.writes == []


# Row 29: fivetran/dbt_hubspot_source#93.
def test_issue_dbt_hubspot_source_93_a_stage_that_was_deleted_is_named_and_never_written(tmp_path):
    with deployed(tmp_path) as world:
        world.synced(*EIGHT)
        world.hubspot.people.remove_stage(STAGES["finalizado"])
        for session in EIGHT:
            world.end(session)
        mirror = world.mirror()
        assert world.run(mirror).endings == {"blocked": len(EIGHT)}

        assert {world.row(each).blocked_reason for each in EIGHT} == {"stage_missing"}
        assert world.row("s-1").last_error["detail"] == "stage: finalizado"
        assert world.asked() == []
        world.run(mirror)
        assert len(world.hubspot.journal.of("GET", PIPELINES)) == 1


# Row 29, a stage that only has another name.
def test_issue_dbt_hubspot_source_93_a_stage_that_was_renamed_is_the_same(tmp_path):
    with deployed(tmp_path) as world:
        world.synced()
        stage = STAGES["finalizado"]
        renamed = httpx2.patch(
            f"{world.hubspot.url}/crm/pipelines/2026-09/deals/default/stages/{stage}",
            headers={"Authorization": f"Bearer {world.hubspot.token}"},
            json={"label": "Venda feita"},
            trust_env=False,
        )
        assert renamed.json()["label"] == "Venda feita"
        world.end()

        assert world.run(world.mirror()).endings == {"synced": 1}
        assert world.deal().values["dealstage"] == stage


# Row 31: HubSpot/hubspot-api-python#331.
@pytest.mark.parametrize("configured", [0, 0.01, 1])
def test_issue_hubspot_api_python_331_an_account_that_never_answers_holds_nobody(
    tmp_path, configured
):
    with deployed(tmp_path) as world:
        mirror = world.mirror(hubspot_timeout_seconds=configured)
        world.run(mirror)
        answered(world, "s-1", "s-2")
        # For longer than any test lasts: only who gives up goes on.
        world.hubspot.script(Drop(hang_s=86_400.0), path="/crm/objects/*")
        endings: dict[str, int] = {}
        working = threading.Thread(target=lambda: endings.update(world.run(mirror).endings))
        working.daemon = True
        working.start()
        working.join(60)

        assert endings == {"deferred": 1, "synced": 1}
        assert world.statuses("s-1", "s-2") == ["PENDING", "SYNCED"]
        assert len(world.hubspot.deals()) == 1


# Row 32: HubSpot's changelog, write validation of 2026-09 and property rules of 2023.
@pytest.mark.parametrize("required", ["dealtype", "amount"])
def test_issue_hubspot_changelog_2026_09_what_an_administrator_requires_is_named(
    tmp_path, required
):
    with deployed(tmp_path, required={DEALS: (required,)}) as world:
        answered(world, *EIGHT)
        assert world.run().endings == {"blocked": len(EIGHT)}
        rows = [world.row(each) for each in EIGHT]
        assert {row.blocked_reason for row in rows} == {"validation"}
        assert all(required in row.last_error["detail"] for row in rows)
        assert [row.creation_started for row in rows] == [""] * len(EIGHT)
        assert world.hubspot.deals() == []
        world.pass_time(days=1)
        assert world.run().rows == 0

        world.hubspot.configure(required={})
        operators = world.operators()
        ask = Ask(operator="ana", reason="Regra retirada no CRM", apply=True)
        found = operators.blocked(world.organization, "validation")
        acted = list(operators.retry_many(world.organization, found, ask))
        assert [type(each) for each in acted] == [Acted] * len(EIGHT)
        assert world.run().endings == {"synced": len(EIGHT)}
        assert len(world.hubspot.deals()) == len(EIGHT)


# Not of a report, but of the mirror's promises: what a change costs in the steady state.
@pytest.mark.parametrize("said", [{"intent": "servico"}, {"qualification_data": '{"a":"b"}'}])
def test_a_change_of_a_deal_takes_three_requests_at_most(tmp_path, said):
    with deployed(tmp_path) as world:
        world.synced(*EIGHT)
        for session in EIGHT:
            world.turn(session, state="QUALIFYING", **said)
            world.ask_for_people(session)
        report = world.run()

        assert report.endings == {"synced": len(EIGHT)}
        assert len(world.hubspot.journal) == report.requests <= 3 * len(EIGHT)
        assert len(world.asked("PATCH")) == len(EIGHT)

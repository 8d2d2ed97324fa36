"""The mirror's function on Lambda, called plainly, on a real SQLite file and a HubSpot on loopback."""

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from adapters.clock import utc_now
from domain.errors import Rejected
from handlers.bootstrap import build
from handlers.crm.standing import look
from handlers.crm.worker import CrmSyncProcessor
from handlers.entrypoints.lambdas import crm
from handlers.settings import read_settings
from handlers.simulators.hubspot import FAILING, STAGES, HubSpot, Setup
from tests.support.lambdas import cold_containers
from tests.support.mirrored import NAME, PHONE, row, say, to_be_mirrored
from tests.support.processes import environment

STAGE_VARIABLES = {f"HUBSPOT_STAGE_{name.upper()}": value for name, value in STAGES.items()}
STORE = {"LEADS_STORE": "sqlite", "LEADS_DB": "leads.db"}
ENDED: dict[str, Any] = {"channel": "whatsapp", "message_count": 2, "duration_seconds": 60}
LEFT_OUT = ("LEADS_WHATSAPP", "LEADS_OPENAI", "LEADS_QUEUE", "LEADS_MODEL", "POWERTOOLS_")


class Context:
    """What Lambda tells a function of itself."""

    function_name = "leads-crm-test"


@pytest.fixture
def hubspot():
    with HubSpot(Setup(), random=Random(7), now=utc_now) as account:
        yield account


@pytest.fixture(autouse=True)
def cold(tmp_path, monkeypatch, hubspot):
    monkeypatch.chdir(tmp_path)
    for name in (*STAGE_VARIABLES, "HUBSPOT_ENABLED"):
        monkeypatch.delenv(name, raising=False)
    variables = {
        **STORE,
        **STAGE_VARIABLES,
        "HUBSPOT_TOKEN": hubspot.token,
        "HUBSPOT_URL": hubspot.url,
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with cold_containers():
        yield
        crm.close_all()


@pytest.fixture
def app():
    made = build(read_settings())
    yield made
    made.close()


@pytest.fixture
def run(capsys):
    """Call the function; return its answer, what CloudWatch makes of it, and what it logged."""

    def run(context=None):
        answer = crm.lambda_handler({}, context or Context())
        told = capsys.readouterr()
        documents = [json.loads(line) for line in told.out.splitlines()]
        return answer, documents, told.err

    return run


def numbers(document):
    """Return what CloudWatch records of a document: the values of the metrics it names, as lists."""
    [stated] = document["_aws"]["CloudWatchMetrics"]
    return {each["Name"]: document[each["Name"]] for each in stated["Metrics"]}


def test_a_minute_of_the_function_mirrors_what_is_due_and_tells_how_it_stands(app, hubspot, run):
    to_be_mirrored(app, "s-1")
    answer, [document], _ = run()
    [stated] = document["_aws"]["CloudWatchMetrics"]
    told = numbers(document)

    assert answer == {"synced": 1}
    assert [deal.values["dealstage"] for deal in hubspot.deals()] == [STAGES["atendimento_humano"]]
    assert (stated["Namespace"], stated["Dimensions"]) == ("GoGenetic/CRM", [["FunctionName"]])
    assert document["FunctionName"] == "leads-crm-test"
    assert [told[name] for name in ("Pending", "Blocked", "Uncertain", "OldestPendingSeconds")] == [
        [0.0]
    ] * 4
    assert (told["Runs"], told["RowsSynced"]) == ([1.0], [1.0])
    [requests] = told["RequestsPerSync"]
    assert told["HttpClassDone"][0] + told["HttpClassAbsent"][0] == requests
    assert len(told["SyncLatencySeconds"]) == 1


def test_every_minute_tells_of_itself_alone(app, run):
    to_be_mirrored(app, "s-1")
    run()
    answer, [document], _ = run()
    told = numbers(document)

    assert answer == {}
    assert told["Runs"] == [1.0]
    assert not {"RowsSynced", "HttpClassDone", "RequestsPerSync"} & told.keys()


def test_rows_that_wait_are_told_by_their_age(app, hubspot, run):
    hubspot.script(FAILING, path="*/objects/*", times=100)
    to_be_mirrored(app, "s-1", age_s=1000)
    answer, [document], _ = run()
    told = numbers(document)

    assert answer == {"deferred": 1}
    assert told["Pending"] == [1.0]
    assert told["OldestPendingSeconds"] == told["OldestRunnableSeconds"]
    assert 1000 <= told["OldestRunnableSeconds"][0] < 2000
    assert told["HttpClassTransient"] == [1.0]


def test_what_is_left_of_the_accounts_day_is_told_once_the_account_told_it(app, monkeypatch, run):
    with HubSpot(Setup(daily=40), random=Random(7), now=utc_now) as small:
        monkeypatch.setenv("HUBSPOT_URL", small.url)
        monkeypatch.setenv("HUBSPOT_TOKEN", small.token)
        _, [before], _ = run()
        to_be_mirrored(app, "s-1")
        _, [after], _ = run()
        asked = len(list(small.journal))
    [stated] = after["_aws"]["CloudWatchMetrics"]
    units = {each["Name"]: each["Unit"] for each in stated["Metrics"]}

    assert "DailyRequestsLeftPercent" not in numbers(before)
    assert numbers(after)["DailyRequestsLeftPercent"] == [pytest.approx(100 - asked * 2.5)]
    assert units["DailyRequestsLeftPercent"] == "Percent"


def test_a_token_that_was_revoked_opens_the_breaker_and_blocks_no_row(app, monkeypatch, run):
    to_be_mirrored(app, "s-1")
    monkeypatch.setenv("HUBSPOT_TOKEN", "revoked")
    _, [document], _ = run()
    told = numbers(document)

    assert (told["BreakerOpen"], told["Blocked"], told["Pending"]) == ([1.0], [0.0], [1.0])


def test_a_stage_that_is_missing_blocks_its_row_without_a_request_for_it(
    app, hubspot, monkeypatch, run
):
    monkeypatch.delenv("HUBSPOT_STAGE_ATENDIMENTO_HUMANO")
    to_be_mirrored(app, "s-1")
    _, [document], _ = run()

    assert numbers(document)["Blocked"] == [1.0]
    assert row(app, "s-1").blocked_reason == "stage_configuration_invalid"
    assert hubspot.contacts() == hubspot.deals() == []


@pytest.mark.parametrize("token", ["", "token-de-acesso"])
def test_a_mirror_that_is_switched_off_asks_nothing_loses_nothing_and_still_counts(
    app, hubspot, monkeypatch, run, token
):
    monkeypatch.setenv("HUBSPOT_ENABLED", "false")
    monkeypatch.setenv("HUBSPOT_TOKEN", token)
    to_be_mirrored(app, "s-1")
    answer, [document], _ = run()

    assert answer == {}
    assert numbers(document)["Pending"] == [1.0]
    assert list(hubspot.journal) == []
    assert row(app, "s-1").status == "PENDING"


def test_the_namespace_is_the_deployments(app, monkeypatch, run):
    monkeypatch.setenv("LEADS_CRM_METRICS_NAMESPACE", "Acme/Mirror")
    _, [document], _ = run()

    assert document["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Acme/Mirror"


def test_observations_beyond_what_one_document_may_hold_are_in_the_next(app, run, monkeypatch):
    for number in range(120):
        to_be_mirrored(app, f"s-{number}")
        # Ended before there was a deal: confirmed without a request, so many fit into one run.
        say(app, f"s-{number}", "conversation_ended", outcome="resolved", **ENDED)
    answer, documents, _ = run()
    told = [numbers(each) for each in documents]

    assert answer == {"synced": 120}
    assert sum(len(each.get("SyncLatencySeconds", [])) for each in told) == 120
    assert max(len(values) for each in told for values in each.values()) <= 100
    assert [each["Runs"] for each in told if "Runs" in each] == [[1.0]]


def test_a_function_without_a_token_fails_and_says_which_variable_is_missing(monkeypatch, capsys):
    monkeypatch.setenv("HUBSPOT_TOKEN", "")
    with pytest.raises(crm.CrmSyncFailed):
        crm.lambda_handler({}, Context())
    told = capsys.readouterr()

    assert json.loads(told.err.splitlines()[-1])["event"] == "crm_sync_worker_failed"
    assert json.loads(told.err.splitlines()[-1])["code"] == Rejected.code
    assert told.out == ""


def test_a_run_that_fails_is_counted_by_lambda_and_none_of_its_words_are_logged(
    app, monkeypatch, capsys
):
    def fail(*_, **__):
        raise ZeroDivisionError(NAME)

    with pytest.MonkeyPatch.context() as bug:
        bug.setattr(CrmSyncProcessor, "run", fail)
        with pytest.raises(crm.CrmSyncFailed) as caught:
            crm.lambda_handler({}, Context())
    told = capsys.readouterr()

    assert json.loads(told.err.splitlines()[-1])["event"] == "crm_sync_worker_failed"
    assert NAME not in told.err + told.out + str(caught.value)
    # Lambda prints an error with its causes.
    assert caught.value.__context__ is caught.value.__cause__ is None


def test_a_store_that_cannot_be_read_is_no_run(tmp_path, capsys):
    Path("leads.db").write_text("no database, and long enough to be taken for none\n" * 99)
    with pytest.raises(crm.CrmSyncFailed):
        crm.lambda_handler({}, Context())

    assert capsys.readouterr().out == ""


def test_nothing_of_anybody_is_in_what_the_function_writes(app, run):
    to_be_mirrored(app, "s-1")
    _, documents, logged = run()

    assert PHONE not in f"{documents}{logged}"
    assert NAME not in f"{documents}{logged}"


def test_a_list_is_counted_as_far_as_it_is_told_to(app):
    for number in range(3):
        to_be_mirrored(app, f"s-{number}")
    crm.lambda_handler({}, Context())
    mirror = crm._mirror()
    for number in range(3):
        say(app, f"s-{number}", "handoff_returned", operator="ana")

    assert look(mirror.control, ["default"]).pending == 3
    assert look(mirror.control, ["default"], most=2).pending == 2
    assert look(mirror.control, ["another"]).pending == 0


_PROBE = """
import json, os, sys
from handlers.entrypoints.lambdas.crm import lambda_handler
answer = lambda_handler({}, None)
print(json.dumps([answer, sorted(set(sys.argv[1:]) & set(sys.modules))]))
"""


def test_a_cold_start_needs_hubspots_settings_and_the_stores_and_loads_nothing_of_conversations(
    app, hubspot, tmp_path
):
    to_be_mirrored(app, "s-1")
    unwanted = [
        *("fastapi", "starlette", "uvicorn", "openai", "boto3", "typer"),
        *("adapters.whatsapp", "adapters.openai", "adapters.queues", "adapters.scripted"),
        *("handlers.talks", "handlers.agents", "handlers.conversations.working"),
    ]
    clean = {
        name: value
        for name, value in environment(**STORE, **STAGE_VARIABLES).items()
        if not name.startswith(LEFT_OUT)
    }
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, *unwanted],
        cwd=tmp_path,
        env={**clean, "HUBSPOT_TOKEN": hubspot.token, "HUBSPOT_URL": hubspot.url},
        capture_output=True,
        text=True,
        check=True,
    )
    answer, loaded = json.loads(done.stdout.splitlines()[-1])

    assert answer == {"synced": 1}
    assert loaded == []

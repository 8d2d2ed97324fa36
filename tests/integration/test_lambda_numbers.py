"""What the schedule's function tells CloudWatch of conversations: the numbers that `/metrics` has."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.clock import new_id, utc_now
from domain.errors import Rejected
from domain.instants import shift
from handlers.conversations import numbers
from handlers.entrypoints.http.exposition import exposed
from handlers.entrypoints.lambdas import schedule, webhook
from handlers.entrypoints.lambdas.container import container
from tests.support.deliveries import ACCOUNT, ANA, SETTINGS, delivery, stamp, text
from tests.support.lambdas import cold_containers, signed_header, v2
from tests.support.mirrored import NAME, PHONE, to_be_mirrored
from tests.support.openai_server import failing, openai_server

UNITS = {
    "WaitingLeads": "Count",
    "OldestWaitingSeconds": "Seconds",
    "HandoffQueue": "Count",
    "OldestHandoffSeconds": "Seconds",
    "Quarantined": "Count",
}


BIA = "5511955550143"


class Context:
    function_name = "leads-schedule-test"


@pytest.fixture(autouse=True)
def cold(tmp_path, monkeypatch):
    """Become a container of the function whose model does not answer, so that leads wait."""
    monkeypatch.chdir(tmp_path)
    with openai_server() as model:
        model.plan(failing(503))
        given = {
            **SETTINGS,
            "LEADS_WHATSAPP_NUMBERS": f"{ACCOUNT}=default,2=other",
            "LEADS_DB": "leads.db",
            "LEADS_MODEL": "openai",
            "LEADS_OPENAI_URL": model.url,
            "LEADS_OPENAI_KEY": "made-up",
        }
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        with cold_containers():
            yield


@pytest.fixture
def told(capsys):
    """Do a round; return the documents that CloudWatch reads of what was written, and the log."""

    def told():
        schedule.lambda_handler({}, Context())
        return written(capsys)

    return told


def written(capsys):
    out, err = capsys.readouterr()
    return [json.loads(line) for line in out.splitlines()], err


def app():
    return container(sends=True).app


def write(sender):
    """Let somebody write."""
    body = delivery(text(f"wamid.{sender}", "Oi", sender=sender, timestamp=stamp(utc_now())))
    answer = webhook.lambda_handler(v2("POST", body, **signed_header(body)), None)
    assert answer["statusCode"] == 202


def keep(organization, at):
    """Let something be put into quarantine at a moment."""
    why = Rejected("It cannot be translated.", hint="Mend it.")
    app().quarantine.keep(organization, b"{}", why, "test", now=at, new_id=new_id)


def test_a_round_tells_every_number_by_its_name_its_unit_and_the_function_alone(told):
    [document], _ = told()
    [stated] = document["_aws"]["CloudWatchMetrics"]

    assert {each["Name"]: each["Unit"] for each in stated["Metrics"]} == UNITS
    assert (stated["Namespace"], stated["Dimensions"]) == ("GoGenetic/Leads", [["FunctionName"]])
    assert document["FunctionName"] == "leads-schedule-test"
    assert {document[name][0] for name in UNITS} == {0.0}
    assert set(document) == {"_aws", "FunctionName", *UNITS}


def test_what_waits_is_told_for_all_organizations_of_the_function_at_once(told):
    write(ANA)
    write(BIA)
    to_be_mirrored(app(), "s-1", age_s=50)
    to_be_mirrored(app(), "s-2", age_s=1000, organization="other")
    keep("default", utc_now())
    keep("other", utc_now())
    keep("other", shift(utc_now(), -timedelta(days=31)))
    [document], _ = told()

    assert document["WaitingLeads"] == [2.0]
    assert document["HandoffQueue"] == [2.0]
    assert 1000 <= document["OldestHandoffSeconds"][0] < 5000
    # What is kept no more counts no more, whenever the store lets go of it.
    assert document["Quarantined"] == [2.0]


def test_the_oldest_that_waits_is_told_by_its_age_as_metrics_tells_it(capsys):
    write(ANA)
    own = container(sends=True)
    at = shift(utc_now(), timedelta(seconds=400))
    schedule._tell(own._replace(app=replace(own.app, now=lambda: at)), "named")
    [document], _ = written(capsys)
    scraped = exposed("leads_", numbers.measure(own.talks.conversations, ["default", "other"], at))

    assert document["OldestWaitingSeconds"][0] >= 400
    for line in (
        "waiting_leads 1",
        f"oldest_waiting_seconds {document['OldestWaitingSeconds'][0]}",
    ):
        assert f"leads_{line}" in scraped


def test_a_page_of_what_is_in_quarantine_is_counted_and_no_more(told):
    for _ in range(numbers.MOST_QUARANTINED + 1):
        keep("default", utc_now())
    keep("other", utc_now())
    [document], _ = told()

    assert document["Quarantined"] == [numbers.MOST_QUARANTINED + 1]


def test_the_namespace_is_the_deployments(told, monkeypatch):
    monkeypatch.setenv("LEADS_METRICS_NAMESPACE", "Acme/Leads")
    [document], _ = told()

    assert document["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Acme/Leads"


def test_a_store_that_does_not_answer_is_logged_and_no_number_is_made_up(told):
    app()
    with closing(sqlite3.connect("leads.db")) as file:
        file.execute("drop table rows")
    documents, logged = told()

    assert documents == []
    assert "numbers_not_told" in {json.loads(line)["event"] for line in logged.splitlines()}


def test_nothing_of_anybody_is_in_what_the_function_writes(told):
    write(ANA)
    to_be_mirrored(app(), "s-1", age_s=50)
    leads = list(app().maintenance.leads("default"))
    documents, _ = told()

    assert len(leads) == 2
    for canary in (ANA, PHONE, NAME, "s-1", "default", *leads):
        assert canary not in json.dumps(documents)

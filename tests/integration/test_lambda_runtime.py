"""The template's functions in AWS's own runtime client: loaded by their names, given events, answering."""

import json
import sys
from random import Random

import pytest

from adapters.clock import utc_now
from handlers.bootstrap import build
from handlers.settings import read_settings
from handlers.simulators.hubspot import STAGES, HubSpot, Setup
from tests.support.deliveries import ANA, SETTINGS, delivery, stamp, text
from tests.support.http_server import Reply, http_server
from tests.support.lambdas import signed_header, sqs, v2
from tests.support.mirrored import NAME, row, to_be_mirrored
from tests.support.runtime_api import container_of

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="AWS's runtime client has no wheel but for Linux"
)

STORE = {"LEADS_STORE": "sqlite", "LEADS_DB": "leads.db"}
UNREADABLE = '{"Records": ['
WAKE_UP = sqs(("one", {"phone_number": ANA, "message_id": "wamid.A"}))


def sending(cloud):
    """What a function that sends is told, with what stands for Meta's API."""
    return {
        **STORE,
        "LEADS_WHATSAPP_NUMBERS": SETTINGS["LEADS_WHATSAPP_NUMBERS"],
        "LEADS_MODEL": "scripted",
        "LEADS_WHATSAPP_URL": cloud.url,
        "LEADS_WHATSAPP_TOKEN": "token",
        "LEADS_ENV": "dev",
    }


@pytest.fixture
def cloud():
    sent = {"messages": [{"id": "wamid.OUT"}], "contacts": [{"wa_id": ANA}]}
    with http_server(Reply(body=sent)) as server:
        yield server


@pytest.fixture
def hello(tmp_path):
    """A message that the webhook's function takes, and then one that it cannot read as an event."""
    body = delivery(text("wamid.A", "Oi", timestamp=stamp(utc_now())))
    with container_of("WebhookFunction", cwd=tmp_path, **STORE, **SETTINGS) as webhook:
        taken = webhook.invoke(v2("POST", body, **signed_header(body)))
        unsigned = webhook.invoke(v2("POST", body))
        unreadable = webhook.invoke(UNREADABLE)
        after = webhook.invoke(v2("POST", body, **signed_header(body)))
    return taken, unsigned, unreadable, after


def test_the_webhook_takes_what_is_signed_and_outlives_an_event_that_is_none(hello):
    taken, unsigned, unreadable, after = hello

    assert (taken.what, taken.body["statusCode"]) == ("response", 202)
    assert json.loads(taken.body["body"]) == {"status": "queued"}
    assert unsigned.body["statusCode"] == 401
    assert (unreadable.what, unreadable.body["errorType"]) == ("error", "Runtime.UnmarshalError")
    assert (after.what, after.body["statusCode"]) == ("response", 202)
    assert [each.request_id for each in hello] == [f"request-{number}" for number in (1, 2, 3, 4)]


def test_the_queue_answers_a_lead_and_says_of_an_event_without_records_that_it_is_none(
    hello, tmp_path, cloud
):
    with container_of("QueueFunction", cwd=tmp_path, **sending(cloud)) as queue:
        foreign = queue.invoke({"Records": []})
        done = queue.invoke(WAKE_UP)

    assert (foreign.what, foreign.body["errorType"]) == ("error", "UnexpectedBatchTypeError")
    assert (done.what, done.body) == ("response", {"batchItemFailures": []})
    assert [each.body["type"] for each in cloud.asked if "text" in each.body] == ["text"]


def test_the_minutes_round_answers_and_goes_on_after_an_event_that_is_none(hello, tmp_path, cloud):
    with container_of("ScheduleFunction", cwd=tmp_path, **sending(cloud)) as schedule:
        unreadable = schedule.invoke(UNREADABLE)
        done = schedule.invoke({"source": "aws.events"})

    assert (unreadable.what, unreadable.body["errorType"]) == ("error", "Runtime.UnmarshalError")
    assert (done.what, done.body) == ("response", {"worked": 1})


def test_the_mirror_mirrors_and_a_run_that_fails_says_nothing_of_anybody(tmp_path):
    app = build(read_settings({}, file=tmp_path / "none.toml", db=tmp_path / "leads.db"))
    stages = {f"HUBSPOT_STAGE_{name.upper()}": value for name, value in STAGES.items()}
    try:
        to_be_mirrored(app, "s-1")
        with container_of("CrmSyncFunction", cwd=tmp_path, **STORE, **stages) as crm:
            failed = crm.invoke({})
            written = crm.written
        with HubSpot(Setup(), random=Random(7), now=utc_now) as hubspot:
            account = {"HUBSPOT_URL": hubspot.url, "HUBSPOT_TOKEN": hubspot.token}
            given = {**STORE, **stages, **account}
            with container_of("CrmSyncFunction", cwd=tmp_path, **given) as crm:
                done = crm.invoke({})
                [document] = [line for line in crm.written if '"_aws"' in line]
        assert row(app, "s-1").status == "SYNCED"
    finally:
        app.close()

    assert (failed.what, failed.body["errorType"]) == ("error", "CrmSyncFailed")
    assert failed.body["errorMessage"] == ""
    assert NAME not in f"{written}{failed}"
    assert (done.what, done.body) == ("response", {"synced": 1})
    assert json.loads(document)["FunctionName"] == "CrmSyncFunction"


@pytest.mark.parametrize("name", ["lambda_handler", "nobody"])
def test_a_handler_that_is_not_there_is_told_before_any_event(tmp_path, name):
    module = "queue.missing" if name == "lambda_handler" else "queue"
    handler = f"handlers.entrypoints.lambdas.{module}.{name}"
    with container_of("QueueFunction", cwd=tmp_path, handler=handler) as queue:
        told = queue.told()

    assert told.what == "init/error"
    assert told.body["errorType"] in {"Runtime.ImportModuleError", "Runtime.HandlerNotFound"}

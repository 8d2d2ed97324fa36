"""The functions of a deployment on Lambda, called plainly, on a real SQLite file."""

import json
import subprocess
import sys

import pytest

from adapters.clock import utc_now
from domain.addresses import address, identity_keys
from handlers.entrypoints.lambdas import queue, schedule, webhook
from handlers.entrypoints.lambdas.container import container
from projections.memories import Memories
from tests.support.deliveries import ANA, SETTINGS, delivery, stamp, text
from tests.support.http_server import Reply, http_server
from tests.support.lambdas import cold_containers, failed, signed_header, sqs, v1, v2
from tests.support.openai_server import failing, openai_server, saying
from tests.support.processes import environment
from tests.support.webhook import VERIFY_TOKEN

# The functions have the clock of the machine, and a lead is answered within a day.
HELLO = delivery(text("wamid.A", "Oi", timestamp=stamp(utc_now())))
SENT = {"messages": [{"id": "wamid.OUT"}], "contacts": [{"wa_id": ANA}]}
QUERY = {
    "hub.mode": "subscribe",
    "hub.verify_token": VERIFY_TOKEN,
    "hub.challenge": "1158201444",
}


@pytest.fixture
def cloud():
    """What stands for Meta's API: it takes every text."""
    with http_server(Reply(body=SENT)) as server:
        yield server


@pytest.fixture(autouse=True)
def cold(tmp_path, monkeypatch, cloud):
    monkeypatch.chdir(tmp_path)
    variables = {
        **SETTINGS,
        "LEADS_DB": "leads.db",
        "LEADS_MODEL": "scripted",
        "LEADS_WHATSAPP_URL": cloud.url,
        "LEADS_WHATSAPP_TOKEN": "token",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with cold_containers():
        yield


def leads():
    return list(container(sends=True).app.maintenance.leads("default"))


def types(lead):
    log = container(sends=True).app.log
    events = log.reader.events(lead, lte=log.reader.head(lead).version)
    return [each.event_type for each in events]


def texts_sent(cloud):
    return [each.body["text"]["body"] for each in cloud.asked if each.body.get("type") == "text"]


def wake(lead, organization_id="default"):
    return {"leadOrganizationId": lead, "organizationId": organization_id, "messageId": "wamid.A"}


@pytest.mark.parametrize("made", [v1, v2])
def test_the_handshake_is_answered(made):
    answer = webhook.lambda_handler(made("GET", query=QUERY), None)
    other = webhook.lambda_handler(made("GET", query=QUERY | {"hub.verify_token": "x"}), None)

    assert (answer["statusCode"], answer["body"]) == (200, "1158201444")
    assert answer["headers"]["x-content-type-options"] == "nosniff"
    assert other["statusCode"] == 403


@pytest.mark.parametrize("made", [v1, v2])
@pytest.mark.parametrize(
    "name", ["X-Hub-Signature-256", "x-hub-signature-256", "X-HUB-SIGNATURE-256"]
)
def test_a_signed_delivery_is_taken_however_its_headers_are_spelled(made, name):
    answer = webhook.lambda_handler(made("POST", HELLO, **signed_header(HELLO, name)), None)

    assert (answer["statusCode"], json.loads(answer["body"])) == (202, {"status": "queued"})
    assert len(leads()) == 1


@pytest.mark.parametrize("made", [v1, v2])
def test_what_is_not_signed_as_it_must_be_gets_one_constant_answer(made):
    good = signed_header(HELLO)["X-Hub-Signature-256"]
    twice = made("POST", HELLO, **signed_header(HELLO))
    if "multiValueHeaders" in twice:
        twice["multiValueHeaders"]["x-hub-signature-256"] = [good]
    else:
        twice["headers"]["X-Hub-Signature-256"] = good
    joined = made("POST", HELLO, **{"X-Hub-Signature-256": f"{good},{good}"})
    no_base64 = made("POST", HELLO, **signed_header(HELLO)) | {"isBase64Encoded": True, "body": "é"}
    spoiled = v2("POST", HELLO, **signed_header(HELLO))
    spoiled["body"] += "!"
    events = [made("POST", HELLO), twice, joined, no_base64, spoiled, made("PUT", b"{}"), {}]
    answers = [webhook.lambda_handler(event, None) for event in events]

    assert {each["statusCode"] for each in answers} == {401}
    assert len({each["body"] for each in answers}) == 1
    assert leads() == []


def test_a_store_that_cannot_be_opened_asks_for_the_same_again(tmp_path):
    (tmp_path / "leads.db").write_text("no database, and long enough to be taken for none\n" * 99)
    answer = webhook.lambda_handler(v2("POST", HELLO, **signed_header(HELLO)), None)

    assert (answer["statusCode"], answer["headers"]["retry-after"]) == (503, "1")


def test_a_wake_up_has_its_lead_answered_once(cloud):
    webhook.lambda_handler(v2("POST", HELLO, **signed_header(HELLO)), None)
    [lead] = leads()
    event = sqs(("one", wake(lead)), ("one", wake(lead)))

    assert failed(queue.lambda_handler(event, None)) == []
    assert failed(queue.lambda_handler(event, None)) == []
    assert len(texts_sent(cloud)) == 1
    assert types(lead)[-1] == "reply_sent"


@pytest.mark.parametrize("spelled", [ANA, f"+{ANA}", "+55 11 95555-0142"])
def test_a_wake_up_of_the_deployment_of_the_seeds_is_understood(cloud, spelled):
    webhook.lambda_handler(v2("POST", HELLO, **signed_header(HELLO)), None)
    body = {"phone_number": spelled, "message_id": "wamid.A"}

    assert failed(queue.lambda_handler(sqs(("one", body)), None)) == []
    assert len(texts_sent(cloud)) == 1


@pytest.mark.parametrize(
    "body", ["", "{", "[]", {}, {"phone_number": "x"}, {"phone_number": "5511900000000"}]
)
def test_a_wake_up_that_names_nobody_is_let_go(body):
    assert failed(queue.lambda_handler(sqs(("one", body)), None)) == []


def test_a_lead_whose_work_fails_fails_alone_and_is_answered_later(cloud, monkeypatch):
    answer = saying(json.dumps({"s": "CONTINUE", "message": "Olá!", "metadata": {}}))
    with openai_server() as model:
        monkeypatch.setenv("LEADS_MODEL", "openai")
        monkeypatch.setenv("LEADS_OPENAI_URL", model.url)
        monkeypatch.setenv("LEADS_OPENAI_KEY", "made-up")
        one, two, three = (lead_of(f"551195555{number}") for number in (1001, 1002, 1003))
        event = sqs(("1", wake(one)), ("2", wake(two)), ("2", wake(two)), ("3", wake(three)))
        model.plan(answer, failing(503), answer, failing(503))
        first = queue.lambda_handler(event, None)

        assert failed(first) == ["m2", "m3"]
        assert len(texts_sent(cloud)) == 2
        # Of a batch that fails whole, each is named all the same.
        assert failed(queue.lambda_handler(sqs(("2", wake(two))), None)) == ["m1"]
        model.plan(answer)
        assert failed(queue.lambda_handler(event, None)) == []
        assert len(texts_sent(cloud)) == 3
        assert len(model.asked) == 5


def lead_of(phone):
    """Let somebody say something and return the lead it made."""
    body = delivery(text(f"wamid.{phone}", sender=phone, timestamp=stamp(utc_now())))
    webhook.lambda_handler(v2("POST", body, **signed_header(body)), None)
    named = identity_keys("default", address("whatsapp", phone))
    return next(iter(container(sends=True).app.log.store.resolve(named).values()))


def test_the_minutes_round_answers_leads_where_there_is_no_queue(cloud):
    webhook.lambda_handler(v2("POST", HELLO, **signed_header(HELLO)), None)
    done = schedule.lambda_handler({}, None)

    assert done["worked"] == 1
    assert len(texts_sent(cloud)) == 1
    assert schedule.lambda_handler({}, None) == {}


def test_the_minutes_round_catches_up_leads_whose_views_lag(monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    with pytest.MonkeyPatch.context() as bug:
        bug.setattr(Memories, "evolve", fail)
        webhook.lambda_handler(v2("POST", HELLO, **signed_header(HELLO)), None)
    maintenance = container(sends=True).app.maintenance
    assert len(list(maintenance.lagging())) == 1

    schedule.lambda_handler({}, None)

    assert list(maintenance.lagging()) == []


def test_a_function_without_a_secret_takes_nothing(monkeypatch):
    monkeypatch.delenv("LEADS_WHATSAPP_APP_SECRET")

    assert webhook.lambda_handler(v2("POST", HELLO), None)["statusCode"] == 503


_PROBE = """
import json, sys
event, function, unwanted = json.loads(sys.stdin.read())
module = __import__(f"handlers.entrypoints.lambdas.{function}", fromlist=["lambda_handler"])
answer = module.lambda_handler(event, None)
print(json.dumps([answer, sorted(set(unwanted) & set(sys.modules))]))
"""


@pytest.mark.parametrize(
    ("function", "event", "unwanted"),
    [
        ("webhook", v2("POST", HELLO, **signed_header(HELLO)), ["httpx2", "typer"]),
        ("queue", sqs(("one", {"phone_number": ANA})), ["typer"]),
        ("schedule", {}, ["typer"]),
    ],
)
def test_a_function_loads_neither_fastapi_nor_openai(tmp_path, function, event, unwanted):
    asked = [event, function, ["fastapi", "starlette", "uvicorn", "openai", "boto3", *unwanted]]
    done = subprocess.run(
        [sys.executable, "-c", _PROBE],
        input=json.dumps(asked),
        cwd=tmp_path,
        env=environment(**SETTINGS, LEADS_DB="leads.db", LEADS_MODEL="openai"),
        capture_output=True,
        text=True,
        check=True,
    )
    answer, loaded = json.loads(done.stdout.splitlines()[-1])

    assert loaded == []
    assert answer.get("statusCode", 202) == 202

"""Wake-ups over SQS FIFO, as SQS documents it and as Lambda polls it."""

import hashlib
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.clock import utc_now
from adapters.queues.sqs import SqsWakeUps, new_client
from domain.errors import Unavailable
from domain.instants import shift
from handlers.entrypoints.lambdas import queue, schedule, webhook
from handlers.entrypoints.lambdas.container import container
from tests.support.aws import REGION
from tests.support.deliveries import ANA, SETTINGS, delivery, stamp, text
from tests.support.http_server import Reply, closed_port, http_server
from tests.support.lambdas import cold_containers, failed, poll, received, signed_header, v2
from tests.support.openai_server import failing, openai_server, saying
from tests.support.whatsapp import HandClock

LEAD = "01980a5e-7c00-7000-8000-000000000001"
OTHER = "lead com espaço e mais de cento e vinte e oito caracteres " * 3


@pytest.fixture
def environment(ministack, account):
    return {
        "AWS_ENDPOINT_URL": ministack,
        "AWS_ACCESS_KEY_ID": account,
        "AWS_SECRET_ACCESS_KEY": "unused",
        "AWS_REGION": REGION,
    }


@pytest.fixture
def client(environment):
    own = new_client(environment)
    yield own
    own.close()


@pytest.fixture
def url(client):
    attributes = {"FifoQueue": "true", "ContentBasedDeduplication": "false"}
    return client.create_queue(QueueName="leads.fifo", Attributes=attributes)["QueueUrl"]


@pytest.fixture
def clock():
    return HandClock()


@pytest.fixture
def wake_ups(client, url, clock):
    return SqsWakeUps(client, url, clock)


def bodies(client, url):
    """Take everything that waits, in the order it is given out."""
    taken = []
    while batch := poll(client, url, lambda *_: {"batchItemFailures": []}):
        taken += batch
    return taken


def test_a_wake_up_names_its_lead_and_groups_by_it(wake_ups, client, url):
    wake_ups.wake("acme", LEAD, "wamid.A")
    wake_ups.wake("acme", OTHER, "wamid.B")
    first, second = sorted(received(client, url)["Records"], key=lambda each: each["body"])

    assert [json.loads(each["body"]) for each in (first, second)] == [
        {"leadOrganizationId": LEAD, "organizationId": "acme", "messageId": "wamid.A"},
        {"leadOrganizationId": OTHER, "organizationId": "acme", "messageId": "wamid.B"},
    ]
    groups = {each["attributes"]["MessageGroupId"] for each in (first, second)}
    assert groups == {hashlib.sha256(lead.encode()).hexdigest() for lead in (LEAD, OTHER)}


def test_the_same_wake_up_is_taken_once_a_minute(wake_ups, client, url, clock):
    for _ in range(3):
        wake_ups.wake("acme", LEAD, "wamid.A")
    assert len(bodies(client, url)) == 1
    wake_ups.wake("acme", LEAD, "wamid.A")
    assert bodies(client, url) == []

    clock.pass_by(minutes=1)
    wake_ups.wake("acme", LEAD, "wamid.A")
    assert len(bodies(client, url)) == 1


def test_other_messages_and_other_leads_are_other_wake_ups(wake_ups, client, url):
    wake_ups.wake("acme", LEAD, "wamid.A")
    wake_ups.wake("acme", LEAD, "sweep")
    wake_ups.wake("acme", OTHER, "wamid.A")

    assert len(bodies(client, url)) == 3


def test_those_of_one_lead_come_in_order_and_one_after_the_other(wake_ups, client, url):
    for number in range(3):
        wake_ups.wake("acme", LEAD, f"wamid.{number}")
        wake_ups.wake("acme", OTHER, f"wamid.{number}")
    seen = []

    def first_of_the_lead_fails(event, _):
        mine = [each for each in event["Records"] if LEAD in each["body"]]
        seen.append([each["body"] for each in mine])
        again = mine if len(seen) == 1 else []
        return {"batchItemFailures": [{"itemIdentifier": each["messageId"]} for each in again]}

    for _ in range(4):
        poll(client, url, first_of_the_lead_fails)
    # What failed is in flight: nothing of its lead is given out meanwhile, the other's all is.
    assert [len(each) for each in seen] == [3]
    assert seen[0] == sorted(seen[0])


def test_what_failed_comes_again_when_it_was_said_to(wake_ups, client, url):
    wake_ups.wake("acme", LEAD, "wamid.A")
    [record] = received(client, url)["Records"]
    assert received(client, url)["Records"] == []

    wake_ups.postpone(record["receiptHandle"], 0)

    [again] = received(client, url)["Records"]
    assert again["attributes"]["ApproximateReceiveCount"] == "2"


def test_a_queue_that_is_not_there_or_does_not_answer_is_unavailable(client, clock, environment):
    gone = SqsWakeUps(client, f"{environment['AWS_ENDPOINT_URL']}/000000000000/none.fifo", clock)
    nowhere = f"http://127.0.0.1:{closed_port()}"
    deaf = SqsWakeUps(new_client(environment | {"AWS_ENDPOINT_URL": nowhere}), nowhere, clock)

    for queue_of in (gone, deaf):
        with pytest.raises(Unavailable) as raised:
            queue_of.wake("acme", LEAD, "wamid.A")
        assert LEAD not in str(raised.value)
        with pytest.raises(Unavailable):
            queue_of.waiting()


def test_how_many_wait_is_told(wake_ups):
    wake_ups.wake("acme", LEAD, "wamid.A")

    assert wake_ups.waiting() == 1


@pytest.fixture
def deployment(environment, url, tmp_path, monkeypatch):
    """The three functions over one store and one queue, and what stands for Meta's API."""
    monkeypatch.chdir(tmp_path)
    sent = Reply(body={"messages": [{"id": "wamid.OUT"}], "contacts": [{"wa_id": ANA}]})
    with http_server(sent) as cloud:
        variables = {
            **environment,
            **SETTINGS,
            "LEADS_QUEUE_URL": url,
            "LEADS_MODEL": "scripted",
            "LEADS_WHATSAPP_URL": cloud.url,
            "LEADS_WHATSAPP_TOKEN": "token",
        }
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        with cold_containers():
            yield cloud


def said(cloud):
    return [each.body["text"]["body"] for each in cloud.asked if each.body.get("type") == "text"]


def post(message_id):
    body = delivery(text(message_id, timestamp=stamp(utc_now())))
    return webhook.lambda_handler(v2("POST", body, **signed_header(body)), None)["statusCode"]


def test_from_a_webhook_through_the_queue_to_one_answer(deployment, client, url):
    assert [post("wamid.A"), post("wamid.A"), post("wamid.B")] == [202, 202, 202]

    assert len(poll(client, url, queue.lambda_handler)) == 2
    assert len(said(deployment)) == 1
    assert poll(client, url, queue.lambda_handler) == []
    assert schedule.lambda_handler({}, None) == {}


def test_a_wake_up_that_the_queue_did_not_take_is_found_by_the_minutes_round(
    deployment, client, url, monkeypatch
):
    with cold_containers():
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", f"http://127.0.0.1:{closed_port()}")
        assert post("wamid.A") == 202
    monkeypatch.delenv("AWS_ENDPOINT_URL_SQS")
    assert poll(client, url, queue.lambda_handler) == []
    jobs = container(sends=True).talks.jobs
    soon = replace(jobs.deciding, now=lambda: shift(utc_now(), timedelta(minutes=2)))
    assert jobs.round("default") == {}
    assert replace(jobs, deciding=soon).round("default") == {"woken": 1}

    assert failed(queue.lambda_handler(received(client, url), None)) == []
    assert len(said(deployment)) == 1


def test_a_lead_whose_model_does_not_answer_comes_again_soon(deployment, client, url, monkeypatch):
    good = saying(json.dumps({"s": "CONTINUE", "message": "Olá!", "metadata": {}}))
    with openai_server() as model:
        monkeypatch.setenv("LEADS_MODEL", "openai")
        monkeypatch.setenv("LEADS_OPENAI_URL", model.url)
        monkeypatch.setenv("LEADS_OPENAI_KEY", "made-up")
        model.plan(failing(503, headers={"Retry-After": "1"}), good)
        post("wamid.A")
        assert len(poll(client, url, queue.lambda_handler)) == 1
        assert said(deployment) == []
        # The queue itself would give it out again after half a minute.
        again = client.receive_message(QueueUrl=url, WaitTimeSeconds=10, AttributeNames=["All"])
        [message] = again["Messages"]
        assert message["Attributes"]["ApproximateReceiveCount"] == "2"

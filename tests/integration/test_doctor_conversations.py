"""What the doctor and the settings say of conversations."""

import dataclasses

import pytest

from adapters.whatsapp.adapter import WhatsAppAdapter
from handlers.conversation_doctor import ConversationDoctor
from handlers.conversations.webhook import Verdict
from handlers.settings import read_conversation_settings
from tests.support.deliveries import ACCOUNT, SETTINGS, delivery, talking, text
from tests.support.http_server import Reply, closed_port, http_server
from tests.support.webhook import APP_SECRET, VERIFY_TOKEN
from tests.support.whatsapp import ANA, TOKEN, simulating

NOW = "2026-03-20T12:00:00.000000Z"
LATER = "2026-03-20T12:06:00.000000Z"


def checks(answer):
    return {each["check"]: each for each in answer.document["checks"]}


@pytest.fixture
def env(leads):
    leads("import", leads.file([]))
    leads("keys", "create")
    return {
        **SETTINGS,
        "LEADS_WHATSAPP_TOKEN": TOKEN,
        "LEADS_MODEL": "openai",
        "LEADS_OPENAI_KEY": "made-up",
    }


def test_a_deployment_that_can_talk_is_well(leads, env):
    with simulating() as simulator:
        number = simulator.setup.numbers[0].phone_number_id
        used = env | {"LEADS_WHATSAPP_URL": simulator.url, "LEADS_WHATSAPP_NUMBERS": number}
        answer = leads("doctor", "--json", env=used)

    found = checks(answer)
    assert answer.code == 0
    assert {each["state"] for each in answer.document["checks"]} == {"ok"}
    assert found["graph"]["detail"] == f"answers for the number {number}"
    assert "http, base64" in found["webhook"]["detail"]
    assert not simulator.received(ANA)
    # Neither what it delivered to itself nor what was logged of it is anywhere to be seen.
    assert "signature_rejected" not in answer.out + answer.err
    for secret in (APP_SECRET, VERIFY_TOKEN, TOKEN):
        assert secret not in answer.out + answer.err


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(401, {"error": {"code": 190}}), "token_refused"),
        (Reply(400, {"error": {"code": 100}}), "number_unknown"),
        (Reply(200, {"id": "1"}), "no_graph_api"),
        (Reply(404, b"<html>"), "no_graph_api"),
    ],
)
def test_what_the_graph_says_of_a_number_is_told(leads, env, reply, problem):
    with http_server(reply) as graph:
        answer = leads("doctor", "--json", env=env | {"LEADS_WHATSAPP_URL": graph.url})

    assert answer.code == 4
    assert checks(answer)["graph"]["state"] == "wrong"
    assert problem in checks(answer)["graph"]["detail"]


def test_a_graph_that_does_not_answer_is_unavailable(leads, env):
    nowhere = f"http://127.0.0.1:{closed_port()}"
    answer = leads("doctor", "--json", env=env | {"LEADS_WHATSAPP_URL": nowhere})

    assert answer.code == 5
    assert checks(answer)["graph"]["state"] == "unavailable"


def test_no_number_means_that_nobody_is_asked(leads, env):
    with http_server() as graph:
        used = env | {"LEADS_WHATSAPP_URL": graph.url, "LEADS_WHATSAPP_NUMBERS": ""}
        answer = leads("doctor", "--json", env=used)
        asked = leads("doctor", "--json", "--webhook", graph.url, env=used)

    assert answer.code == 0
    assert {"graph", "webhook"}.isdisjoint(checks(answer))
    assert (asked.code, checks(asked)["webhook"]["state"]) == (4, "wrong")
    assert graph.asked == []


@pytest.mark.parametrize(
    ("missing", "check"),
    [
        ("LEADS_WHATSAPP_APP_SECRET", "channels"),
        ("LEADS_WHATSAPP_VERIFY_TOKEN", "channels"),
        ("LEADS_WHATSAPP_TOKEN", "channels"),
        ("LEADS_OPENAI_KEY", "model"),
    ],
)
def test_what_is_missing_is_named(leads, env, missing, check):
    with http_server() as graph:
        used = env | {"LEADS_WHATSAPP_URL": graph.url, missing: ""}
        answer = leads("doctor", "--json", env=used)

    assert answer.code == 4
    assert checks(answer)[check]["state"] == "wrong"
    assert missing in checks(answer)[check]["detail"]


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"LEADS_MODEL": "none"}, "model"),
        ({"LEADS_MODEL": "scripted"}, "model"),
        ({"LEADS_ENV": "dev", "LEADS_WHATSAPP_APP_SECRET": ""}, "channels"),
    ],
)
def test_what_may_be_meant_so_is_a_warning(leads, env, changes, check):
    with simulating() as simulator:
        number = simulator.setup.numbers[0].phone_number_id
        used = env | {"LEADS_WHATSAPP_URL": simulator.url, "LEADS_WHATSAPP_NUMBERS": number}
        answer = leads("doctor", "--json", env=used | changes)

    assert answer.code == 0
    assert checks(answer)[check]["state"] == "warning"


def test_the_queue_is_asked(leads, env, ministack, account):
    cloud = {
        "AWS_ENDPOINT_URL": ministack,
        "AWS_ACCESS_KEY_ID": account,
        "AWS_SECRET_ACCESS_KEY": "unused",
        "AWS_REGION": "us-east-1",
        "LEADS_WHATSAPP_NUMBERS": "",
        "LEADS_QUEUE_URL": f"{ministack}/{account}/none.fifo",
    }
    answer = leads("doctor", "--json", env=env | cloud)

    assert answer.code == 5
    assert checks(answer)["queue"]["state"] == "unavailable"


def examined(service, now, **ways_in):
    doctor = ConversationDoctor(talks=service.talks, ways_in=ways_in, now=lambda: now)
    return {each.check: each for each in doctor.examine("default")}


def test_who_waits_too_long_is_told(tmp_path):
    with talking(tmp_path) as service:
        assert examined(service, NOW)["waiting"].detail == "no lead waits for the service"
        service.post(delivery(text("wamid.A")))
        soon, late = examined(service, NOW), examined(service, LATER)
        service.drain()

        assert soon["waiting"].state == "ok"
        assert (late["waiting"].state, "360 s" in late["waiting"].detail) == ("warning", True)
        assert examined(service, LATER)["waiting"].state == "ok"


def test_a_way_in_that_tells_nothing_apart_is_wrong(tmp_path):
    with talking(tmp_path) as service:
        everything = examined(service, NOW, proxy=lambda *_: Verdict.IGNORED)
        nothing = examined(service, NOW, proxy=lambda *_: None)
        good = examined(service, NOW, proxy=service.talks.webhook.post)

        assert (everything["webhook"].state, nothing["webhook"].state) == ("wrong", "wrong")
        assert "forged" in everything["webhook"].detail
        assert good["webhook"].state == "ok"


def test_a_webhook_that_answers_any_handshake_is_wrong(tmp_path):
    with talking(tmp_path) as service:

        class Anybodys(WhatsAppAdapter):
            def challenge(self, query):
                return query["hub.challenge"]

        webhook = dataclasses.replace(
            service.talks.webhook, adapter=Anybodys(secrets=[], verify_token="")
        )
        broken = dataclasses.replace(service.talks, webhook=webhook)
        doctor = ConversationDoctor(talks=broken, ways_in={}, now=lambda: NOW)

        assert {each.state for each in doctor.examine("default") if each.check == "webhook"} == {
            "wrong"
        }


def test_the_settings_of_conversations_are_shown_and_their_secrets_hidden(leads, env):
    answer = leads("config", "show", "--origin", "--json", env=env)

    shown = {each["variable"]: each for each in answer.document["settings"]}
    assert shown["LEADS_WHATSAPP_NUMBERS"]["value"] == ACCOUNT
    assert shown["LEADS_MODEL"]["origin"] == "env"
    for secret in (APP_SECRET, VERIFY_TOKEN, TOKEN, "made-up"):
        assert secret not in answer.out + answer.err
    assert len(shown) > len(read_conversation_settings({}).shown())


def test_a_server_without_a_secret_does_not_start_and_makes_no_store(leads):
    without = leads("serve", "--port", "0", env=SETTINGS | {"LEADS_WHATSAPP_APP_SECRET": ""})

    assert not leads.db.exists()
    assert without.code == 2
    assert "LEADS_WHATSAPP_APP_SECRET" in without.err

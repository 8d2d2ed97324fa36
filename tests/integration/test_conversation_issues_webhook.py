"""Failures that others have met in public and that the way in must prevent.

Source: research/whatsapp.md §2. Each test has the name of the report.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from domain.errors import Unavailable
from handlers.entrypoints.lambdas import queue, webhook
from handlers.entrypoints.lambdas.container import container
from tests.support.deliveries import (
    ACCOUNT,
    ROUTE,
    SETTINGS,
    delivery,
    failing_log,
    signed,
    status,
    talking,
    text,
)
from tests.support.http_server import Reply, http_server
from tests.support.lambdas import cold_containers, failed, signed_header, sqs, v2

HELLO = delivery(text("wamid.A", "Oi"))


@pytest.fixture
def service(tmp_path):
    with talking(tmp_path) as own:
        yield own


# Row 1: chatwoot#5433.
def test_issue_chatwoot_5433_the_same_message_delivered_twice_is_one_event_and_one_turn(service):
    answers = [service.post(HELLO).status_code for _ in range(2)]
    service.drain()
    answers.append(service.post(HELLO).status_code)
    service.drain()

    assert answers == [202, 202, 202]
    assert service.types().count("message_received") == 1
    assert len(service.model.requests) == len(service.phone.texts) == 1


# Row 2: swampratnz/community-agent#249.
def test_issue_community_agent_249_a_retry_during_a_slow_turn_asks_no_model_twice(service):
    asked, go_on = threading.Event(), threading.Event()
    answer = service.model.answer

    def slow(request):
        asked.set()
        assert go_on.wait(20)
        return answer(request)

    service.model.answer = slow
    service.post(HELLO)
    working = threading.Thread(target=service.drain)
    working.start()
    assert asked.wait(20)
    retries = [service.post(HELLO).status_code for _ in range(3)]
    # Another worker finds the lead in work, and leaves it alone.
    service.talks.loop.look()
    assert not service.talks.loop.step()
    go_on.set()
    working.join(20)
    service.drain()

    assert retries == [202, 202, 202]
    assert len(service.model.requests) == len(service.phone.texts) == 1


# Row 3: n8n#20446.
def test_issue_n8n_20446_sixty_four_deliveries_at_once_are_one_event_and_one_turn(service):
    start = threading.Barrier(64)

    def deliver(_):
        with httpx2.Client(base_url=service.http.base_url, timeout=50, trust_env=False) as own:
            start.wait()
            return own.post(ROUTE, content=HELLO, headers=signed(HELLO)).status_code

    with ThreadPoolExecutor(64) as threads:
        answers = list(threads.map(deliver, range(64)))
    service.drain()

    assert answers == [202] * 64
    assert len(service.leads()) == 1
    assert service.types().count("message_received") == 1
    assert len(service.model.requests) == len(service.phone.texts) == 1


# Row 4: n8n#13862.
@pytest.mark.parametrize("name", ["sent", "delivered", "read", "played", "failed", "novo"])
def test_issue_n8n_13862_a_status_is_never_a_turn(service, name):
    service.post(HELLO)
    service.drain()
    sent = service.phone.wamid(service.phone.texts[0])
    for body in (
        delivery(statuses=[status(sent, name)]),
        delivery(statuses=[status(sent, name)]),
        delivery(statuses=[status("wamid.UNKNOWN", name)]),
        delivery(statuses=[status("wamid.STRANGER", name, to="5511955550199")]),
    ):
        assert service.post(body).status_code == 200
    service.drain()

    assert len(service.leads()) == 1
    assert len(service.model.requests) == len(service.phone.texts) == 1


# Row 6: vellum-ai/vellum-assistant#7845.
@pytest.mark.parametrize("broken", ["wamid.A", "wamid.B", "wamid.C"])
def test_issue_vellum_assistant_7845_what_is_not_durable_is_asked_for_again(tmp_path, broken):
    body = delivery(*(text(f"wamid.{name}", name) for name in "ABC"))
    fails: dict[str, Exception] = {broken: Unavailable("busy")}
    with talking(tmp_path, log=failing_log(tmp_path, fails)) as service:
        refused = service.post(body)
        assert (refused.status_code, service.types().count("message_received")) == (503, 2)
        fails.clear()
        taken = service.post(body)
        service.drain()

        assert taken.status_code == 202
        assert service.types().count("message_received") == 3
        [request] = service.model.requests
        assert {said.text for said in request.messages} == {"A", "B", "C"}


# Row 7: opengovsg/postmangovsg#2146, gopherium/AlphOne#36.
@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b'{"object":"whatsapp_business_account"}',
        b'{"object":"whatsapp_business_account","entry":{"changes":3}}',
        b'{"object":"whatsapp_business_account","entry":[null,[],{"changes":[[]]}]}',
        delivery(messages="x"),
        delivery(messages=[7, None, "x", [], {}]),
        delivery({"id": 7, "from": None, "type": ["text"]}),
    ],
)
def test_issue_postmangovsg_2146_an_odd_body_is_acknowledged_and_not_sent_again(service, body):
    assert service.post(body).status_code == 200
    assert service.post(body).status_code == 200
    assert service.leads() == []


# Row 12: chatwoot#14280 (GHSA-7rw7-pc8v-mrr3), zeptoclaw#317 (GHSA-j5hq-p423-c9vw).
@pytest.mark.parametrize("secret", [None, "", "outro-segredo"])
def test_issue_chatwoot_14280_nobody_without_the_secret_writes_as_a_lead(service, secret):
    headers = {} if secret is None else signed(HELLO, secret)
    answer = service.http.post(ROUTE, content=HELLO, headers=headers)

    assert answer.status_code == 401
    assert service.leads() == []


def test_issue_zeptoclaw_317_only_a_desk_takes_what_is_unsigned(tmp_path):
    with talking(tmp_path, LEADS_ENV="dev", LEADS_WHATSAPP_APP_SECRET="") as service:
        assert service.http.post(ROUTE, content=HELLO).status_code == 202


def test_issue_zeptoclaw_317_a_desk_with_a_secret_is_no_desk(tmp_path):
    with talking(tmp_path, LEADS_ENV="dev") as service:
        assert service.http.post(ROUTE, content=HELLO).status_code == 401


# Row 47: chatwoot#13556.
@pytest.mark.parametrize(
    ("firewall", "told"),
    [
        (Reply(403, b"<html>blocked</html>"), "not taken at all"),
        (Reply(200, b"<html>welcome</html>"), "A forged delivery is ignored"),
        (Reply(reset=True), "not taken at all"),
    ],
)
def test_issue_chatwoot_13556_a_firewall_that_eats_deliveries_is_found(leads, firewall, told):
    number = Reply(body={"id": ACCOUNT})
    with http_server(number) as graph, http_server(firewall) as outside:
        settings = {**SETTINGS, "LEADS_WHATSAPP_TOKEN": "x", "LEADS_WHATSAPP_URL": graph.url}
        leads("keys", "create")
        blind = leads("doctor", "--json", env=settings)
        sighted = leads("doctor", "--json", "--webhook", f"{outside.url}{ROUTE}", env=settings)

    assert (blind.code, sighted.code) == (0, 4)
    [found, *_] = [each for each in sighted.document["checks"] if each["check"] == "webhook"]
    assert told in found["detail"]
    assert "firewall" in found["hint"]


def test_issue_chatwoot_13556_a_webhook_that_is_reached_is_well(leads, tmp_path):
    (tmp_path / "service").mkdir()
    with talking(tmp_path / "service") as service, http_server(Reply(body={"id": ACCOUNT})) as own:
        settings = {**SETTINGS, "LEADS_WHATSAPP_TOKEN": "x", "LEADS_WHATSAPP_URL": own.url}
        leads("keys", "create")
        url = f"{service.http.base_url}{ROUTE}"
        answer = leads("doctor", "--json", "--webhook", url, env=settings)

        assert answer.code == 0
        assert "from outside" in answer.out
        assert service.leads() == []


# Row 45: aws-powertools/powertools-lambda-python#2981, powertools-lambda-java#1140.
def test_issue_powertools_lambda_python_2981_a_failure_holds_up_its_own_group_only(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    phones = ["5511955550101", "5511955550102", "5511955550103"]
    with cold_containers():
        for phone in phones:
            body = delivery(text(f"wamid.{phone}", sender=phone))
            webhook.lambda_handler(v2("POST", body, **signed_header(body)), None)
        by_phone = [(phone, {"phone_number": phone, "message_id": "x"}) for phone in phones]
        mixed = [by_phone[number] for number in (0, 1, 0, 2, 1, 0)]
        store = container(sends=True).app.log.store
        resolve = store.resolve
        seen = []

        def failing(named):
            seen.append(named)
            if len(seen) == 1:
                raise Unavailable("busy")
            return resolve(named)

        monkeypatch.setattr(store, "resolve", failing)
        answer = queue.lambda_handler(sqs(*mixed), None)

        # The first group failed at its first message: its later ones wait, those of others do not.
        assert failed(answer) == ["m1", "m3", "m6"]
        assert len(seen) == 4
        assert failed(queue.lambda_handler(sqs(*mixed), None)) == []

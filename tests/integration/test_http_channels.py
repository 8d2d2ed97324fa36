"""What a webhook of WhatsApp's is answered over HTTP, whatever is sent to it."""

import json
import random
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from domain.errors import Unavailable
from handlers.conversations.webhook import MAX_BODY_BYTES
from tests.support.deliveries import (
    ACCOUNT,
    EMPTY,
    ROUTE,
    delivery,
    failing_log,
    signature,
    signed,
    stamp,
    status,
    talking,
    text,
)
from tests.support.service import NOW, running_service
from tests.support.webhook import APP_SECRET, VERIFY_TOKEN

FIXTURES = Path(__file__).parents[1] / "fixtures/whatsapp"
HELLO = delivery(text("wamid.A", "Oi"))
HANDSHAKE = {
    "hub.mode": "subscribe",
    "hub.verify_token": VERIFY_TOKEN,
    "hub.challenge": "1158201444",
}


@pytest.fixture
def service(tmp_path):
    with talking(tmp_path) as own:
        yield own


@pytest.fixture(scope="module")
def one_for_all_shapes(tmp_path_factory):
    with talking(tmp_path_factory.mktemp("shapes")) as own:
        yield own


def test_the_handshake_is_answered_with_the_challenge_as_plain_text(service):
    answer = service.http.get(ROUTE, params=HANDSHAKE)

    assert (answer.status_code, answer.text) == (200, "1158201444")
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "changes",
    [
        {"hub.verify_token": "outro"},
        {"hub.verify_token": "ção"},
        {"hub.verify_token": ""},
        {"hub.mode": "unsubscribe"},
        {"hub.challenge": "<script>"},
        {"hub.challenge": "1" * 129},
    ],
)
def test_another_handshake_is_not_ours_to_answer(service, changes):
    answer = service.http.get(ROUTE, params=HANDSHAKE | changes)

    assert answer.status_code == 403
    assert changes.get("hub.challenge", "1158201444") not in answer.text


def test_how_late_a_delivery_is_is_logged(service):
    late, later = "2026-03-20T11:59:30.000000Z", "2026-03-20T11:58:30.000000Z"
    said = delivery(text("wamid.A", timestamp=stamp(late)), text("wamid.C", timestamp=stamp(later)))
    with capture_logs() as logs:
        service.post(said)
        service.post(delivery(statuses=[status("wamid.B", "read")]))

    lags = [each["lag_s"] for each in logs if each["event"] == "webhook_received"]
    assert lags == [90.0, None]


def test_a_message_is_queued_and_answered(service):
    answer = service.post(HELLO)

    assert (answer.status_code, answer.json()) == (202, {"status": "queued"})
    service.drain()
    assert len(service.phone.texts) == 1


def test_what_a_queued_message_is_answered_may_be_chosen(tmp_path):
    with talking(tmp_path, LEADS_WEBHOOK_ACK_STATUS="200") as service:
        answer = service.post(HELLO)

        assert (answer.status_code, answer.json()) == (200, {"status": "queued"})


def test_no_api_key_is_asked_for_and_none_helps(service):
    assert service.app.settings.auth == "required"
    token, _ = service.app.api_keys.create("default")
    answer = service.http.post(ROUTE, content=HELLO, headers={"Authorization": f"Bearer {token}"})

    assert answer.status_code == 401
    assert service.post(HELLO).status_code == 202


UNSIGNED = {
    "none": [],
    "empty": [b""],
    "wrong": [signature(HELLO, "outro").encode()],
    "of other bytes": [signature(HELLO + b" ").encode()],
    "cut": [signature(HELLO)[:-1].encode()],
    "of another kind": [signature(HELLO).replace("sha256", "sha1").encode()],
    "not ascii": ["sha256=é".encode("latin-1") + signature(HELLO)[7:].encode()],
    "not utf-8": [b"sha256=\xff\xfe"],
    "twice": [signature(HELLO).encode(), signature(HELLO).encode()],
    "twice, one wrong": [b"sha256=00", signature(HELLO).encode()],
    "joined": [f"{signature(HELLO)}, {signature(HELLO)}".encode()],
}


@pytest.mark.parametrize("headers", UNSIGNED.values(), ids=UNSIGNED)
def test_what_is_not_signed_as_it_must_be_gets_one_constant_answer(service, headers):
    given = [(b"X-Hub-Signature-256", each) for each in headers]
    answer = service.http.post(ROUTE, content=HELLO, headers=given)
    other = service.http.post(ROUTE, content=b"[]")

    assert answer.status_code == other.status_code == 401
    assert answer.content == other.content
    assert answer.headers["content-type"] == "application/problem+json"
    assert service.leads() == []


def test_each_of_several_secrets_signs(tmp_path):
    with talking(tmp_path, LEADS_WHATSAPP_APP_SECRET=f"novo,{APP_SECRET}") as service:
        assert service.http.post(ROUTE, content=EMPTY, headers=signed(EMPTY, "novo")).is_success
        assert service.http.post(ROUTE, content=EMPTY, headers=signed(EMPTY)).is_success
        assert not service.http.post(
            ROUTE, content=EMPTY, headers=signed(EMPTY, "velho")
        ).is_success


def test_an_api_without_conversations_takes_nothing(tmp_path):
    with running_service(tmp_path) as service:
        posted = service.http.post(ROUTE, content=HELLO, headers=signed(HELLO))
        asked = service.http.get(ROUTE, params=HANDSHAKE)

        assert (posted.status_code, asked.status_code) == (401, 403)


def test_a_delivery_is_never_larger_than_any_may_be(service):
    largest = EMPTY + b" " * (MAX_BODY_BYTES - len(EMPTY))
    larger = largest + b" "

    assert service.http.post(ROUTE, content=largest, headers=signed(largest)).status_code == 200
    refused = service.http.post(ROUTE, content=larger, headers=signed(larger))
    assert (refused.status_code, refused.json()["status"]) == (413, 413)


@pytest.mark.parametrize(
    "body",
    [
        b'{"object":"page","entry":[{"id":"1","changes":[{"field":"messages"}]}]}',
        EMPTY,
        delivery(text("wamid.A"), account="999999999999999"),
    ],
    ids=["unknown object", "empty entry", "unknown number"],
)
def test_what_is_not_for_us_is_taken_and_nothing_is_stored(service, body):
    answer = service.post(body)

    assert (answer.status_code, answer.json()) == (200, {"status": "ignored"})
    assert service.leads() == []
    assert service.quarantined() == []


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b'{"object": NaN}'])
def test_signed_bytes_that_nobody_can_read_are_kept_and_taken(service, body):
    answer = service.post(body)

    assert answer.status_code == 200
    assert len(service.quarantined()) == 1
    assert service.leads() == []


def test_a_strange_item_is_kept_raw_and_the_good_ones_beside_it_are_answered(service):
    strange = {"id": "wamid.X", "from": [ACCOUNT], "type": {"a": 1}}
    answer = service.post(delivery(text("wamid.A"), strange, text("wamid.B", "tudo bem?")))

    assert answer.status_code == 202
    service.drain()
    assert service.types().count("message_received") == 2
    assert len(service.phone.texts) == 1
    [kept] = service.quarantined()
    assert (
        json.loads(service.app.quarantine.show("default", kept.quarantine_id, now=NOW).raw)
        == strange
    )


def test_an_organization_has_the_leads_of_its_own_numbers(tmp_path):
    numbers = f"{ACCOUNT}=acme,222=outra"
    with talking(tmp_path, LEADS_WHATSAPP_NUMBERS=numbers) as service:
        service.post(delivery(text("wamid.A")))
        service.post(delivery(text("wamid.B"), account="222"))

        assert (len(service.leads("acme")), len(service.leads("outra"))) == (1, 1)
        assert service.leads("acme") != service.leads("outra")


def test_a_status_alone_is_recorded_and_queues_nothing(service):
    service.post(HELLO)
    service.drain()
    sent = service.phone.wamid(service.phone.texts[0])
    answer = service.post(delivery(statuses=[status(sent, "delivered")]))

    assert (answer.status_code, answer.json()) == (200, {"status": "recorded"})
    assert "message_status_changed" in service.types()


def test_another_media_type_and_encoding_change_nothing(service):
    answer = service.post(HELLO, **{"Content-Type": "text/plain; charset=latin-1"})

    assert answer.status_code == 202


def test_a_store_that_does_not_answer_asks_for_the_same_again(tmp_path):
    fails: dict[str, Exception] = {"wamid.B": Unavailable("busy")}
    log = failing_log(tmp_path, fails)
    body = delivery(text("wamid.A"), text("wamid.B"), text("wamid.C"))
    with talking(tmp_path, log=log) as service:
        first = service.post(body)
        kept = service.types().count("message_received")
        fails.clear()
        second = service.post(body)

        assert (first.status_code, first.headers["retry-after"]) == (503, "1")
        assert kept == 2
        assert second.status_code == 202
        assert service.types().count("message_received") == 3


def test_an_item_nobody_can_process_is_put_aside_after_five_tries(tmp_path):
    log = failing_log(tmp_path, {"wamid.B": ZeroDivisionError()})
    body = delivery(text("wamid.A"), text("wamid.B"))
    with talking(tmp_path, log=log) as service:
        statuses = [service.post(body).status_code for _ in range(5)]

        assert statuses == [503, 503, 503, 503, 202]
        assert len(service.quarantined()) == 1
        assert service.types().count("message_received") == 1


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("*.webhook.json")), ids=lambda path: path.stem
)
def test_every_shape_that_whatsapp_delivers_is_taken_twice(one_for_all_shapes, path):
    body = path.read_bytes()
    first, second = one_for_all_shapes.post(body), one_for_all_shapes.post(body)

    assert first.status_code in {200, 202}
    assert second.status_code in {200, 202}


def test_the_example_of_the_openapi_document_is_taken(service):
    document = service.http.get("/v1/openapi.json").json()
    route = document["paths"][ROUTE]["post"]
    examples = route["requestBody"]["content"]["application/json"]["examples"]

    assert service.post(json.dumps(examples["text"]["value"]).encode()).status_code == 202
    assert "security" not in route
    assert [each["name"] for each in route["parameters"]] == ["X-Hub-Signature-256"]


@pytest.mark.parametrize("wrap", ["bytes", "item", "message"])
def test_what_is_too_large_to_be_kept_is_not_delivered_again_and_again(service, wrap):
    noise = random.Random(7).randbytes(500_000).hex()
    strange = {"id": "wamid.X", "type": "text", "from": [noise]}
    message = text("wamid.A", noise)
    body = {
        "bytes": noise.encode(),
        "item": delivery(strange, text("wamid.B")),
        "message": delivery(message, text("wamid.B")),
    }[wrap]

    assert service.post(body).status_code == (200 if wrap == "bytes" else 202)

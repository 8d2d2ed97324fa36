"""One text, handed over once over real HTTP, and what every answer to it means."""

import json
import threading

import pytest

from adapters.whatsapp.client import WhatsAppChannel
from domain.conversation.delivery import (
    Accepted,
    ErrorClass,
    NotAccepted,
    OutboundText,
    Unknown,
)
from tests.support.http_server import Reply, closed_port, deaf_port, http_server

TOKEN = "token-one"
TEXT = OutboundText(
    outbound_id="out_a2b3", account="109876543210987", to="551155550142", text="Olá 😀"
)
TAKEN = {
    "messaging_product": "whatsapp",
    "contacts": [{"input": "551155550142", "wa_id": "5511955550142", "user_id": "BR.15"}],
    "messages": [{"id": "wamid.OUT"}],
}


def channel(url, token=TOKEN, **options):
    return WhatsAppChannel(token, version="v24.0", base_url=url, **options)


def sent(*replies, text=TEXT, **options):
    """Send one text to a server that gives these replies: the result, and what it was asked."""
    with http_server(*replies) as server:
        whatsapp = channel(server.url, **options)
        try:
            return whatsapp.send(text), server.asked
        finally:
            whatsapp.close()


def graph_error(code, **more):
    return {
        "error": {"message": "(#1) Meta's words", "type": "OAuthException", "code": code, **more}
    }


def test_a_text_is_sent_with_our_id_and_the_answer_names_the_person():
    result, (asked,) = sent(Reply(body=TAKEN))

    assert result == Accepted(message_id="wamid.OUT", wa_id="5511955550142", user_id="BR.15")
    assert (asked.method, asked.path) == ("POST", "/v24.0/109876543210987/messages")
    assert asked.headers["authorization"] == "Bearer token-one"
    assert asked.body == {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": "551155550142",
        "type": "text",
        "text": {"preview_url": False, "body": "Olá 😀"},
        "biz_opaque_callback_data": "out_a2b3",
    }


@pytest.mark.parametrize(
    ("to", "field"),
    [("551155550142", "to"), ("BR.1500000000001", "recipient"), ("BR.ENT.15", "recipient")],
)
def test_phones_and_user_ids_are_addressed_in_fields_of_their_own(to, field):
    text = OutboundText(outbound_id="out_a", account="1", to=to, text="Oi")
    _, (asked,) = sent(Reply(body=TAKEN), text=text)

    assert {name: asked.body.get(name) for name in ("to", "recipient")} == {
        "to": None,
        "recipient": None,
        field: to,
    }


def test_each_number_has_its_own_token_and_one_without_opens_the_circuit():
    tokens = {"1": "token-of-one"}
    with http_server(Reply(body=TAKEN)) as server:
        whatsapp = channel(server.url, tokens.__getitem__)
        of_one = whatsapp.send(OutboundText(outbound_id="o", account="1", to="5511", text="Oi"))
        of_two = whatsapp.send(OutboundText(outbound_id="o", account="2", to="5511", text="Oi"))
        whatsapp.close()

    assert isinstance(of_one, Accepted)
    assert of_two == NotAccepted(error_class=ErrorClass.ACCOUNT)
    assert [each.headers["authorization"] for each in server.asked] == ["Bearer token-of-one"]


@pytest.mark.parametrize("token", ["zwei\nzeilen", "não-ascii"])
def test_a_token_that_is_no_header_is_a_fault_of_the_account(token):
    assert sent(token=token) == (NotAccepted(error_class=ErrorClass.ACCOUNT), [])


def test_half_of_a_surrogate_pair_is_sent_as_a_replacement():
    text = OutboundText(outbound_id="o", account="1", to="5511", text="a\ud83db")
    result, (asked,) = sent(Reply(body=TAKEN), text=text)

    assert isinstance(result, Accepted)
    assert asked.body["text"]["body"] == "a\ufffdb"


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        None,
        b"",
        b"<html>",
        b"\xff",
        {"messages": []},
        {"messages": [{}]},
        {"messages": 5},
        graph_error(131000),
        {"messages": [{"id": ""}]},
        {**TAKEN, "more": "x" * 70_000},
    ],
)
def test_a_success_without_an_id_may_have_been_one(body):
    result, _ = sent(Reply(body=body))

    assert result == Unknown(reason="no_message_id")


@pytest.mark.parametrize(
    ("status", "error", "error_class"),
    [
        (400, graph_error(131056), ErrorClass.PAIR),
        (400, graph_error(131047), ErrorClass.WINDOW),
        (400, graph_error("131026"), ErrorClass.RECIPIENT),
        (401, graph_error(190), ErrorClass.ACCOUNT),
        (429, graph_error(99999), ErrorClass.THROUGHPUT),
        (500, graph_error(131000), ErrorClass.TRANSIENT),
        (503, graph_error(99999), ErrorClass.TRANSIENT),
        (400, graph_error(99999, is_transient=True), ErrorClass.TRANSIENT),
        (400, graph_error(99999, is_transient="yes"), ErrorClass.REQUEST),
        (404, b"<html>not here</html>", ErrorClass.REQUEST),
        (403, b"", ErrorClass.ACCOUNT),
        (429, b"slow down", ErrorClass.THROUGHPUT),
        (302, b"", ErrorClass.REQUEST),
        (400, {"error": "a word"}, ErrorClass.REQUEST),
    ],
)
def test_what_was_refused_was_certainly_not_sent(status, error, error_class):
    result, asked = sent(Reply(status, error, {"Location": "http://127.0.0.1:9/"}))

    assert isinstance(result, NotAccepted)
    assert result.error_class is error_class
    assert len(asked) == 1


def test_a_refusal_is_told_without_what_it_quotes():
    error = graph_error(
        190,
        message="Malformed access token EAAG1234567890abcdefghijklmnopqrstuvwxyz of\n 5511955550142",
        error_data={"details": "word " * 100},
    )
    result, _ = sent(Reply(401, error))

    assert isinstance(result, NotAccepted)
    assert (result.error_code, result.error_title) == (190, "Malformed access token … of …")
    assert result.error_details is not None
    assert len(result.error_details) == 200


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("30", 30),
        ("0", 0),
        ("-1", None),
        ("soon", None),
        ("9" * 12, 86_400),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
    ],
)
def test_how_long_to_wait_is_passed_on_if_it_is_a_number(header, seconds):
    result, _ = sent(Reply(429, graph_error(130429), {"Retry-After": header}))

    assert isinstance(result, NotAccepted)
    assert result.retry_after_s == seconds


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(502, b"<html>bad gateway</html>"), "server_error"),
        (Reply(500, {"detail": "not Meta's form"}), "server_error"),
        (Reply(504, b""), "server_error"),
        (Reply(hang_s=30, body=TAKEN), "timeout"),
        (Reply(body={**TAKEN, "more": "x" * 200}, trickle=300), "timeout"),
        (Reply(reset=True), "connection_lost"),
        (Reply(status=200, body=b"", headers={"Content-Encoding": "gzip"}), "no_message_id"),
        (
            Reply(status=200, body=b"no gzip", headers={"Content-Encoding": "gzip"}),
            "connection_lost",
        ),
    ],
)
def test_what_may_have_been_sent_is_unknown_and_not_sent_again(reply, reason):
    result, asked = sent(reply, read_s=0.5)

    assert result == Unknown(reason=reason)
    assert len(asked) == 1


def test_nobody_listening_means_not_sent():
    whatsapp = channel(f"http://127.0.0.1:{closed_port()}")

    assert whatsapp.send(TEXT) == NotAccepted(error_class=ErrorClass.NOT_SENT)
    whatsapp.close()


def test_a_name_nobody_has_means_not_sent():
    whatsapp = channel("http://no-such-host.invalid")

    assert whatsapp.send(TEXT) == NotAccepted(error_class=ErrorClass.NOT_SENT)
    whatsapp.close()


def test_a_connection_nobody_takes_means_not_sent():
    with deaf_port() as port:
        whatsapp = channel(f"http://127.0.0.1:{port}", connect_s=0.2)
        result = whatsapp.send(TEXT)
        whatsapp.close()

    assert result == NotAccepted(error_class=ErrorClass.NOT_SENT)


@pytest.mark.parametrize("url", ["graph.facebook.com", "ftp://127.0.0.1", "http://a:b"])
def test_an_address_that_is_none_is_a_fault_of_the_account(url):
    whatsapp = channel(url)

    assert whatsapp.send(TEXT) == NotAccepted(error_class=ErrorClass.ACCOUNT)
    whatsapp.close()


def test_a_proxy_of_the_shell_is_not_used(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("no_proxy", "")

    result, _ = sent(Reply(body=TAKEN))

    assert isinstance(result, Accepted)


def test_many_threads_share_one_channel():
    with http_server(Reply(body=TAKEN)) as server:
        whatsapp = channel(server.url)
        results = []
        threads = [
            threading.Thread(target=lambda: results.append(whatsapp.send(TEXT))) for _ in range(8)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        whatsapp.close()

    assert [type(each) for each in results] == [Accepted] * 8
    assert len(server.asked) == 8


def test_reading_and_typing_are_shown_in_one_request():
    with http_server(Reply(body={"success": True})) as server:
        whatsapp = channel(server.url)
        whatsapp.typing("109876543210987", "wamid.IN")
        whatsapp.close()

    (asked,) = server.asked
    assert asked.path == "/v24.0/109876543210987/messages"
    assert asked.body == {
        "messaging_product": "whatsapp",
        "status": "read",
        "message_id": "wamid.IN",
        "typing_indicator": {"type": "text"},
    }


@pytest.mark.parametrize(
    "reply", [Reply(400, graph_error(100)), Reply(500, b""), Reply(reset=True)]
)
def test_typing_never_fails_a_turn(reply):
    with http_server(reply) as server:
        whatsapp = channel(server.url)
        whatsapp.typing("1", "wamid.IN")
        whatsapp.close()
        whatsapp.typing("1", "wamid.IN")

    assert len(server.asked) == 1


def test_typing_never_fails_without_a_token_or_a_server():
    def no_token(account):
        raise KeyError(account)

    channel(f"http://127.0.0.1:{closed_port()}").typing("1", "wamid.IN")
    channel("http://127.0.0.1:9", no_token).typing("1", "wamid.IN")


def test_an_account_cannot_lead_elsewhere():
    text = OutboundText(outbound_id="o", account="../me?x=", to="5511", text="Oi")
    _, (asked,) = sent(Reply(body=TAKEN), text=text)

    assert asked.path == "/v24.0/..%2Fme%3Fx%3D/messages"


def test_no_body_is_in_what_libraries_log(caplog):
    caplog.set_level("DEBUG")
    sent(Reply(400, graph_error(131000, error_data={"details": "canary-details"})))

    logged = json.dumps([record.getMessage() for record in caplog.records])
    assert "graph" not in logged
    assert not [each for each in ("canary", "Olá", "token-one", "551155550142") if each in logged]

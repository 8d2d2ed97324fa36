"""What leaves this machine, where to, and what nobody gets to see of it."""

import logging

import pytest

from adapters.hubspot.client import HubSpotClient, _trusted
from adapters.hubspot.crm import HubSpotCrm
from adapters.hubspot.wire import Request, Verb
from domain.crm.replies import Kind
from domain.errors import Rejected
from tests.support.http_server import Reply as Answered
from tests.support.http_server import closed_port, http_server
from tests.support.hubspot import (
    CONTACT,
    DEAL,
    TOKEN,
    VERBS,
    crm_answered,
    crm_at,
    error,
    record,
)
from tests.support.socket_server import socket_server


def test_every_request_says_who_asks_and_nothing_of_this_machine():
    with crm_answered(Answered(200, record())) as (crm, server):
        VERBS["CREATE"](crm)
        VERBS["READ"](crm)

    created, read = server.asked
    for asked in (created, read):
        assert asked.headers["authorization"] == f"Bearer {TOKEN}"
        assert asked.headers["user-agent"] == "leads-crm-mirror"
        assert "cookie" not in asked.headers
    assert created.headers["content-type"] == "application/json"
    assert "content-type" not in read.headers


def test_a_cookie_is_not_brought_back():
    with crm_answered(Answered(200, record(), {"Set-Cookie": "__cf_bm=canary"})) as (crm, server):
        VERBS["READ"](crm)
        VERBS["READ"](crm)

    assert "cookie" not in server.asked[1].headers


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_so_the_token_goes_nowhere_else(status):
    with http_server(Answered(200, record())) as elsewhere:
        location = {"Location": f"{elsewhere.url}/crm/objects/2026-09/deals/42"}
        with crm_answered(Answered(status, b"", location)) as (crm, server):
            kinds = [act(crm).kind for act in VERBS.values()]

    assert kinds == [Kind.BREAKER, Kind.BREAKER, Kind.AMBIGUOUS]
    assert len(server.asked) == len(VERBS)
    assert elsewhere.asked == []


def test_a_proxy_of_the_shell_is_not_used(monkeypatch):
    nobody = f"http://127.0.0.1:{closed_port()}"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, nobody)
        monkeypatch.setenv(name.lower(), nobody)
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("no_proxy", "")

    with crm_answered(Answered(200, record())) as (crm, server):
        assert VERBS["READ"](crm).kind is Kind.DONE
    assert len(server.asked) == 1


def test_a_password_of_the_shell_is_not_used(monkeypatch, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login ana password canary\n")
    monkeypatch.setenv("NETRC", str(netrc))

    with crm_answered(Answered(200, record())) as (crm, server):
        VERBS["READ"](crm)

    assert server.asked[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    "url",
    [
        "http://api.hubapi.com",
        "http://10.0.0.1",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "ftp://127.0.0.1",
        "api.hubapi.com",
        "",
        "https://",
        "https://user:canary@api.hubapi.com",
        "https://api.hubapi.com?x=1",
        "https://api.hubapi.com#x",
        "https://api.hubapi.com:port",
        "http://[::1",
        "http://user@127.0.0.1",
    ],
)
def test_a_token_is_not_sent_to_an_address_that_is_not_safe(url):
    with pytest.raises(Rejected) as caught:
        HubSpotClient(TOKEN, base_url=url)

    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.hubapi.com",
        "https://api.hubapi.com/",
        "http://127.0.0.1:8080",
        "http://127.8.8.8",
        "http://[::1]:8080",
        "http://localhost:8080",
    ],
)
def test_https_is_safe_and_so_is_this_machine(url):
    HubSpotClient(TOKEN, base_url=url).close()


@pytest.mark.parametrize("token", ["", " ", "zwei\nzeilen", "não-ascii", "two words", "x" * 1001])
def test_a_token_that_is_no_header_is_refused_before_anything_is_sent(token):
    with pytest.raises(Rejected) as caught:
        HubSpotClient(token)

    assert not token.strip() or token not in str(caught.value)


def test_a_path_before_the_api_is_kept():
    with http_server(Answered(200, record())) as server, crm_at(f"{server.url}/hub/") as crm:
        VERBS["READ"](crm)

    assert server.asked[0].path.startswith("/hub/crm/objects/2026-09/deals/42?")


def test_the_version_of_the_api_is_a_setting():
    with http_server(Answered(200, record())) as server:
        crm = HubSpotCrm(HubSpotClient(TOKEN, base_url=server.url), version="2027-03")
        VERBS["CREATE"](crm)
        crm.close()

    assert server.asked[0].path == "/crm/objects/2027-03/deals"


def test_neither_the_token_nor_a_value_is_logged_told_or_shown(caplog, capsys):
    caplog.set_level(logging.DEBUG)
    # What libraries log by themselves is switched off by `adapters.telemetry`, not here.
    for name in ("httpx2", "httpcore2"):
        caplog.set_level(logging.CRITICAL, logger=name)
    told = []

    def ends(connection):
        connection.request()

    with crm_answered(Answered(401, error(message=f"{TOKEN} is not valid"))) as (crm, _):
        told += [repr(act(crm)) for act in VERBS.values()]
        told += [repr(crm), repr(vars(crm)), repr(crm._client), repr(vars(crm._client))]
        told += [repr(crm.create_contact(CONTACT))]
    with socket_server(ends) as server, crm_at(server.url) as crm:
        told += [repr(act(crm)) for act in VERBS.values()]
    printed = capsys.readouterr()
    everything = "\n".join([*told, caplog.text, printed.out, printed.err])

    for canary in ("canary", CONTACT["email"], CONTACT["phone"], DEAL["key"]):
        assert canary not in everything


def test_what_libraries_log_never_has_the_token(caplog):
    caplog.set_level(logging.DEBUG)
    with crm_answered(Answered(200, record())) as (crm, _):
        VERBS["CREATE"](crm)

    assert "httpcore2" in {each.name.partition(".")[0] for each in caplog.records}
    assert "canary" not in caplog.text


def test_a_body_that_is_no_json_is_ours_to_mend():
    with http_server() as server:
        client = HubSpotClient(TOKEN, base_url=server.url)
        request = Request(verb=Verb.CREATE, method="POST", path="/x", body={"a": object()})
        reply = client.ask(request)
        client.close()

    assert (reply.status, server.asked) == (None, [])
    assert getattr(reply, "reason", "") == "client_bug"


def test_certificates_of_the_shell_are_not_trusted(monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none"))
    _trusted.cache_clear()

    # Who looked for them would not find them, and fail.
    HubSpotClient(TOKEN).close()
    _trusted.cache_clear()

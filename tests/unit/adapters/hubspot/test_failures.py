"""Every way a request can come to nothing, done to real sockets, and what it means for each verb.

Source of the table: research/crm.md §4.4.
"""

import gzip
import threading

import httpx2
import pytest

from adapters.hubspot.classification import failed
from adapters.hubspot.client import MAX_CONNECTIONS, HubSpotClient
from adapters.hubspot.wire import Request, Verb
from domain.crm.replies import Kind, Reply
from tests.support.http_server import closed_port, deaf_port
from tests.support.hubspot import TOKEN, VERBS, crm_at
from tests.support.socket_server import answer, answering, socket_server

LARGE = "x" * 20_000_000
OK = answer("200 OK", b'{"id":"42","properties":{}}')

MAYBE_DONE = {"READ": Kind.TRANSIENT, "WRITE": Kind.AMBIGUOUS, "CREATE": Kind.AMBIGUOUS}

every_verb = pytest.mark.parametrize("verb", VERBS)


def asked_of(verb, act, read_s=0.4):
    """Ask once of a socket that this is done to: the reply, and how often it was asked."""
    with socket_server(act) as server, crm_at(server.url, read_s=read_s) as crm:
        reply = VERBS[verb](crm)
        return reply, server.connections


def reads_nothing(connection):
    connection.over.wait(20)


def reads_then_ends(connection):
    connection.request()


def ends_at_once(connection):
    pass


def resets_at_once(connection):
    connection.reset()


def reads_a_hello_then_resets(connection):
    connection.socket.recv(100)
    connection.reset()


def reads_then_resets(connection):
    connection.request()
    connection.reset()


def reads_then_is_silent(connection):
    connection.request()
    connection.over.wait(10)


def sends(data, *, then_waits=False):
    def act(connection):
        connection.request()
        connection.send(data)
        if then_waits:
            connection.over.wait(10)

    return act


def trickles(connection):
    connection.request()
    connection.send(b"HTTP/1.1 201 Created\r\nContent-Length: 1000\r\n\r\n")
    while not connection.over.wait(0.05):
        connection.send(b" ")


@every_verb
@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (ends_at_once, "connection_lost"),
        (reads_then_ends, "connection_lost"),
        (reads_then_resets, "connection_lost"),
        (reads_then_is_silent, "timeout"),
        (sends(b"HTTP/1.1 201 Created\r\n", then_waits=True), "timeout"),
        (sends(OK[:-3]), "connection_lost"),
        (sends(OK[:-3], then_waits=True), "timeout"),
        (
            sends(b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{"),
            "connection_lost",
        ),
        (sends(b"not HTTP at all\r\n\r\n"), "connection_lost"),
        (sends(b"HTTP/1.1 2x1 Created\r\n\r\n"), "connection_lost"),
        (sends(answer("201 Created", b"no gzip", "Content-Encoding: gzip")), "connection_lost"),
        (trickles, "timeout"),
    ],
)
def test_what_may_have_been_done_is_in_doubt_and_asked_for_once(verb, act, reason):
    reply, connections = asked_of(verb, act)

    assert reply == Reply(kind=MAYBE_DONE[verb], reason=reason)
    assert connections == 1


@pytest.mark.parametrize("verb", [Verb.WRITE, Verb.CREATE])
def test_a_reset_in_the_middle_of_an_upload_is_in_doubt(verb):
    def reads_a_little(connection):
        connection.socket.recv(1000)
        connection.reset()

    request = Request(verb=verb, method="POST", path="/x", body={"notes": LARGE})
    with socket_server(reads_a_little) as server:
        client = HubSpotClient(TOKEN, base_url=server.url, read_s=1)
        reply = client.ask(request)
        client.close()

    assert reply == Reply(kind=Kind.AMBIGUOUS, reason="connection_lost")
    assert server.connections == 1


def test_an_upload_that_nobody_reads_is_in_doubt():
    request = Request(verb=Verb.CREATE, method="POST", path="/x", body={"notes": LARGE})
    with socket_server(reads_nothing) as server:
        client = HubSpotClient(TOKEN, base_url=server.url, read_s=1)
        reply = client.ask(request)
        client.close()

    assert reply == Reply(kind=Kind.AMBIGUOUS, reason="timeout")


@every_verb
@pytest.mark.parametrize("host", ["nobody_listens", "no_such_host"])
def test_nobody_there_means_not_sent(verb, host):
    nobody = f"http://127.0.0.1:{closed_port()}"
    with crm_at(nobody if host == "nobody_listens" else "https://no-such-host.invalid") as crm:
        assert VERBS[verb](crm) == Reply(kind=Kind.NOT_SENT, reason="not_sent")


@every_verb
def test_a_reset_before_anything_is_sent_is_in_doubt_at_most(verb):
    reply, connections = asked_of(verb, resets_at_once)

    # Whether the connection is seen to stand before it is torn down is up to the kernel.
    assert reply.kind in {Kind.NOT_SENT, MAYBE_DONE[verb]}
    assert connections == 1


@pytest.mark.parametrize(
    "act", [reads_a_hello_then_resets, sends(b"HTTP/1.1 400 no TLS here\r\n\r\n")]
)
def test_a_handshake_that_fails_means_not_sent(act):
    with (
        socket_server(act) as server,
        crm_at(server.url.replace("http:", "https:"), read_s=1) as crm,
    ):
        assert VERBS["CREATE"](crm) == Reply(kind=Kind.NOT_SENT, reason="not_sent")
        assert server.connections == 1


def test_a_connection_nobody_takes_means_not_sent():
    with deaf_port() as port, crm_at(f"http://127.0.0.1:{port}") as crm:
        assert VERBS["CREATE"](crm) == Reply(kind=Kind.NOT_SENT, reason="not_sent")


def test_no_free_connection_means_not_sent():
    arrived = threading.Semaphore(0)

    def holds(connection):
        connection.request()
        arrived.release()
        connection.over.wait(10)

    with socket_server(holds) as server, crm_at(server.url, read_s=5) as crm:
        threads = [
            threading.Thread(target=VERBS["READ"], args=(crm,)) for _ in range(MAX_CONNECTIONS)
        ]
        for thread in threads:
            thread.start()
        for _ in threads:
            assert arrived.acquire(timeout=10)
        reply = VERBS["CREATE"](crm)
        server.over.set()
        for thread in threads:
            thread.join()

    assert reply == Reply(kind=Kind.NOT_SENT, reason="not_sent")


@every_verb
@pytest.mark.parametrize(
    "error",
    [
        httpx2.UnsupportedProtocol("x"),
        httpx2.LocalProtocolError("x"),
        httpx2.InvalidURL("x"),
    ],
)
def test_a_request_that_cannot_be_made_is_ours_to_mend(verb, error):
    assert failed(error, Verb(verb)) == Reply(kind=Kind.REFUSED, reason="client_bug")


@every_verb
@pytest.mark.parametrize("error", [httpx2.WriteError("x"), RuntimeError("x"), MemoryError()])
def test_what_nobody_knows_counts_as_sent(verb, error):
    assert failed(error, Verb(verb)).kind is MAYBE_DONE[verb]


def test_a_kept_connection_that_ended_in_silence_is_made_anew():
    with (
        socket_server(answering(OK), answering(OK)) as server,
        crm_at(server.url, read_s=2) as crm,
    ):
        first = VERBS["CREATE"](crm)
        # The end of the first connection arrives before the second request is made.
        threading.Event().wait(0.2)
        second = VERBS["CREATE"](crm)

    assert (first.kind, second.kind) == (Kind.DONE, Kind.DONE)
    assert (server.connections, len(server.seen)) == (2, 2)


def test_a_kept_connection_that_ends_on_the_next_request_leaves_it_in_doubt():
    def answers_once_then_takes_one_more(connection):
        connection.request()
        connection.send(OK)
        connection.request()

    with (
        socket_server(answers_once_then_takes_one_more) as server,
        crm_at(server.url, read_s=2) as crm,
    ):
        first = VERBS["CREATE"](crm)
        second = VERBS["CREATE"](crm)

    assert first.kind is Kind.DONE
    assert second == Reply(kind=Kind.AMBIGUOUS, reason="connection_lost")
    assert (server.connections, len(server.seen)) == (1, 2)


def test_one_connection_serves_many_requests():
    with (
        socket_server(answering(*[OK] * 5)) as server,
        crm_at(server.url, read_s=2) as crm,
    ):
        replies = [VERBS["READ"](crm) for _ in range(5)]

    assert [reply.kind for reply in replies] == [Kind.DONE] * 5
    assert server.connections == 1


def test_an_answer_that_was_packed_is_unpacked():
    packed = gzip.compress(b'{"id":"42","properties":{"dealname":"Ana"}}')
    act = sends(answer("200 OK", packed, "Content-Encoding: gzip"))
    with socket_server(act) as server, crm_at(server.url, read_s=2) as crm:
        reply = VERBS["READ"](crm)

    assert reply.record is not None
    assert reply.record.properties == {"name": "Ana"}


def test_an_answer_that_unpacks_beyond_the_limit_is_not_read():
    packed = gzip.compress(b'{"id":"42","properties":{}}' + b" " * 30_000_000)
    act = sends(answer("201 Created", packed, "Content-Encoding: gzip"))
    with socket_server(act) as server, crm_at(server.url, read_s=2) as crm:
        reply = VERBS["CREATE"](crm)

    assert (reply.kind, reply.reason) == (Kind.AMBIGUOUS, "answer_too_large")

import socket
import threading
from random import Random
from urllib.parse import urlsplit

import httpx2
import pytest

from handlers.simulators.hubspot import (
    BURST_LIMITED,
    DAILY_LIMITED,
    FAILING,
    LOCKED,
    NEVER_SENT,
    PRESETS,
    REPLY_LOST,
    SEARCH_LIMITED,
    Chaos,
    Drop,
    Late,
    Mangle,
    Page,
    Twice,
    migrating,
)
from tests.support.hubspot_account import deal, playing

KEY = "prod:session-1"
LOST = (httpx2.ReadError, httpx2.RemoteProtocolError)


def create(program):
    return program.post("deals", deal(lead_session_id=KEY))


def test_what_was_never_sent_is_never_done(program):
    program.account.script(NEVER_SENT)
    with pytest.raises(LOST):
        create(program)
    program.clock.advance(1_000)

    assert program.account.deals() == []
    (entry,) = program.account.journal
    assert (entry.status, entry.executed, entry.fault) == (None, 0, "Drop")
    assert entry.body == b""  # It was not even read.


@pytest.mark.parametrize("fault", [Drop(reset=True), Drop()], ids=["reset", "closed"])
def test_a_connection_can_end_after_the_body_was_read(program, fault):
    program.account.script(fault)
    with pytest.raises(LOST):
        create(program)

    assert program.account.deals() == []
    (entry,) = program.account.journal
    assert entry.document["properties"]["lead_session_id"] == KEY


def test_a_reset_is_one_on_the_wire(program):
    program.account.script(Drop(reset=True))
    address = urlsplit(program.account.url)
    with socket.create_connection((address.hostname, address.port), 20) as connection:
        connection.sendall(b"GET /crm/objects/2026-09/deals/1 HTTP/1.1\r\nHost: x\r\n\r\n")
        with pytest.raises(ConnectionResetError):
            connection.recv(1)


def test_a_reply_can_be_lost_after_the_deal_was_made(program):
    program.account.script(REPLY_LOST, method="POST", path="*/deals")
    with pytest.raises(LOST):
        create(program)

    assert len(program.account.deals()) == 1
    assert create(program).status_code == 400
    assert [entry.executed for entry in program.account.journal] == [1, 1]


def test_what_comes_late_is_done_at_its_time(program):
    program.account.script(Late(after_s=90))
    with pytest.raises(LOST):
        create(program)
    program.clock.advance(89)
    assert (program.account.deals(), program.account.late) == ([], 1)
    program.clock.advance(30)
    (made,) = program.account.deals()

    assert made.created_at == "2026-03-20T12:01:30.000000Z"
    assert program.account.late == 0
    assert program.account.journal.of("POST")[0].executed == 1


def test_a_late_creation_is_refused_once_another_one_was_made(program):
    program.account.script(Late(after_s=90))
    with pytest.raises(LOST):
        create(program)
    made = create(program).json()["id"]
    program.clock.advance(100)

    assert [each.id for each in program.account.deals()] == [made]


def test_a_late_change_overwrites_a_newer_one(program):
    made = program.deal()
    program.account.script(Late(after_s=90), method="PATCH")
    with pytest.raises(LOST):
        program.patch(f"deals/{made}", {"properties": {"dealstage": "1000002"}})
    program.patch(f"deals/{made}", {"properties": {"dealstage": "1000003"}})
    program.clock.advance(100)

    assert program.account.deals()[0].values["dealstage"] == "1000002"


def test_what_comes_late_comes_before_what_is_asked_later(program):
    program.account.script(Late(after_s=90))
    with pytest.raises(LOST):
        create(program)
    program.clock.advance(100)
    assert program.get(f"deals/{KEY}", idProperty="lead_session_id").status_code == 200


def test_a_connection_can_stall(program):
    program.account.script(Drop(hang_s=30))
    with pytest.raises(httpx2.ReadTimeout):
        program.http.get("/crm/objects/2026-09/deals/1", timeout=0.2)


@pytest.mark.parametrize(
    ("how", "raised"),
    [
        ("cut", httpx2.RemoteProtocolError),
        ("garbage", httpx2.RemoteProtocolError),
        ("gzip", httpx2.DecodingError),
    ],
)
def test_an_answer_that_cannot_be_read_was_carried_out(program, how, raised):
    program.account.script(Mangle(how=how))
    with pytest.raises(raised):
        create(program)
    assert len(program.account.deals()) == 1


@pytest.mark.parametrize(("how", "content"), [("html", b"<html>OK</html>"), ("empty", b"")])
def test_an_answer_that_is_no_document_was_carried_out(program, how, content):
    program.account.script(Mangle(how=how))
    answer = program.http.post(
        "/crm/objects/2026-09/deals",
        json=deal(),
        headers={"Authorization": f"Bearer {program.account.token}"},
    )
    assert (answer.status_code, answer.content) == (201, content)
    assert len(program.account.deals()) == 1


@pytest.mark.parametrize(
    ("fault", "status", "made"),
    [
        (Page(), 502, 0),
        (Page(status=524, executed=True), 524, 1),
        (LOCKED, 423, 0),
        (FAILING, 500, 0),
        (BURST_LIMITED, 429, 0),
        (DAILY_LIMITED, 429, 0),
        (SEARCH_LIMITED, 429, 0),
        (migrating(60), 477, 0),
    ],
)
def test_a_scripted_answer_comes_once_and_only_where_it_was_meant(program, fault, status, made):
    program.account.script(fault, method="POST", path="*/deals")
    assert program.get("deals/1").status_code == 404
    answer = program.http.post(
        "/crm/objects/2026-09/deals",
        json=deal(lead_session_id=KEY),
        headers={"Authorization": f"Bearer {program.account.token}"},
    )

    assert answer.status_code == status
    assert len(program.account.deals()) == made
    assert program.get("deals/1").status_code == 404
    html = isinstance(fault, Page)
    assert answer.headers["Content-Type"].startswith("text/html" if html else "application/json")
    assert answer.headers.get("Retry-After") == ("60" if status == 477 else None)


def test_a_fault_meets_the_nth_request_and_the_next_so_many(program):
    program.account.script(Page(), nth=2, times=2)
    head = {"Authorization": f"Bearer {program.account.token}"}
    address = "/crm/objects/2026-09/deals/1"
    statuses = [program.http.get(address, headers=head).status_code for _ in range(4)]

    assert statuses == [404, 502, 502, 404]


def test_a_request_that_is_repeated_on_the_way_is_carried_out_twice(program):
    program.account.script(Twice())
    answer = create(program)

    assert answer.status_code == 400
    assert len(program.account.deals()) == 1
    assert program.account.journal.of("POST")[0].executed == 2


def test_an_account_that_refuses_connections_has_its_address_again_afterwards(program):
    program.get("deals/1")
    with program.account.refusing(), pytest.raises(httpx2.ConnectError):
        program.get("deals/1")

    assert program.get("deals/1").status_code == 404
    assert len(program.account.journal) == 2


def test_a_connection_is_kept_for_many_requests(program):
    ends = set()

    def remember(answer):
        stream = answer.extensions["network_stream"]
        ends.add(stream.get_extra_info("client_addr"))

    program.http.event_hooks = {"response": [remember]}
    for _ in range(5):
        program.deal()

    assert len(ends) == 1


def outcomes(seed, chaos, count=60):
    """What a program sees of so many creations, and what became of each."""
    seen = []
    with playing(seed=seed, faults=chaos) as program:
        for number in range(count):
            body = deal(lead_session_id=f"prod:{number}")
            try:
                seen.append(str(program.post("deals", body).status_code))
            except httpx2.TransportError:
                seen.append(
                    "lost"
                )  # How a client tells it is a race between a reset and its write.
            except (httpx2.DecodingError, ValueError, AssertionError) as error:
                seen.append(type(error).__name__)
        program.clock.advance(chaos.latest_s)
        keys = [each.values["lead_session_id"] for each in program.account.deals()]
        executed = [entry.executed for entry in program.account.journal]
    return seen, keys, executed


def test_chance_has_one_story_a_seed():
    many = PRESETS["many"]
    assert outcomes(3, many) == outcomes(3, many)
    assert outcomes(3, many) != outcomes(4, many)


def test_whatever_happens_by_chance_no_key_has_two_deals():
    seen, keys, executed = outcomes(5, PRESETS["many"], count=120)

    assert len(set(keys)) == len(keys)
    assert len(set(seen)) >= 4
    assert {0, 1, 2} <= set(executed)
    assert len(keys) == sum(1 for each in executed if each)


@pytest.mark.parametrize(
    ("chaos", "made"),
    [
        (Chaos(never_sent=1), 0),
        (Chaos(refused=1), 0),
        (Chaos(reply_lost=1), 8),
        (Chaos(late=1), 8),
        (Chaos(twice=1), 8),
    ],
)
def test_what_is_certain_happens_every_time(chaos, made):
    _, keys, _ = outcomes(1, chaos, count=8)
    assert len(keys) == made


def test_chances_add_up():
    chaos = Chaos(never_sent=0.2, reply_lost=0.2, late=0.1, twice=0.1, refused=0.1, broken=0.1)
    random = Random(1)
    drawn = [chaos.draw(random, write=True) for _ in range(4_000)]
    names = {type(each).__name__ for each in drawn}

    assert abs(drawn.count(None) / 4_000 - 0.2) < 0.03
    assert abs(drawn.count(NEVER_SENT) / 4_000 - 0.2) < 0.03
    assert abs(sum(isinstance(each, Late) for each in drawn) / 4_000 - 0.1) < 0.03
    assert {"NoneType", "Drop", "Late", "Twice", "Answer", "Page", "Mangle"} == names
    assert chaos.draw(random, write=False) is None
    assert Chaos(reads=1).draw(random, write=False) is not None


def test_it_ends_while_somebody_waits_for_an_answer():
    with playing() as program:
        program.account.script(Drop(hang_s=600))
        ended = threading.Event()

        def wait():
            with pytest.raises(LOST):
                program.http.get("/crm/objects/2026-09/deals/1", timeout=30)
            ended.set()

        threading.Thread(target=wait, daemon=True).start()
        while not len(program.account.journal):
            ended.wait(0.01)
        program.account.__exit__(None, None, None)
        assert ended.wait(20)

"""Records of an earlier deployment are read once, become facts, and are gone."""

import pytest

from domain import keys
from domain.addresses import address
from domain.keys import Key
from domain.records import Row
from tests.support.backends import sqlite_backend
from tests.support.talks import PHONE, World, drain, history, receive

NINE_DIGITS, EIGHT_DIGITS = "5511988880142", "551188880142"
FIRST = "2026-03-20T11:59:40+00:00"


@pytest.fixture
def world(tmp_path):
    with sqlite_backend(tmp_path) as backend:
        yield World(backend, tmp_path)


def left(world, sk, phone=PHONE, **attributes):
    key = Key(keys.thread_partition(phone), sk)
    process = world.process()
    process.app.table.put(Row(key, {"first_message_at": FIRST, **attributes}))
    return process, key


def test_a_buffer_is_answered_once_with_the_message_that_finds_it(world):
    process, key = left(world, "BUFFER", messages='["bom dia","quanto custa?"]')

    receive(process, world.says("alguém?"))
    drain(process)

    texts = [message.text for message in history(process) if message.direction == "inbound"]
    assert sorted(texts) == ["alguém?", "bom dia\nquanto custa?"]
    [request] = world.model.model.requests
    assert [said.text for said in request.messages] == ["alguém?", "bom dia\nquanto custa?"]
    assert process.app.table.get(key) is None


def test_what_was_left_under_another_form_of_the_number_is_found(world):
    process, key = left(world, "BUFFER", phone=EIGHT_DIGITS, text="oi")

    nine = address("whatsapp", NINE_DIGITS)
    receive(process, world.says("oi de novo", address=nine, reply_to=NINE_DIGITS))

    assert process.app.table.get(key) is None
    assert len(history(process)) == 2


def test_a_reply_that_was_never_sent_goes_once(world):
    process, key = left(world, "PENDING_REPLY", text="O prazo é de dez dias.")

    receive(process, world.says("e o prazo?"))
    drain(process)
    receive(process, world.says("obrigado"))
    drain(process)

    assert world.phone.words().count("O prazo é de dez dias.") == 1
    assert process.app.table.get(key) is None


def test_a_lead_that_is_known_costs_no_look_at_what_was_left(world):
    process = world.process()
    receive(process, world.says("oi"))
    _, key = left(world, "BUFFER", text="nunca lido")

    receive(process, world.says("de novo"))

    assert process.app.table.get(key) is not None


def test_a_buffer_that_is_written_again_meanwhile_stays(world):
    process, key = left(world, "BUFFER", text="oi")
    again = Row(key, {"first_message_at": "2026-03-20T11:59:59+00:00", "text": "mais"})
    process.steps.before("delete", lambda: process.app.table.put(again))

    receive(process, world.says("alguém?"))

    assert process.app.table.get(key) == again

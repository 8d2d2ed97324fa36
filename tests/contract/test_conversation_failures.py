"""What nobody foresaw: a bug in a turn, and a process that does not speak a lead's channel."""

import pytest

from domain.addresses import address
from domain.conversation.model import ModelUnavailable
from domain.errors import Unavailable
from tests.support.backends import sqlite_backend
from tests.support.talks import World, drain, lead_of, receive, types

pytestmark = pytest.mark.beyond_moto


@pytest.fixture
def world(backend, tmp_path):
    return World(backend, tmp_path)


@pytest.mark.parametrize("failure", [ZeroDivisionError("a bug"), ModelUnavailable("timeout")])
def test_a_turn_that_fails_and_fails_goes_to_a_human_with_an_honest_word(world, failure):
    process = world.process()
    receive(process, world.says("oi"))
    lead = lead_of(process)
    world.model.model.script.extend([failure] * 100)
    for _ in range(15):
        with pytest.raises((ZeroDivisionError, Unavailable)):
            process.talks.worker.work("default", lead)
        world.pass_time(minutes=1)
    assert world.phone.texts == []

    process.talks.worker.work("default", lead)

    assert types(process).count("handoff_requested") == 1
    [words] = world.phone.words()
    assert "uma pessoa vai responder" in words


def test_a_process_leaves_leads_whose_channel_it_does_not_speak(world):
    process = world.process()
    receive(process, world.says("oi", channel="telegram"))

    drain(process)

    assert types(process) == ["message_received", "conversation_started", "identity_linked"]
    assert process.talks.worker.work("default", lead_of(process)) == 0


def test_leads_that_nobody_here_can_serve_hide_no_other(tmp_path):
    with sqlite_backend(tmp_path) as backend:
        world = World(backend, tmp_path)
        process = world.process()
        for number in range(210):
            phone = f"55119555{number:05d}"
            stuck = world.says("oi", channel="telegram", address=address("whatsapp", phone))
            receive(process, stuck)
        world.pass_time(minutes=1)
        receive(process, world.says("e eu?"))

        found = list(process.talks.conversations.waiting("default", world.now))

        assert len(found) == 211

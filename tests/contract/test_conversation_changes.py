"""A lead changes its mind: what it edits or takes back before it is answered, and who looks for what waits."""

import pytest

from domain.addresses import address
from domain.conversation.inbound import MessageChange
from tests.support.crashes import check_settled, die, log_of, of_type
from tests.support.talks import PHONE, World, drain, history, receive, survives, types

pytestmark = pytest.mark.beyond_moto


@pytest.fixture
def world(backend, tmp_path):
    return World(backend, tmp_path)


@pytest.fixture
def process(world):
    return world.process()


def change(world, what, message_id="wamid.IN0001", text=""):
    return MessageChange(
        channel="whatsapp",
        source="whatsapp",
        external_event_id=f"wamid.{what}",
        account="109876543210987",
        address=address("whatsapp", PHONE),
        occurred_at=world.now,
        raw=b"",
        change=what,
        message_id=message_id,
        text=text,
    )


def asked(world):
    return [[said.text for said in each.messages] for each in world.model.model.requests]


def test_the_agent_reads_what_a_message_was_edited_to(world, process):
    receive(process, world.says("quero dez"), change(world, "edited", text="quero doze"))

    world.settle()

    assert asked(world) == [["quero doze"]]
    assert history(process)[0].edited == 1


def test_an_answer_to_what_was_edited_meanwhile_is_not_sent(world, process):
    receive(process, world.says("quero dez"))
    edited = change(world, "edited", text="quero doze")
    world.model.steps.after("answer", lambda: receive(world.process(), edited))

    world.settle()

    assert asked(world) == [["quero dez"], ["quero doze"]]
    assert len(world.phone.texts) == 1
    assert types(process).count("agent_turn_superseded") == 1


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_was_taken_back_is_not_answered(world, process, when):
    receive(process, world.says("mensagem errada"))
    taken_back = change(world, "revoked")
    if when == "before":
        receive(process, taken_back)
    else:
        world.model.steps.after("answer", lambda: receive(world.process(), taken_back))

    settled = world.settle()

    assert world.phone.texts == []
    assert len(asked(world)) == (when == "after")
    assert history(process)[0].text == ""
    check_settled(settled)


def test_of_two_messages_the_one_that_stands_is_answered(world, process):
    receive(process, world.says("mensagem errada"), world.says("oi"), change(world, "revoked"))

    world.settle()

    assert asked(world) == [["oi"]]
    [turn] = of_type(log_of(process), "agent_turn_completed")
    assert turn.payload["coveredMessageIds"] == ["wamid.IN0002"]


def test_a_second_delivery_wakes_for_what_a_dead_process_woke_nobody_for(world, process):
    message = world.says("oi")
    process.steps.after("insert_events", die)
    assert not survives(lambda: receive(process, message))
    other = world.process()

    assert receive(other, message) == ["duplicate"]
    # Without a look at the index: the delivery itself made the lead ready.
    assert other.talks.loop.step()

    assert len(world.phone.texts) == 1
    drain(other)
    assert len(world.phone.texts) == 1

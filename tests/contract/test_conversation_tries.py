"""Two tries of one text that the channel knows by two ids: what is told of one counts for the text."""

import pytest

from domain.conversation.delivery import Accepted
from tests.support.talks import World, drain, lead_of, receive, types

pytestmark = pytest.mark.beyond_moto


@pytest.fixture
def world(backend, tmp_path):
    return World(backend, tmp_path)


def sent_twice(world):
    """The first try arrived and nobody heard of it; the second is accepted under another id."""
    process = world.process()
    world.phone.script.append(world.phone.lose_reply)
    receive(process, world.says("oi"))
    drain(process)
    world.phone.script.append(lambda _: Accepted(message_id="wamid.SECOND"))
    world.pass_time(seconds=91)
    drain(process)
    [text] = world.phone.texts
    return process, text


def failure(world, text):
    return world.status(
        text,
        "failed",
        external_event_id="wamid.SECOND:failed",
        message_id="wamid.SECOND",
        error_class="TRANSIENT",
        error_code=131000,
    )


def test_a_try_that_arrived_keeps_the_failure_of_a_later_one_from_sending_again(world):
    process, text = sent_twice(world)
    receive(process, world.status(text, "delivered"))
    receive(process, failure(world, text))

    world.settle()

    assert len(world.phone.texts) == 1
    assert "handoff_requested" not in types(process)


def test_a_text_that_waits_to_go_again_stays_when_an_earlier_try_turns_out_to_have_arrived(world):
    process, text = sent_twice(world)
    receive(process, failure(world, text))
    [thread] = world.threads(process)
    assert [each.state for each in thread.outbox] == ["failed"]

    receive(process, world.status(text, "delivered"))
    world.settle()

    assert len(world.phone.texts) == 1
    assert process.log.verifier.verify(lead_of(process)).state == "equal"


def test_a_failure_alone_lets_it_go_again(world):
    process, text = sent_twice(world)
    receive(process, failure(world, text))

    world.settle()

    assert len(world.phone.texts) == 2

"""One conversation on every store: what the seeds promise of turns, by the names they gave."""

from dataclasses import replace

import pytest

from domain.conversation.delivery import ErrorClass, NotAccepted
from handlers.conversations.webhook import Verdict
from tests.support.talks import World, drain, history, lead_of, receive, types

pytestmark = pytest.mark.beyond_moto


@pytest.fixture
def world(backend, tmp_path):
    return World(backend, tmp_path)


def test_fifo_wakeup_processes_registered_order_even_when_newer_event_arrives_first(world):
    process = world.process()
    receive(process, world.says("primeira", message_id="wamid.A"))
    receive(process, world.says("segunda", message_id="wamid.B"))
    lead = lead_of(process)
    process.talks.wake_ups.wake("default", lead, "wamid.B")
    process.talks.wake_ups.wake("default", lead, "wamid.A")

    drain(process)

    [request] = world.model.model.requests
    assert [said.text for said in request.messages] == ["primeira", "segunda"]
    assert len(world.phone.texts) == 1
    assert [m.message_id for m in history(process)][:2] == ["wamid.A", "wamid.B"]


def test_failed_current_immediate_turn_replays_without_second_llm_call(world):
    process = world.process()
    world.phone.script.append(lambda _: NotAccepted(error_class=ErrorClass.TRANSIENT))
    receive(process, world.says("oi"))
    drain(process)
    assert world.phone.texts == []

    world.settle()

    assert len(world.model.model.requests) == 1
    assert len(world.phone.texts) == 1
    assert types(process)[-3:] == ["reply_failed", "reply_sending", "reply_sent"]


class OneDelivery:
    """A channel's adapter that takes everything for genuine and reads the same items in it."""

    def __init__(self, *items):
        self.items = list(items)
        self.problem = None

    def verify(self, raw, header):
        return True

    def parse(self, raw, received_at):
        return self

    def challenge(self, query):
        return None


def test_what_comes_in_one_delivery_is_answered_together_however_slowly_it_is_recorded(world):
    process = world.process()
    delivery = OneDelivery(world.says("oi"), world.says("fazem sequenciamento?"))
    webhook = replace(
        process.talks.webhook, adapter=delivery, accounts={delivery.items[0].account: "default"}
    )
    # Whoever is free works on what is ready, between the two.
    ready = []
    process.steps.after("insert_events", lambda: ready.append(process.talks.loop.step()), n=2)

    assert webhook.post(b"{}", None) is Verdict.QUEUED
    assert ready == [False]
    assert process.talks.loop.step()

    [request] = world.model.model.requests
    assert [said.text for said in request.messages] == ["oi", "fazem sequenciamento?"]
    assert len(world.phone.texts) == 1

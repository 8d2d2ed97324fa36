"""What a channel tells of our texts, in any order: one truth, and no text sent again for nothing."""

import itertools

import pytest

from domain import keys
from domain.conversation.delivery import OutboundText
from domain.conversation.messages import outbound_id
from tests.support.crashes import (
    check_settled,
    is_with_people,
    log_of,
    of_type,
    thread_of,
)
from tests.support.talks import drain, history, lead_of, receive, survives

STATUSES = ("sent", "delivered", "read", "failed")
AT = {
    "sent": "2026-03-20T12:00:01.000000Z",
    "delivered": "2026-03-20T12:00:02.000000Z",
    "read": "2026-03-20T12:00:03.000000Z",
    "failed": "2026-03-20T12:00:04.000000Z",
}
ORDERS = list(itertools.permutations(("http", *STATUSES)))


def told_in(world, order, *, again=()):
    """Let a lead be answered while statuses come in an order; the channel's own answer is "http"."""
    process = world.process()
    at = order.index("http")

    def tell(statuses):
        [text] = world.phone.texts
        for status in statuses:
            receive(process, told(world, text, status))

    receive(process, world.says("oi"))
    world.phone.steps.after("send", lambda: tell(order[:at]))
    drain(process)
    tell(order[at + 1 :])
    tell(again)
    return process


def told(world, text, status, **changes):
    failure = {"error_class": "RECIPIENT", "error_code": 131026} if status == "failed" else {}
    return world.status(text, status, occurred_at=AT[status], **(failure | changes))


def delivery_of(world, process):
    lead, [text] = lead_of(process), world.phone.texts
    wamid = world.phone.wamid(text)
    look = process.talks.conversations.look(lead, [keys.delivery(lead, wamid)])
    return look.delivery(wamid)


def reply_in(process):
    [reply] = [each for each in history(process) if each.direction == "outbound"]
    return reply


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_every_order_of_statuses_and_the_answer_ends_in_the_same_row(lend, order):
    with lend("sqlite") as world:
        process = told_in(world, order, again=STATUSES)

        delivery = delivery_of(world, process)
        assert delivery.status == "read"
        assert delivery.statuses == AT
        assert delivery.error_class == "RECIPIENT"
        assert delivery.outbound_id == world.phone.texts[0].outbound_id
        assert delivery.sort_key.endswith(delivery.outbound_id)
        assert (delivery.kind, delivery.answers) == ("bot_text", "wamid.IN0001")
        assert reply_in(process).error is None
        world.settle()
        assert len(world.phone.texts) == 1
        check_settled(process)


@pytest.mark.parametrize(
    "order", [*itertools.permutations(("http", "sent", "failed"))], ids="-".join
)
@pytest.mark.parametrize("named", [True, False])
def test_a_text_that_did_not_arrive_is_handed_to_a_person_in_whatever_order_one_hears_of_it(
    lend, order, named
):
    with lend("sqlite") as world:
        world.status = unnamed(world.status, named=named)
        process = told_in(world, order)
        world.settle()

        assert delivery_of(world, process).status == "failed"
        assert reply_in(process).error == "RECIPIENT"
        assert len(of_type(log_of(process), "handoff_requested")) == 1
        assert thread_of(process).state == "HANDOFF_PENDING"
        check_settled(process)


@pytest.mark.parametrize("order", [("http", "failed"), ("failed", "http")], ids="-".join)
@pytest.mark.parametrize("named", [True, False])
def test_a_text_the_channel_failed_to_deliver_for_now_is_sent_again_whenever_one_hears_of_it(
    lend, order, named
):
    with lend("sqlite") as world:
        failing = {"error_class": "TRANSIENT", "error_code": 131016}
        world.status = unnamed(world.status, named=named, **failing)
        process = told_in(world, order)
        world.settle()

        assert len(world.phone.texts) == 2
        assert len({text.outbound_id for text in world.phone.texts}) == 1
        assert reply_in(process).error is None
        assert not is_with_people(process)
        check_settled(process)


def test_a_text_that_arrived_after_all_is_not_sent_again(lend):
    with lend("sqlite") as world:
        world.status = unnamed(world.status, named=True, error_class="TRANSIENT")
        process = told_in(world, ("http", "failed", "delivered"))
        world.settle()

        assert len(world.phone.texts) == 1
        assert reply_in(process).error is None
        check_settled(process)


@pytest.mark.parametrize("status", ["sent", "delivered", "read"])
@pytest.mark.parametrize("when", ["while it is being sent", "in doubt"])
def test_a_status_settles_a_text_whose_answer_was_lost(lend, status, when):
    with lend("sqlite") as world:
        process = world.process()
        receive(process, world.says("oi"))
        world.phone.script.append(world.phone.lose_reply)
        tell = lambda: receive(process, told(world, world.phone.texts[0], status))  # noqa: E731
        if when == "while it is being sent":
            world.phone.steps.after("send", tell)
        drain(process)
        if when == "in doubt":
            assert [each.state for each in thread_of(process).outbox] == ["uncertain"]
            tell()
        world.settle()

        assert len(world.phone.texts) == 1
        assert delivery_of(world, process).status == status
        check_settled(process)


@pytest.mark.parametrize("arrives", [True, False])
def test_a_text_of_the_bot_in_doubt_is_sent_once_more_after_the_grace_and_then_left_to_a_person(
    lend, arrives
):
    with lend("sqlite") as world:
        process = world.process()
        receive(process, world.says("oi"))
        lose = world.phone.lose_reply if arrives else world.phone.lose_request
        world.phone.script.extend([lose] * 5)
        drain(process)
        world.pass_time(seconds=89)
        drain(process)
        assert world.phone.steps.calls["send"] == 1

        world.pass_time(seconds=1)
        drain(process)
        assert world.phone.steps.calls["send"] == 2
        world.settle()

        assert world.phone.steps.calls["send"] == 2
        assert len(world.phone.texts) == 2 * arrives
        [asked] = of_type(log_of(process), "handoff_requested")
        assert asked.payload["reason"] == "delivery_uncertain"
        check_settled(process)


@pytest.mark.parametrize("how", ["lost answer", "dead process"])
def test_a_text_of_an_operator_in_doubt_is_never_sent_again(lend, how):
    with lend("sqlite") as world:
        process = world.process()
        with_an_operator(world, process)
        if how == "lost answer":
            world.phone.script.append(world.phone.lose_request)
            drain(process)
        else:
            world.phone.steps.die("send")
            assert not survives(lambda: drain(process))
        called = world.phone.steps.calls["send"]
        settled = world.settle(hours=3)

        assert world.phone.steps.calls["send"] == called
        [parked] = thread_of(settled).outbox
        assert parked.parked
        assert reply_in(settled).error == "uncertain"
        check_settled(settled)

        receive(settled, world.status(text_of(world, parked.outbound_id), "delivered"))
        assert reply_in(settled).error is None
        assert thread_of(settled).outbox == []


def with_an_operator(world, process):
    """Let an operator have the conversation and write a text that is still to go."""
    receive(process, world.says("oi"))

    def decide(conversation, facts):
        session = conversation.thread.active_session_id
        name = outbound_id(session, "command-1", "operator_text")
        return [
            facts.fact(
                "handoff_requested", "operator_console", "c1", session_id=session, reason="asked"
            ),
            facts.fact(
                "handoff_claimed", "operator_console", "c2", session_id=session, operator="ana"
            ),
            facts.fact(
                "operator_message_queued",
                "operator_console",
                "command-1",
                session_id=session,
                operator="ana",
                outbound_id=name,
                text="Oi, aqui é a Ana.",
            ),
        ]

    process.talks.deciding.record("default", lead_of(process), decide)


def text_of(world, name):
    """Return a text the phone may have got, as the channel would name it."""
    return OutboundText(outbound_id=name, account="109876543210987", to="", text="")


def unnamed(status, *, named, **failing):
    """Let statuses come without our id of the text, or fail otherwise."""

    def changed(text, name, **changes):
        changes |= failing if name == "failed" else {}
        return status(text, name, **(changes if named else changes | {"outbound_id": None}))

    return changed

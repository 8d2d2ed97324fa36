"""Somebody takes a conversation over at any moment of the way to a reply: the bot begins nothing more."""

import itertools

import pytest

from tests.support.crashes import (
    EVERY_CALL_ON,
    HOWS,
    Cut,
    Story,
    check_settled,
    log_of,
    of_type,
    steps_of,
    thread_of,
)
from tests.support.talks import lead_of, receive

TWO_PARTS = '{"s": "CONTINUE", "message": "%s", "metadata": {}}' % ("Uma frase comum. " * 300)
STORIES = {
    "one message": Story(("oi",)),
    "a reply of two parts": Story(("oi",), script=(TWO_PARTS,)),
    "a reply refused at first": Story(("oi",), refusals=1),
    "a wish for a person": Story(("quero falar com um atendente",)),
}
ACTS = ("insert_events", "send", "answer")
CASES = [
    *[
        (store, "one message", takeover, operation, moment)
        for store in EVERY_CALL_ON
        for takeover in ("by phone", "by claim")
        for operation, moment in [
            *[(each, "before") for each in HOWS],
            *[(each, "after") for each in ACTS],
        ]
    ],
    *[
        (store, story, "by phone", operation, moment)
        for store in EVERY_CALL_ON
        for story in list(STORIES)[1:]
        for operation in ACTS
        for moment in ("before", "after")
    ],
    *[
        ("ministack", "one message", "by phone", operation, moment)
        for operation in ("insert_events", "send")
        for moment in ("before", "after")
        if "ministack" not in EVERY_CALL_ON
    ],
]


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_no_text_begins_after_somebody_took_over_at_any_call(lend, subtests, case):
    store, story, takeover, operation, moment = case
    for n in itertools.count(1):
        happened: list[bool] = []
        with subtests.test(call=n), lend(store, *STORIES[story].script) as world:
            process = world.process()

            def act(world=world, happened=happened):
                happened.append(take_over(world, takeover))

            getattr(steps_of(world, process, operation), moment)(operation, act, n=n)
            STORIES[story].tell(world, process)
            if happened == [True]:
                check_silence(world)
        if not happened:
            break
    assert n > 1, f"the story has no call of {operation}"


@pytest.mark.parametrize("how", ["dies before", "dies after"])
@pytest.mark.parametrize("operation", ["insert_events", "send"])
@pytest.mark.parametrize("story", STORIES)
def test_what_a_dead_process_left_behind_is_not_sent_beside_a_person(
    lend, subtests, story, operation, how
):
    for n in itertools.count(1):
        happened = False
        with subtests.test(call=n), lend("sqlite", *STORIES[story].script) as world:
            process = world.process()
            steps = Cut(operation, how, n).plan(world, process)
            before = steps.calls[operation]
            STORIES[story].tell(world, process)
            happened = steps.calls[operation] >= before + n
            if take_over(world, "by phone"):
                check_silence(world)
        if not happened:
            break


def test_an_answer_that_comes_after_the_takeover_is_recorded_with_its_cost_and_never_sent(lend):
    with lend("sqlite") as world:
        process = world.process()
        world.model.steps.after("answer", lambda: take_over(world, "by phone"))

        STORIES["one message"].tell(world, process)

        [superseded] = of_type(log_of(process), "agent_turn_superseded")
        assert superseded.payload["reason"] == "owner_changed"
        assert superseded.payload["model"] == "scripted"
        assert world.phone.texts == []


def test_a_second_part_is_not_begun_after_the_takeover(lend):
    with lend("sqlite", TWO_PARTS) as world:
        process = world.process()
        world.phone.steps.after("send", lambda: take_over(world, "by phone"))

        STORIES["a reply of two parts"].tell(world, process)

        [dropped] = of_type(log_of(process), "reply_dropped")
        assert dropped.payload["reason"] == "takeover"
        assert len(world.phone.texts) == 1


def test_what_is_written_to_a_lead_that_never_wrote_does_not_wait_for_ever(lend):
    with lend("sqlite") as world:
        process = world.process()
        receive(process, world.echo("Oi! Aqui é do laboratório"))
        session_id = thread_of(process).active_session_id

        process.talks.deciding.record(
            "default",
            lead_of(process),
            lambda _, facts: [
                facts.fact(
                    "operator_message_queued",
                    "operator_console",
                    "o1",
                    session_id=session_id,
                    operator="ana",
                    outbound_id="out_1",
                    text="Oi",
                )
            ],
        )
        settled = world.settle()

        [dropped] = of_type(log_of(settled), "reply_dropped")
        assert dropped.payload["reason"] == "window_closed"
        check_settled(settled)


def take_over(world, how):
    """Let a person take the conversation; tell whether there was one to take."""
    process = world.process()
    if how == "by phone":
        return receive(process, world.echo("deixa comigo")) == ["recorded"]
    if not log_of(process):
        return False
    session_id = thread_of(process).active_session_id
    recorded = process.talks.deciding.record(
        "default",
        lead_of(process),
        lambda conversation, facts: claim(conversation.thread, facts, session_id),
    )
    return bool(recorded.events)


def claim(thread, facts, session_id):
    """Return what an operator's claim of a conversation records, whoever has it."""
    asked = facts.fact(
        "handoff_requested", "operator_console", "c1", session_id=session_id, reason="operator"
    )
    claimed = facts.fact(
        "handoff_claimed", "operator_console", "c2", session_id=session_id, operator="ana"
    )
    return [claimed] if thread.state == "HANDOFF_PENDING" else [asked, claimed]


def check_silence(world):
    """Hold that no text of the bot begins after the takeover, though time passes and the lead writes."""
    world.settle()
    process = world.process()
    receive(process, world.says("tem alguém aí?", message_id="wamid.after"))
    world.settle()

    events = log_of(process)
    taken_over = of_type(events, "handoff_claimed")[0].sequence
    started = of_type(events, "reply_sending")
    assert [each.event_type for each in started if each.sequence > taken_over] == []
    begun = [each.payload["outboundId"] for each in started]
    shown = [text.outbound_id for text in world.phone.texts]
    assert len(shown) <= len(begun)
    assert set(shown) <= set(begun)
    assert thread_of(process).state == "HUMAN"
    assert not thread_of(process).pending
    assert process.app.maintenance.verify(lead_of(process)).state == "equal"

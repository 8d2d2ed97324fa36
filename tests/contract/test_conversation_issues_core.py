"""What others met in conversations, one test per report: the rows of research/whatsapp.md §2 that are the core's."""

import pytest

from domain.addresses import address
from domain.conversation.inbound import MessageChange
from tests.support.crashes import check_settled, log_of, of_type, thread_of
from tests.support.talks import PHONE, World, drain, history, lead_of, receive, types

pytestmark = pytest.mark.beyond_moto


@pytest.fixture
def world(backend, tmp_path):
    return World(backend, tmp_path)


@pytest.fixture
def process(world):
    return world.process()


def asked(world):
    """What the model was given of the lead, request by request."""
    return [
        [said.text for said in each.messages if said.role == "user"]
        for each in world.model.model.requests
    ]


def test_issue_typebot_1453_two_messages_at_once_get_one_reply(world, process):
    receive(process, world.says("oi"), world.says("tudo bem"))
    other = world.process()
    # Two workers at once: while one asks the model, the other does everything it finds.
    world.model.steps.before("answer", lambda: drain(other))

    drain(process)
    world.settle()

    assert len(world.phone.texts) == 1
    assert types(process).count("agent_turn_completed") == 1
    assert asked(world)[-1] == ["oi", "tudo bem"]


def test_issue_chatwoot_15430_a_message_during_the_answer_is_answered_with_what_came_before(
    world, process
):
    receive(process, world.says("manda o pix"))
    world.model.steps.after(
        "answer", lambda: receive(world.process(), world.says("cpf 123.456.789-00"))
    )

    drain(process)
    world.settle()

    assert asked(world) == [["manda o pix"], ["manda o pix", "cpf 123.456.789-00"]]
    [superseded] = of_type(log_of(process), "agent_turn_superseded")
    assert superseded.payload["byMessageId"] == "wamid.IN0002"
    [turn] = of_type(log_of(process), "agent_turn_completed")
    assert turn.payload["coveredMessageIds"] == ["wamid.IN0001", "wamid.IN0002"]
    assert len(world.phone.texts) == 1


def test_issue_chatwoot_440_a_person_without_a_phone_is_answered_under_the_channels_own_id(
    world, process
):
    user = "BR.1500000000001"
    nameless = {"address": address("whatsapp", user), "reply_to": user, "user_id": user}
    receive(process, world.says("oi", **nameless))
    drain(process)

    [text] = world.phone.texts
    assert text.to == user
    assert PHONE not in repr(log_of(process))
    receive(process, world.status(text, "read", address=address("whatsapp", user)))
    receive(process, world.says("quero falar com um atendente", **nameless))
    world.settle()
    assert thread_of(process).state == "HANDOFF_PENDING"
    check_settled(process)


def test_issue_waha_1112_messages_of_one_second_keep_the_order_they_came_in(world, process):
    words = [f"parte {number}" for number in range(9, 0, -1)]
    receive(process, *[world.says(each) for each in words])

    drain(process)

    assert asked(world) == [words]
    said = [each.text for each in history(process) if each.direction == "inbound"]
    assert said == words


def test_issue_hermes_agent_72870_a_backlog_is_answered_once_while_the_lead_may_be_written_to(
    world, process
):
    late = [world.says(f"oi {number}") for number in (1, 2, 3)]
    world.pass_time(hours=20)
    receive(process, *late)

    drain(process)

    assert asked(world) == [["oi 1", "oi 2", "oi 3"]]
    assert len(world.phone.texts) == 1


def test_issue_openclaw_132260_a_backlog_of_two_days_is_kept_for_a_person_and_not_answered(
    world, process
):
    late = [world.says(f"oi {number}") for number in (1, 2)]
    world.pass_time(hours=48)
    receive(process, *late)

    world.settle()

    assert [each.text for each in history(process)] == ["oi 1", "oi 2"]
    assert (asked(world), world.phone.texts) == ([], [])
    [handed] = of_type(log_of(process), "handoff_requested")
    assert handed.payload["reason"] == "window_closed"


@pytest.mark.parametrize("emoji", ["👍", ""])
def test_issue_hermes_agent_80062_a_reaction_is_an_event_and_no_turn(world, process, emoji):
    receive(process, world.says("oi"))
    world.settle()
    reaction = MessageChange(
        channel="whatsapp",
        source="whatsapp",
        external_event_id="wamid.REACTION",
        account="109876543210987",
        address=address("whatsapp", PHONE),
        occurred_at=world.now,
        raw=b"",
        change="reacted",
        message_id=world.phone.wamid(world.phone.texts[0]),
        text=emoji,
    )

    receive(process, reaction)
    world.settle()

    assert types(process)[-1] == "message_reacted"
    assert len(asked(world)) == len(world.phone.texts) == 1


@pytest.mark.parametrize("when", ["before the answer", "in doubt", "afterwards"])
def test_issue_nanoclaw_273_an_echo_of_our_own_text_is_neither_a_turn_nor_a_takeover(
    world, process, when
):
    receive(process, world.says("oi"))
    if when == "in doubt":
        world.phone.script.append(world.phone.lose_reply)

    def echo():
        [text] = world.phone.texts
        item = world.echo(text.text, message_id=world.phone.wamid(text))
        assert receive(world.process(), item) == ["ignored"]

    if when == "before the answer":
        world.phone.steps.after("send", echo)
    drain(process)
    if when != "before the answer":
        echo()

    assert "handoff_claimed" not in types(process)
    assert len(asked(world)) == 1
    assert thread_of(process).state == "TRIAGE"


@pytest.mark.parametrize("operation", ["answer", "insert_events"])
def test_issue_chatwoot_13673_a_person_who_answers_meanwhile_silences_the_bot(
    world, process, operation
):
    receive(process, world.says("oi"))
    lead, session_id = lead_of(process), thread_of(process).active_session_id

    def claim():
        world.process().talks.deciding.record(
            "default",
            lead,
            lambda _, facts: [
                facts.fact(name, "operator_console", name, session_id=session_id, **said)
                for name, said in (
                    ("handoff_requested", {"reason": "operator"}),
                    ("handoff_claimed", {"operator": "ana"}),
                )
            ],
        )

    steps = world.model.steps if operation == "answer" else process.steps
    steps.before(operation, claim)

    drain(process)
    world.settle()

    assert world.phone.texts == []
    [superseded] = of_type(log_of(process), "agent_turn_superseded")
    assert superseded.payload["reason"] == "owner_changed"


def test_issue_agents_433_a_reply_from_the_businesss_phone_makes_the_phone_the_owner(
    world, process
):
    receive(process, world.says("oi"))
    receive(process, world.echo("Oi, aqui é a Ana"))
    receive(process, world.says("quanto custa?"))
    world.settle()

    session_id = thread_of(process).active_session_id
    session = process.talks.conversations.get_active(lead_of(process))
    assert (session.session_id, session.state, session.assigned_to) == (
        session_id,
        "HUMAN",
        "phone",
    )
    assert (asked(world), world.phone.texts) == ([], [])


@pytest.mark.parametrize("sender", ["same process", "another process"])
def test_issue_camel_4280_a_lost_answer_has_one_owner_who_waits_for_word_of_it(
    world, process, sender
):
    receive(process, world.says("oi"))
    world.phone.script.append(world.phone.lose_reply)
    drain(process)
    others = [process] if sender == "same process" else [world.process() for _ in range(3)]

    for other in others * 3:
        drain(other)
        world.pass_time(seconds=20)
        drain(other)
        if world.phone.steps.calls["send"] > 1:
            break
        receive(other, world.status(world.phone.texts[0], "sent"))
    world.settle()

    assert world.phone.steps.calls["send"] == 1
    assert len(asked(world)) == 1

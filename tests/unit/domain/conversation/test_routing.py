"""Where a message goes: the precedence of seed 002, and what comes with it."""

import pytest

from domain.conversation.policy import Policy
from domain.conversation.routing import decide_inbound, decide_takeover
from domain.conversation.states import BOT, HUMANS, State
from tests.support.threads import (
    FACTS,
    NOW,
    PHONE,
    facts_at,
    lived,
    outbound,
    says,
    session,
    thread,
    types,
)

POLICY = Policy()
DESK = Policy(
    operators=frozenset((PHONE,)), debug=True, debuggers=frozenset((PHONE,)), caption_as_text=False
)


def route(standing, message, policy=POLICY):
    received, *following = decide_inbound(standing, message, policy, FACTS, "session-2")
    assert received.event_type == "message_received"
    return received.payload["route"], types(following)


@pytest.mark.parametrize(
    ("message", "policy", "expected"),
    [
        (says("/encerrar-debug", group_id="group-1"), DESK, "record"),
        (says("/encerrar-debug", held_elsewhere=True), DESK, "record"),
        (says("/encerrar-debug"), DESK, "debug"),
        (says(" /encerrar-debug \n"), DESK, "debug"),
        (says("/encerrar-debug agora"), DESK, "operator"),
        (says("/fila"), DESK, "operator"),
        (says("oi"), DESK, "operator"),
        (says("", "image"), DESK, "operator"),
        (says("/encerrar-debug"), POLICY, "turn"),
        (says("/fila"), POLICY, "turn"),
        (says("parar"), POLICY, "consent"),
        (says("", "image"), POLICY, "notice"),
        (says("legenda", "image"), POLICY, "notice"),
        (says(""), POLICY, "notice"),
        (says("oi"), POLICY, "turn"),
        (says("Quero", "button"), POLICY, "turn"),
        (says("Quero", "list"), POLICY, "turn"),
        (says("{}", "form"), POLICY, "turn"),
        (says("legenda", "image"), Policy(caption_as_text=True), "turn"),
    ],
)
def test_what_comes_first_decides(message, policy, expected):
    assert route(thread(), message, policy)[0] == expected


@pytest.mark.parametrize("policy", [Policy(debug=True), Policy(debuggers=frozenset((PHONE,)))])
def test_the_debug_command_needs_to_be_on_and_the_sender_to_be_allowed(policy):
    assert route(thread(), says("/encerrar-debug"), policy)[0] == "turn"


@pytest.mark.parametrize("state", sorted(HUMANS))
@pytest.mark.parametrize(
    "message",
    [says("oi"), says("", "image"), says("", "location"), says("parar"), says("Quero", "button")],
    ids=lambda message: message.text or message.media_type,
)
def test_while_people_have_the_lead_everything_goes_to_them(state, message):
    assert route(thread(state), message)[0] == "inbox"


@pytest.mark.parametrize("state", [None, *sorted(BOT)])
def test_agents_get_the_text_in_every_state_of_theirs(state):
    found, following = route(thread(state), says("oi"))

    assert found == "turn"
    assert following == ([] if state else ["conversation_started"])


def test_the_first_message_of_a_lead_opens_its_session():
    received, started = decide_inbound(None, says("oi"), POLICY, FACTS, "session-2")

    assert received.payload["sessionId"] == started.payload["sessionId"] == "session-2"


@pytest.mark.parametrize(
    ("message", "outcome"),
    [
        (says("oi", account="109876543210988"), "moved"),
        (says("oi", user_id="BR.2"), "number_recycled"),
    ],
)
def test_another_number_or_another_person_gets_a_session_of_its_own(message, outcome):
    standing = thread(State.TRIAGE, "wamid.A", user_id="BR.1")

    facts = decide_inbound(standing, message, POLICY, FACTS, "session-2")
    after = lived(standing, facts, session())

    assert types(facts) == ["message_received", "conversation_ended", "conversation_started"]
    assert facts[1].payload["outcome"] == outcome
    assert after.active_session_id == "session-2"
    waiting = [each.message_id for each in after.pending]
    assert waiting == (["wamid.A", "wamid.NEW"] if outcome == "moved" else ["wamid.NEW"])


def test_what_was_written_to_one_number_ends_with_the_session_of_the_other():
    standing = thread(State.TRIAGE, "wamid.A")
    moved = decide_inbound(
        standing, says("oi", account="109876543210988"), POLICY, FACTS, "session-2"
    )
    ended = FACTS.session_ended("session-2", "whatsapp", "completed", messages=2, seconds=60)

    after = lived(standing, [*moved, ended], session())

    assert (after.pending, after.due_at) == ([], None)


def test_a_person_behind_a_recycled_number_is_not_given_to_who_waits_for_the_other():
    standing = thread(State.HUMAN, user_id="BR.1")

    assert route(standing, says("oi", user_id="BR.2"))[0] == "turn"


@pytest.mark.parametrize(
    "words",
    [
        *("parar", "PARAR", "Pare!", "stop.", "Sair", "por favor, parar", "cancelar inscrição"),
        *("Descadastrar", "remover, obrigado", "BAJA"),
    ],
)
def test_a_wish_to_be_left_alone_is_heard_whatever_its_case_accents_and_courtesy(words):
    found, following = route(thread(), says(words))

    assert found == "consent"
    assert following == ["consent_recorded", "reply_queued"]


@pytest.mark.parametrize("words", ["parar de fumar", "não quero parar", "pare com isso", "starter"])
def test_words_that_only_contain_a_wish_are_for_the_agent(words):
    assert route(thread(), says(words))[0] == "turn"


def test_a_wish_beside_a_person_is_recorded_and_not_answered():
    assert route(thread(State.HUMAN), says("parar")) == ("inbox", ["consent_recorded"])


@pytest.mark.parametrize(
    ("ago", "asked"),
    [("11:59:00.000001", False), ("11:59:00.000000", True), ("11:00:00.000000", True)],
)
def test_an_album_of_pictures_is_asked_for_text_once(ago, asked):
    standing = thread(noticed_at=f"2026-03-20T{ago}Z")

    assert route(standing, says("", "image")) == ("notice", ["reply_queued"] * asked)


@pytest.mark.parametrize(("ago", "told"), [("11:50:00.000001", False), ("11:50:00.000000", True)])
def test_who_waits_is_told_so_now_and_then(ago, told):
    standing = thread(State.HANDOFF_PENDING, acknowledged_at=f"2026-03-20T{ago}Z")

    assert route(standing, says("oi")) == ("inbox", ["reply_queued"] * told)


def test_the_debug_command_ends_the_session_and_says_so():
    received, ended, answer = decide_inbound(
        thread(State.QUALIFYING), says("/encerrar-debug"), DESK, FACTS, "session-2"
    )

    assert ended.payload["outcome"] == "debug"
    assert answer.payload["kind"] == "debug"
    assert received.payload["sessionId"] == "session-1"


@pytest.mark.parametrize("state", [None, *sorted(BOT), State.HANDOFF_PENDING])
def test_a_takeover_makes_the_phone_the_owner_and_happens_once(state):
    standing = thread(state, "wamid.A", outbox=[outbound()]) if state else thread(None)

    facts, session_id = decide_takeover(standing, FACTS, "session-2", "109876543210987", "wamid.E")
    after = lived(standing, facts, session(state or State.NEW))

    assert (after.state, after.active_session_id) == (State.HUMAN, session_id)
    assert after.pending == []
    again = facts_at(NOW)
    assert decide_takeover(after, again, "session-3", "109876543210987", "wamid.F") == (
        [],
        session_id,
    )


def test_a_phone_that_writes_first_gets_a_session_that_agents_keep_out_of():
    facts, session_id = decide_takeover(None, FACTS, "session-2", "109876543210987", "wamid.E")

    assert session_id == "session-2"
    assert types(facts) == ["conversation_started", "handoff_requested", "handoff_claimed"]
    assert lived(None, facts).state == State.HUMAN

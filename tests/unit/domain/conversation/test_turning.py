"""Turns: whether an answer still counts when it is recorded, and what follows from it."""

import itertools

import pytest

from domain import canonical
from domain.conversation.answer import Answer, Code
from domain.conversation.policy import Policy
from domain.conversation.states import BOT, HUMANS, LEGAL_TRANSITIONS, TERMINAL, State
from domain.conversation.turn import Result, Scene, Turn, Usage
from domain.conversation.turning import (
    hand_over,
    is_acceptable,
    state_after,
    try_put_agent_result,
    why_superseded,
)
from tests.support.threads import FACTS, NOW, lived, outbound, session, thread, types, waiting

AFTER = {
    Code.CONTINUE: None,
    Code.TO_TRIAGE: State.TRIAGE,
    Code.TO_QUALIFICATION: State.QUALIFYING,
    Code.TO_REGISTRATION: State.REGISTERING,
    Code.HANDOFF: State.HANDOFF_PENDING,
    Code.OUT_OF_PORTFOLIO: None,
    Code.NEW_SUBJECT: State.TRIAGE,
    Code.CLOSE: State.COMPLETED,
}


def asked(*covered, state=State.TRIAGE):
    return Turn(
        session_id="session-1",
        state=state,
        covered=[waiting(each) for each in covered or ("wamid.A",)],
        agent="triagem",
        said="oi",
    )


def answer(code=Code.CONTINUE, message="Olá!", **said):
    return Answer(code=code, message=message, **said)


def put(standing, result, turn=None):
    scene = Scene(thread=standing, policy=Policy(), facts=FACTS, new_session="session-2")
    return try_put_agent_result(scene, session(), turn or asked(), result)


@pytest.mark.parametrize(("state", "code"), [*itertools.product(sorted(BOT), Code)])
def test_a_code_proposes_a_state_and_the_machine_takes_only_legal_ones(state, code):
    begun = State.TRIAGE if state == State.NEW else state
    expected = AFTER[code] or begun

    assert state_after(state, code) == expected
    legal = expected == state or expected in LEGAL_TRANSITIONS[state] or code == Code.NEW_SUBJECT
    found = is_acceptable(
        state, answer(code, "Vou chamar uma pessoa." if code == Code.HANDOFF else "Olá!")
    )
    assert (found is None) == legal
    assert legal or found == "illegal_transition"


@pytest.mark.parametrize(
    ("message", "code", "objection"),
    [
        ('{"s": "CONTINUE"}', Code.CONTINUE, "looks_like_json"),
        ("Já transferi você para um atendente.", Code.CONTINUE, "claims_transfer"),
        ("Já transferi você para um atendente.", Code.HANDOFF, None),
        ("", Code.HANDOFF, None),
    ],
)
def test_a_message_a_customer_must_not_see_is_not_acceptable(message, code, objection):
    assert is_acceptable(State.TRIAGE, answer(code, message)) == objection


@pytest.mark.parametrize(
    ("standing", "reason"),
    [
        (thread(State.TRIAGE, "wamid.A"), None),
        *[(thread(state, "wamid.A"), "owner_changed") for state in sorted(HUMANS)],
        (thread(None, "wamid.A"), "session_changed"),
        (thread(State.TRIAGE, "wamid.A", active_session_id="session-0"), "session_changed"),
        (thread(State.QUALIFYING, "wamid.A"), "state_changed"),
        (thread(State.TRIAGE), "answered"),
        (thread(State.TRIAGE, "wamid.B"), "answered"),
        (thread(State.TRIAGE, "wamid.A", "wamid.B"), "newer_message"),
        (
            thread(State.TRIAGE, "wamid.A", last_inbound_at="2026-03-19T12:00:00.000000Z"),
            "window_closed",
        ),
        (thread(State.HUMAN, last_inbound_at=""), "owner_changed"),
    ],
)
def test_the_guard_says_why_an_answer_no_longer_counts(standing, reason):
    assert why_superseded(standing, asked(), NOW) == reason
    facts = put(standing, Result(answer=answer()))
    if reason is None:
        assert types(facts) == ["agent_turn_completed", "reply_sending"]
    else:
        [superseded] = facts
        assert superseded.event_type == "agent_turn_superseded"
        assert superseded.payload["reason"] == reason


def test_a_superseded_answer_keeps_its_cost_and_names_what_came_after():
    usage = Usage(model="gpt", input_tokens=10, output_tokens=2, cost_micros=7, cost_currency="USD")
    standing = thread(State.TRIAGE, "wamid.A", "wamid.B")

    [superseded] = put(standing, Result(answer=answer(), usage=usage))

    assert superseded.external_event_id == "wamid.A:superseded"
    assert superseded.payload["byMessageId"] == "wamid.B"
    assert (superseded.payload["inputTokens"], superseded.payload["costMicros"]) == (10, 7)
    assert lived(standing, [superseded], session()).pending == standing.pending


def test_an_answer_counts_once():
    standing = thread(State.TRIAGE, "wamid.A")

    after = lived(standing, put(standing, Result(answer=answer())), session())

    assert after.pending == []
    assert types(put(after, Result(answer=answer()))) == ["agent_turn_superseded"]


def test_one_answer_covers_all_that_waited_in_its_order():
    standing = thread(State.TRIAGE, "wamid.A", "wamid.B")

    completed, _ = put(standing, Result(answer=answer()), asked("wamid.A", "wamid.B"))

    assert completed.external_event_id == "wamid.B:turn"
    assert completed.payload["coveredMessageIds"] == ["wamid.A", "wamid.B"]


def test_the_first_text_goes_at_once_unless_another_goes_before_it():
    behind = thread(State.TRIAGE, "wamid.A", outbox=[outbound("inbox_ack")])

    assert types(put(behind, Result(answer=answer()))) == ["agent_turn_completed"]
    parked = thread(State.TRIAGE, "wamid.A", outbox=[outbound(state="uncertain")])
    assert types(put(parked, Result(answer=answer()))) == ["agent_turn_completed", "reply_sending"]


@pytest.mark.parametrize(
    ("code", "said", "following"),
    [
        (Code.HANDOFF, {}, ["handoff_requested"]),
        (Code.HANDOFF, {"message": ""}, ["handoff_requested", "reply_queued"]),
        (Code.CLOSE, {}, ["conversation_ended"]),
        (
            Code.OUT_OF_PORTFOLIO,
            {"oop_service": "Vacina"},
            ["out_of_portfolio_requested", "reply_sending"],
        ),
        (Code.TO_QUALIFICATION, {}, ["reply_sending"]),
    ],
)
def test_a_code_has_its_consequences_in_the_same_commit(code, said, following):
    facts = put(thread(State.TRIAGE, "wamid.A"), Result(answer=answer(code, **said)))

    assert types(facts) == ["agent_turn_completed", *following]
    assert facts[0].payload["stateAfter"] == (AFTER[code] or State.TRIAGE)


def test_a_new_subject_replaces_the_session_in_one_commit():
    standing = thread(State.QUALIFYING, "wamid.A")

    facts = put(standing, Result(answer=answer(Code.NEW_SUBJECT)), asked(state=State.QUALIFYING))
    after = lived(standing, facts, session(State.QUALIFYING))

    assert types(facts) == ["conversation_ended", "conversation_started", "agent_turn_completed"]
    assert facts[1].payload["replacesSessionId"] == "session-1"
    assert (after.active_session_id, after.state) == ("session-2", State.TRIAGE)
    assert [each.kind for each in after.outbox] == ["bot_text"]
    assert after.pending == []


def test_asking_in_vain_hands_over_with_one_honest_message():
    standing = thread(State.TRIAGE, "wamid.A")

    completed, handed = put(standing, Result(reason="refused"))
    after = lived(standing, [completed, handed], session())

    assert handed.payload["reason"] == "refused"
    assert after.state == State.HANDOFF_PENDING
    assert [each.kind for each in after.outbox] == ["handoff_ack"]


@pytest.mark.parametrize("state", [None, *sorted(HUMANS | TERMINAL)])
def test_only_what_agents_own_is_handed_over(state):
    scene = Scene(thread=thread(state, "wamid.A"), policy=Policy(), facts=FACTS)

    assert hand_over(scene, "wamid.A", "no_model", notice=True) == []


def test_handing_over_again_does_nothing():
    standing = thread(State.TRIAGE, "wamid.A")
    scene = Scene(thread=standing, policy=Policy(), facts=FACTS, card={"segment": "PESQUISA"})

    facts = hand_over(scene, "wamid.A", "no_model", notice=True)
    after = lived(standing, facts, session())

    assert types(facts) == ["handoff_requested", "reply_queued"]
    assert canonical.loads(facts[0].payload["card"])["reason"] == "no_model"
    assert (after.state, after.pending) == (State.HANDOFF_PENDING, [])
    again = Scene(thread=after, policy=Policy(), facts=FACTS)
    assert hand_over(again, "wamid.A", "no_model", notice=True) == []

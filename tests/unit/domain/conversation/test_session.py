"""A session as its events leave it; what is not legal changes nothing and is counted."""

import json

import pytest

from domain.conversation import session as sessions
from domain.conversation.states import State
from tests.support.threads import FACTS, LEAD, facts_at, session

LATER = "2026-03-20T12:05:00.000000Z"


def after(standing, event_type, now=LATER, **said):
    fact = facts_at(now).fact(event_type, "messaging_service", "k", session_id="session-1", **said)
    sessions.evolve(standing, fact.numbered(LEAD, 2))
    return standing


def turned(standing, state, **said):
    told = {"covered_message_ids": ["wamid.A"], "agent": "triagem", "code": "CONTINUE"}
    return after(standing, "agent_turn_completed", state_after=state, **(told | said))


def test_a_started_conversation_is_a_new_session():
    opened = FACTS.session_started("session-2", "whatsapp", "109876543210987", "session-1")

    standing = sessions.initial(opened.numbered(LEAD, 1))

    assert (standing.session_id, standing.state) == ("session-2", State.NEW)
    assert standing.replaces_session_id == "session-1"
    assert standing.current_agent == "triagem"
    assert standing.is_open


def test_a_turn_moves_the_session_and_adds_what_was_learned():
    standing = turned(session(), "QUALIFYING", segment="PESQUISA", qualification_data='{"a":"1"}')
    standing = turned(standing, "QUALIFYING", intent="servico", qualification_data='{"b":"2"}')

    assert (standing.state, standing.current_agent, standing.turns) == (
        State.QUALIFYING,
        "qualificacao",
        2,
    )
    assert (standing.segment, standing.intent) == ("PESQUISA", "servico")
    assert standing.qualification_data == {"a": "1", "b": "2"}
    assert standing.updated_at == LATER


@pytest.mark.parametrize("text", ["no JSON", "[1]", '"text"', "{"])
def test_what_is_no_object_adds_nothing(text):
    standing = turned(session(), "QUALIFYING", qualification_data='{"a":"1"}')

    assert turned(standing, "QUALIFYING", qualification_data=text).qualification_data == {"a": "1"}


@pytest.mark.parametrize("state", ["HANDOFF_PENDING", "HUMAN", "COMPLETED", "ABANDONED"])
def test_a_turn_leaves_it_to_other_facts_to_hand_over_or_to_end(state):
    standing = turned(session(), state)

    assert standing.state == State.TRIAGE
    assert standing.rejected_transitions == 0


def test_an_illegal_change_is_counted_and_changes_nothing():
    standing = after(session(), "handoff_claimed", operator="ana")

    assert (standing.state, standing.assigned_to) == (State.TRIAGE, None)
    assert standing.rejected_transitions == 1


def test_a_handoff_goes_through_its_steps_and_begins_anew():
    standing = after(session(), "handoff_requested", reason="asked", card='{"last":[]}')
    assert (standing.state, standing.handoff_reason) == (State.HANDOFF_PENDING, "asked")
    assert standing.handoff_card == {"last": []}
    assert standing.current_agent == ""

    after(standing, "handoff_renotified", audience="operator", step=0)
    after(standing, "handoff_renotified", audience="customer", step=1)
    assert standing.handoff_renotified_count == 1
    assert standing.handoff_customer_renotified_at == LATER

    after(standing, "handoff_claimed", operator="ana")
    assert (standing.state, standing.assigned_to) == (State.HUMAN, "ana")

    after(standing, "handoff_released", operator="ana", note="Aguarda boleto")
    assert (standing.state, standing.assigned_to) == (State.HANDOFF_PENDING, None)
    assert (standing.operator_note, standing.handoff_renotified_count) == ("Aguarda boleto", 0)

    after(standing, "handoff_claimed", operator="bia")
    after(standing, "handoff_returned", operator="bia")
    assert (standing.state, standing.assigned_to) == (State.TRIAGE, None)
    assert standing.operator_note == "Aguarda boleto"
    assert standing.rejected_transitions == 0


@pytest.mark.parametrize(
    ("outcome", "state"), [("abandoned", State.ABANDONED), ("completed", State.COMPLETED)]
)
def test_an_end_is_final_and_the_first_one_stands(outcome, state):
    ended = {"channel": "whatsapp", "duration_seconds": 60, "message_count": 2}
    standing = after(session(), "conversation_ended", outcome=outcome, **ended)
    after(standing, "conversation_ended", "2026-03-20T13:00:00.000000Z", outcome="moved", **ended)
    turned(standing, "QUALIFYING")

    assert (standing.state, standing.outcome, standing.ended_at) == (state, outcome, LATER)
    assert not standing.is_open


def test_a_person_who_has_the_session_may_not_abandon_it():
    ended = {"channel": "whatsapp", "duration_seconds": 60, "message_count": 2}

    standing = after(session(State.HUMAN), "conversation_ended", outcome="abandoned", **ended)

    assert standing.state == State.HUMAN
    assert standing.rejected_transitions == 1


def test_no_number_of_turns_makes_what_was_collected_too_large():
    standing = session()
    for turn in range(10):
        said = {f"k{turn}-{number:02d}": "v" * 900 for number in range(10)}
        standing = turned(standing, "QUALIFYING", qualification_data=json.dumps(said))

    assert len(standing.qualification_data) == 60
    assert {len(value) for value in standing.qualification_data.values()} == {500}
    assert list(standing.qualification_data) == sorted(standing.qualification_data)

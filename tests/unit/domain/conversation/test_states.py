"""Where a session may go: the table of research/domain.md §8.2, word for word."""

import itertools

import pytest

from domain.conversation.states import (
    AGENTS,
    BOT,
    HUMANS,
    LEGAL_TRANSITIONS,
    LISTED,
    TERMINAL,
    State,
    is_legal,
)

DOCUMENTED = {
    "NEW": "TRIAGE QUALIFYING HANDOFF_PENDING COMPLETED ABANDONED",
    "TRIAGE": "QUALIFYING REGISTERING HANDOFF_PENDING COMPLETED ABANDONED",
    "QUALIFYING": "TRIAGE REGISTERING HANDOFF_PENDING COMPLETED ABANDONED",
    "REGISTERING": "QUALIFYING HANDOFF_PENDING COMPLETED ABANDONED",
    "HANDOFF_PENDING": "HUMAN TRIAGE COMPLETED ABANDONED",
    "HUMAN": "HANDOFF_PENDING TRIAGE COMPLETED",
    "COMPLETED": "",
    "ABANDONED": "",
}


def test_the_legal_transitions_are_the_documented_ones():
    assert {str(before): set(after) for before, after in LEGAL_TRANSITIONS.items()} == {
        before: set(after.split()) for before, after in DOCUMENTED.items()
    }


@pytest.mark.parametrize(("before", "after"), [*itertools.product(State, State)])
def test_a_session_goes_where_the_table_says_or_stays(before, after):
    legal = after.value in DOCUMENTED[before.value].split()

    assert is_legal(before, after) == (legal or before == after)


def test_every_state_is_the_bots_a_persons_or_final():
    assert {*BOT, *HUMANS, *TERMINAL} == set(State)
    assert len(BOT) + len(HUMANS) + len(TERMINAL) == len(State)
    assert set(LISTED) == set(State) - TERMINAL


def test_an_agent_answers_in_every_state_of_the_bot_and_in_no_other():
    assert set(AGENTS) == BOT
    assert [AGENTS[state] for state in (State.TRIAGE, State.QUALIFYING, State.REGISTERING)] == [
        "triagem",
        "qualificacao",
        "cadastro",
    ]

"""The states of a session, who owns it in each, and which changes are legal."""

from enum import StrEnum
from typing import Final, Literal


class State(StrEnum):
    """Where a session stands. The last two are final: a new message opens a new session."""

    NEW = "NEW"
    TRIAGE = "TRIAGE"
    QUALIFYING = "QUALIFYING"
    REGISTERING = "REGISTERING"
    HANDOFF_PENDING = "HANDOFF_PENDING"
    HUMAN = "HUMAN"
    COMPLETED = "COMPLETED"
    ABANDONED = "ABANDONED"


TERMINAL: Final = frozenset((State.COMPLETED, State.ABANDONED))
BOT: Final = frozenset((State.NEW, State.TRIAGE, State.QUALIFYING, State.REGISTERING))
"""States in which agents answer."""
HUMANS: Final = frozenset((State.HANDOFF_PENDING, State.HUMAN))
"""States in which messages go to the inbox of people."""
LISTED: Final = tuple(state for state in State if state not in TERMINAL)
"""States that `list_by_state` can list; a final one is in no index."""

# Source: research/domain.md §8.2.
LEGAL_TRANSITIONS: Final[dict[State, frozenset[State]]] = {
    State.NEW: frozenset(
        (
            State.TRIAGE,
            State.QUALIFYING,
            State.HANDOFF_PENDING,
            State.COMPLETED,
            State.ABANDONED,
        )
    ),
    State.TRIAGE: frozenset(
        (
            State.QUALIFYING,
            State.REGISTERING,
            State.HANDOFF_PENDING,
            State.COMPLETED,
            State.ABANDONED,
        )
    ),
    State.QUALIFYING: frozenset(
        (
            State.TRIAGE,
            State.REGISTERING,
            State.HANDOFF_PENDING,
            State.COMPLETED,
            State.ABANDONED,
        )
    ),
    State.REGISTERING: frozenset(
        (State.QUALIFYING, State.HANDOFF_PENDING, State.COMPLETED, State.ABANDONED)
    ),
    State.HANDOFF_PENDING: frozenset((State.HUMAN, State.TRIAGE, State.COMPLETED, State.ABANDONED)),
    State.HUMAN: frozenset((State.HANDOFF_PENDING, State.TRIAGE, State.COMPLETED)),
    State.COMPLETED: frozenset(),
    State.ABANDONED: frozenset(),
}

AgentName = Literal["triagem", "qualificacao", "cadastro"]

AGENTS: Final[dict[State, AgentName]] = {
    State.NEW: "triagem",
    State.TRIAGE: "triagem",
    State.QUALIFYING: "qualificacao",
    State.REGISTERING: "cadastro",
}
"""The agent that answers in each state of the bot."""

PHONE_OPERATOR: Final = "phone"
"""Who owns a session that somebody answers from the business's own phone."""


def is_legal(before: State, after: State) -> bool:
    """Tell whether a session may go from one state to another; staying is always legal."""
    return before == after or after in LEGAL_TRANSITIONS[before]

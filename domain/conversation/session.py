"""The session aggregate: one conversation with a lead, from its opening to its end."""

from dataclasses import dataclass, field
from typing import Any, Final

from domain import canonical
from domain.conversation.states import AGENTS, HUMANS, TERMINAL, State, is_legal
from domain.event import LeadEvent


@dataclass(slots=True, kw_only=True)
class Session:
    """One session, with the names of seed 000. Maps hold what agents collected.

    `rejected_transitions` counts changes of state that events asked for and that are not legal:
    the fold keeps its state, commands refuse them before anything is recorded.
    """

    session_id: str
    organization_id: str
    channel: str
    whatsapp_instance: str
    state: State
    created_at: str
    updated_at: str
    current_agent: str = ""
    segment: str | None = None
    intent: str | None = None
    qualification_data: dict[str, Any] = field(default_factory=dict)
    cadastral_data: dict[str, Any] = field(default_factory=dict)
    assigned_to: str | None = None
    handoff_reason: str | None = None
    handoff_card: dict[str, Any] = field(default_factory=dict)
    handoff_requested_at: str | None = None
    handoff_renotified_count: int = 0
    handoff_renotified_at: str | None = None
    handoff_customer_renotified_at: str | None = None
    operator_note: str | None = None
    replaces_session_id: str | None = None
    outcome: str | None = None
    ended_at: str | None = None
    turns: int = 0
    rejected_transitions: int = 0

    @property
    def is_open(self) -> bool:
        """Tell whether messages may still belong to it."""
        return self.state not in TERMINAL


_MAX_COLLECTED: Final = 60
_MAX_VALUE: Final = 500
"""What a session keeps of what agents collect: entries of a map, characters of each."""

ABANDONED: Final = "abandoned"
"""The outcome of a session whose lead fell silent; every other one completes it."""


def initial(event: LeadEvent) -> Session:
    """Return the session that a `conversation_started` of ours opens."""
    stated = event.payload
    return Session(
        session_id=stated["sessionId"],
        organization_id=event.organization_id,
        channel=stated["channel"],
        whatsapp_instance=stated.get("channelAccount", ""),
        state=State.NEW,
        created_at=event.occurred_at,
        updated_at=event.occurred_at,
        current_agent=AGENTS[State.NEW],
        replaces_session_id=stated.get("replacesSessionId"),
    )


def evolve(session: Session, event: LeadEvent) -> None:
    """Apply one event of the session, in place. Total: what is not legal is counted."""
    apply = _EVOLVE.get(event.event_type)
    if apply is not None:
        apply(session, event)
        session.updated_at = max(session.updated_at, event.occurred_at)


def state_after_end(outcome: str | None) -> State:
    """Return the final state of a session that ends with this outcome."""
    return State.ABANDONED if outcome == ABANDONED else State.COMPLETED


def _move(session: Session, state: State) -> bool:
    if not is_legal(session.state, state):
        session.rejected_transitions += 1
        return False
    session.state = state
    session.current_agent = AGENTS.get(state, "")
    if state not in HUMANS:
        session.assigned_to = None
    return True


def _ended(session: Session, event: LeadEvent) -> None:
    outcome = event.payload.get("outcome")
    if _move(session, state_after_end(outcome)) and session.ended_at is None:
        session.outcome = outcome
        session.ended_at = event.occurred_at


def _turned(session: Session, event: LeadEvent) -> None:
    stated = event.payload
    # The state a turn hands over to, or ends in, comes with the fact that says so.
    after = State(stated["stateAfter"])
    if after not in HUMANS and after not in TERMINAL:
        _move(session, after)
    session.turns += 1
    session.segment = stated.get("segment", session.segment)
    session.intent = stated.get("intent", session.intent)
    session.qualification_data = _merged(session.qualification_data, stated, "qualificationData")
    session.cadastral_data = _merged(session.cadastral_data, stated, "cadastralData")


def _requested(session: Session, event: LeadEvent) -> None:
    if not _move(session, State.HANDOFF_PENDING):
        return
    session.assigned_to = None
    session.handoff_reason = event.payload["reason"]
    session.handoff_card = _object(event.payload.get("card")) or session.handoff_card
    session.handoff_requested_at = event.occurred_at
    session.handoff_renotified_count = 0
    session.handoff_renotified_at = None
    session.handoff_customer_renotified_at = None


def _claimed(session: Session, event: LeadEvent) -> None:
    if _move(session, State.HUMAN):
        session.assigned_to = event.payload["operator"]


def _released(session: Session, event: LeadEvent) -> None:
    if _move(session, State.HANDOFF_PENDING):
        session.assigned_to = None
        session.operator_note = event.payload.get("note", session.operator_note)
        session.handoff_requested_at = event.occurred_at
        session.handoff_renotified_count = 0
        session.handoff_renotified_at = None


def _returned(session: Session, event: LeadEvent) -> None:
    if _move(session, State.TRIAGE):
        session.operator_note = event.payload.get("note", session.operator_note)


def _renotified(session: Session, event: LeadEvent) -> None:
    if event.payload["audience"] == "customer":
        session.handoff_customer_renotified_at = event.occurred_at
    else:
        session.handoff_renotified_count = event.payload["step"] + 1
        session.handoff_renotified_at = event.occurred_at


def _merged(known: dict[str, Any], stated: dict[str, Any], name: str) -> dict[str, Any]:
    """Add what a turn collected; bounded, so that no number of turns makes a row too large."""
    said = {key: str(value)[:_MAX_VALUE] for key, value in _object(stated.get(name)).items()}
    return dict(sorted({**known, **said}.items())[:_MAX_COLLECTED])


def _object(text: Any) -> dict[str, Any]:
    """Return the object a JSON text holds; what is none says nothing."""
    try:
        value = canonical.loads(text) if isinstance(text, str) else None
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {}


_EVOLVE: Final = {
    "conversation_ended": _ended,
    "agent_turn_completed": _turned,
    "handoff_requested": _requested,
    "handoff_claimed": _claimed,
    "handoff_released": _released,
    "handoff_returned": _returned,
    "handoff_renotified": _renotified,
}

HANDLES: Final = frozenset(_EVOLVE)
"""Event types that change a session that stands."""

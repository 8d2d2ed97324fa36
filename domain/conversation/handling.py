"""What people do with a conversation: take it, answer, hand it on, give it back, close it.

Each decision stands on what its commit stands on, and refuses what the person could not have meant
knowing that: a view of a moment ago is no ground to write to a customer.
"""

from dataclasses import dataclass
from typing import Final

from domain.conversation.chunks import LIMIT, units
from domain.conversation.facts import MESSAGING, OPERATORS, Facts
from domain.conversation.messages import outbound_id
from domain.conversation.routing import ending
from domain.conversation.session import Session
from domain.conversation.standing import Actor, Seen, Standing, transition_state
from domain.conversation.states import BOT, PHONE_OPERATOR, State
from domain.errors import FieldError, LimitExceeded, Rejected
from domain.event import NewEvent

CLOSED_BY_OPERATOR: Final = "closed_by_operator"
"""The outcome of a conversation that a person closed."""

OPERATOR_TEXT: Final = "operator_text"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorMessage:
    """A text to a lead. `client_message_id` is the writer's own: the same text sent twice is one."""

    text: str
    client_message_id: str
    last_seen_message_id: str | None = None


class WindowClosed(Rejected):
    """The channel lets nobody write to the lead before the lead writes again."""

    code = "window_closed"
    title = "The lead cannot be written to now"

    def __init__(self) -> None:
        super().__init__(
            "The lead last wrote more than a day ago, and the channel takes no text after that.",
            hint="Wait until the lead writes, or reach it another way.",
        )


def claim(
    standing: Standing,
    actor: Actor,
    facts: Facts,
    seen: Seen | None = None,
    *,
    take_over: bool = False,
) -> list[NewEvent]:
    """Return what makes the actor the owner of a conversation that waits for a person.

    Nothing if it is the actor's already. What somebody writes on the business's own phone may be
    claimed as well: nobody would release it there. `take_over` also takes it from the agents.

    Raises:
        StateChanged: another operator has it, or it does not wait.
    """
    session, who = standing.session, actor.operator
    if session is not None and session.state == State.HUMAN and session.assigned_to == who:
        return []
    from_phone = session is not None and session.assigned_to == PHONE_OPERATOR
    taken = session is not None and session.state == State.HUMAN
    asked: list[NewEvent] = []
    if take_over and session is not None and session.state in BOT:
        session = transition_state(standing, State.HANDOFF_PENDING, expected_state=BOT, seen=seen)
        asked = [_requested(session, actor, facts)]
    else:
        session = transition_state(
            standing,
            State.HUMAN,
            expected_state=_WAITING | ({State.HUMAN} if from_phone else set()),
            expected_assigned_to=who if taken and not from_phone else None,
            seen=seen,
        )
    return [*asked, _claimed(session, actor, facts, who, PHONE_OPERATOR if from_phone else None)]


def release(
    standing: Standing,
    actor: Actor,
    facts: Facts,
    note: str | None = None,
    seen: Seen | None = None,
) -> list[NewEvent]:
    """Return what puts the actor's conversation back into the queue.

    Raises:
        StateChanged: it is not the actor's.
    """
    session = _own(standing, actor, State.HANDOFF_PENDING, seen)
    return [_act("handoff_released", session, actor, facts, note=note)]


def transfer(
    standing: Standing, actor: Actor, facts: Facts, to: str, seen: Seen | None = None
) -> list[NewEvent]:
    """Return what makes another operator the owner of the actor's conversation.

    Nothing if that is the actor.

    Raises:
        StateChanged: it is not the actor's.
    """
    session = _own(standing, actor, State.HUMAN, seen)
    return [] if to == actor.operator else [_claimed(session, actor, facts, to, actor.operator)]


def return_to_bot(
    standing: Standing,
    actor: Actor,
    facts: Facts,
    note: str | None = None,
    seen: Seen | None = None,
) -> list[NewEvent]:
    """Return what lets agents answer again: the actor's conversation, or one that waits.

    Raises:
        StateChanged: another operator has it, or agents do.
    """
    session = _own_or_waiting(standing, actor, State.TRIAGE, seen)
    return [_act("handoff_returned", session, actor, facts, note=note)]


def close(
    standing: Standing, actor: Actor, facts: Facts, seen: Seen | None = None
) -> list[NewEvent]:
    """Return what ends the actor's conversation, or one that waits, which is claimed first.

    Raises:
        StateChanged: another operator has it, or agents do.
    """
    session = _own_or_waiting(standing, actor, State.COMPLETED, seen)
    claimed = (
        []
        if session.state == State.HUMAN
        else [_claimed(session, actor, facts, actor.operator, None)]
    )
    return [*claimed, ending(standing.thread, facts, CLOSED_BY_OPERATOR)]


def write(
    standing: Standing, actor: Actor, facts: Facts, message: OperatorMessage
) -> list[NewEvent]:
    """Return what queues a text of the owner.

    Raises:
        StateChanged: it is not the actor's, or the lead wrote what the actor has not seen.
        WindowClosed: the channel would not take it.
        Rejected: there is no text, or more than one message holds.
    """
    seen = Seen(latest=message.last_seen_message_id)
    session = _own(standing, actor, State.HUMAN, seen)
    if not standing.thread.window_is_open(facts.now):
        raise WindowClosed
    text = checked(message.text)
    name = outbound_id(session.session_id, message.client_message_id, OPERATOR_TEXT)
    return [
        facts.fact(
            "operator_message_queued",
            OPERATORS,
            message.client_message_id,
            outbound_id=name,
            session_id=session.session_id,
            operator=actor.operator,
            text=text,
        )
    ]


def checked(text: str) -> str:
    """Return a text as it may be sent.

    Raises:
        Rejected: there is none, or more than one message holds.
    """
    text = text.strip()
    if not text:
        raise Rejected(
            "There is nothing to send.", fields=[FieldError("/text", "must not be empty")]
        )
    if units(text) > LIMIT:
        raise LimitExceeded(
            f"The text is longer than the {LIMIT} characters one message may have.",
            hint="Send it in parts.",
            fields=[FieldError("/text", f"must have at most {LIMIT} characters")],
        )
    return text


def _own(standing: Standing, actor: Actor, new_state: State, seen: Seen | None) -> Session:
    return transition_state(
        standing,
        new_state,
        expected_state=_TAKEN,
        expected_assigned_to=actor.operator,
        seen=seen,
    )


def _own_or_waiting(
    standing: Standing, actor: Actor, new_state: State, seen: Seen | None
) -> Session:
    session = standing.session
    if session is not None and session.state == State.HUMAN:
        return _own(standing, actor, new_state, seen)
    return transition_state(standing, new_state, expected_state=_WAITING, seen=seen)


def _requested(session: Session, actor: Actor, facts: Facts) -> NewEvent:
    return facts.fact(
        "handoff_requested",
        MESSAGING,
        f"{actor.command_id}:handoff",
        session_id=session.session_id,
        reason="operator_takeover",
    )


def _claimed(
    session: Session, actor: Actor, facts: Facts, operator: str, before: str | None
) -> NewEvent:
    return facts.fact(
        "handoff_claimed",
        OPERATORS,
        actor.command_id,
        session_id=session.session_id,
        operator=operator,
        from_operator=before,
    )


def _act(
    event_type: str, session: Session, actor: Actor, facts: Facts, *, note: str | None
) -> NewEvent:
    return facts.fact(
        event_type,
        OPERATORS,
        actor.command_id,
        session_id=session.session_id,
        operator=actor.operator,
        note=note or None,
    )


_WAITING: Final = frozenset((State.HANDOFF_PENDING,))
_TAKEN: Final = frozenset((State.HUMAN,))

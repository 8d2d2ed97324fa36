"""What the passing of time means for a conversation: reminders, silence, and who gets it back."""

from domain.conversation.facts import MESSAGING, Facts
from domain.conversation.policy import Policy
from domain.conversation.routing import ending
from domain.conversation.session import ABANDONED, Session
from domain.conversation.standing import Standing
from domain.conversation.states import BOT, PHONE_OPERATOR, State
from domain.conversation.texts import text
from domain.conversation.thread import Thread
from domain.event import NewEvent
from domain.instants import shift, to_datetime


def minutes_between(since: str, now: str) -> int:
    """Return the whole minutes from one instant to another."""
    return int((to_datetime(now) - to_datetime(since)).total_seconds() // 60)


def step_due(session: Session, policy: Policy, now: str) -> int | None:
    """Return the step of the operators' ladder that is due, None if none is.

    After a pause of the service that is the last one passed: nobody is told the same twice at once.
    """
    since = session.handoff_requested_at
    if session.state != State.HANDOFF_PENDING or since is None:
        return None
    ladder = enumerate(policy.remind_operators_after)
    passed = [step for step, after in ladder if shift(since, after) <= now]
    return passed[-1] if passed and passed[-1] >= session.handoff_renotified_count else None


def renotification(session: Session, step: int) -> str:
    """Return the name of one step of one wait: the same in every round that finds it due."""
    return f"{session.session_id}:renotify:{session.handoff_requested_at}:{step}"


def remind_operators(standing: Standing, step: int, policy: Policy, facts: Facts) -> list[NewEvent]:
    """Return the note that operators were told (`mark_handoff_renotified`); nothing if not due."""
    session = standing.session
    if session is None or step_due(session, policy, facts.now) != step:
        return []
    name = renotification(session, step)
    return [_renotified(session, "operator", step, name, facts)]


def alert(thread: Thread | None, words: str, cause: str, facts: Facts) -> list[NewEvent]:
    """Return what tells one operator by message; nothing where the channel would not take it."""
    if thread is None or not thread.window_is_open(facts.now):
        return []
    return [facts.reply_queued("operator_alert", words, cause=cause)]


def remind_customer(standing: Standing, policy: Policy, facts: Facts) -> list[NewEvent]:
    """Return what tells a waiting lead once that it is not forgotten; nothing if not due.

    Who asked not to be written to, or may not be, is not told.
    """
    session, thread = standing.session, standing.thread
    if session is None or not _customer_is_due(session, policy, facts.now):
        return []
    if thread.opted_out or not thread.window_is_open(facts.now):
        return []
    name = f"{session.session_id}:renotify:{session.handoff_requested_at}:customer"
    words = text("still_waiting", policy.language)
    return [
        _renotified(session, "customer", 0, name, facts),
        facts.reply_queued("customer_reminder", words, cause=name, session_id=session.session_id),
    ]


def abandon(standing: Standing, policy: Policy, facts: Facts) -> list[NewEvent]:
    """Return the end of a conversation with agents whose lead fell silent; nothing if it did not.

    Whatever still waits to be answered or sent keeps it open.
    """
    session, thread = standing.session, standing.thread
    if session is None or session.state not in BOT:
        return []
    quiet = shift(facts.now, -policy.abandon_after)
    if max(thread.latest_at, session.updated_at) > quiet:
        return []
    if thread.pending or next(thread.moving(), None) is not None:
        return []
    return [ending(thread, facts, ABANDONED)]


def return_from_phone(
    standing: Standing, last_echo: str, policy: Policy, facts: Facts
) -> list[NewEvent]:
    """Return what gives agents back what the business's phone has let lie; nothing if it has not.

    `last_echo` is when somebody last wrote there, empty if that is not known.
    """
    session = standing.session
    if session is None or session.assigned_to != PHONE_OPERATOR:
        return []
    since = max(last_echo, session.updated_at)
    if shift(since, policy.phone_takeover) > facts.now:
        return []
    return [
        facts.fact(
            "handoff_returned",
            MESSAGING,
            f"{session.session_id}:returned:{since}",
            session_id=session.session_id,
            operator=PHONE_OPERATOR,
        )
    ]


def _customer_is_due(session: Session, policy: Policy, now: str) -> bool:
    since = session.handoff_requested_at
    return (
        session.state == State.HANDOFF_PENDING
        and since is not None
        and session.handoff_customer_renotified_at is None
        and shift(since, policy.remind_customer_after) <= now
    )


def _renotified(session: Session, audience: str, step: int, name: str, facts: Facts) -> NewEvent:
    return facts.fact(
        "handoff_renotified",
        MESSAGING,
        name,
        session_id=session.session_id,
        audience=audience,
        step=step,
    )

"""Sending: the next thing to do for a lead, when a text may go, and what an answer of the channel means."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from domain.conversation.delivery import (
    RETRIED,
    Accepted,
    ErrorClass,
    NotAccepted,
    SendResult,
)
from domain.conversation.facts import MESSAGING, Facts
from domain.conversation.inbound import MessageStatus
from domain.conversation.messages import FAILED, Delivery
from domain.conversation.policy import Policy
from domain.conversation.states import BOT
from domain.conversation.thread import RESENT, Outbound, Thread, Waiting, why_not
from domain.event import NewEvent
from domain.instants import shift

_LONGEST_WAIT_S: Final = 60
_ACCOUNT_WAIT_S: Final = 60
"""Between looks at an account that is refused as a whole; such tries are not counted."""

_MAX_UNCERTAIN: Final = 2


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done next: a turn of all that waits, one command, or one text."""

    kind: Literal["turn", "command", "send"]
    waiting: tuple[Waiting, ...] = ()
    outbound: Outbound | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of handing a text over once."""

    outbound_id: str
    attempt: int
    result: SendResult


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """A text the channel took and then could not deliver."""

    outbound_id: str
    kind: str
    attempt: int
    message_id: str
    error_class: str | None
    error_code: int | None


def next_step(thread: Thread, now: str) -> Step | None:
    """Return the next thing that is due for a lead; None if there is nothing yet.

    Texts go in the order they were queued. A newer message makes an answer that has not gone yet
    obsolete at once, whatever it was waiting for.
    """
    turns = tuple(each for each in thread.pending if each.route == "turn")
    first = next(thread.moving(), None)
    if first is not None:
        overtaken = bool(turns) and first.kind == "bot_text" and first.state in {"queued", "failed"}
        if overtaken or first.due_at <= now:
            return Step("send", outbound=first)
    command = next((each for each in thread.pending if each.route == "operator"), None)
    if command is not None:
        return Step("command", (command,))
    if turns and thread.state in BOT:
        return Step("turn", turns)
    return None


def decide_send(thread: Thread, name: str, policy: Policy, facts: Facts) -> list[NewEvent]:
    """Return what moves one text: that it is being sent now, is in doubt, or will not go.

    Nothing if somebody else is at it or it is not due. `reply_sending` is the caller's licence to
    hand the text over, once.
    """
    outbound = thread.find(name)
    if outbound is None or outbound.parked:
        return []
    due = outbound.due_at <= facts.now
    if outbound.state == "sending":
        return [_in_doubt(outbound, "no_answer", policy, facts)] if due else []
    reason = why_not(thread, outbound, facts.now)
    if reason is not None:
        return _dropped(thread, outbound, reason, facts)
    return _next_try(thread, outbound, policy, facts) if due else []


def decide_sent(
    thread: Thread, delivery: Delivery | None, tried: Tried, policy: Policy, facts: Facts
) -> list[NewEvent]:
    """Return what the channel's answer to one try means.

    `delivery` is what statuses already told of the message, which may be faster than the answer.
    """
    name, attempt, result = tried.outbound_id, tried.attempt, tried.result
    outbound = thread.find(name)
    if isinstance(result, Accepted):
        sent = facts.step(
            "reply_sent",
            name,
            attempt,
            channel=thread.channel or "whatsapp",
            message_id=result.message_id,
            session_id=outbound.session_id if outbound else None,
        )
        if outbound is None or delivery is None or delivery.sort_key or delivery.status != FAILED:
            return [sent]
        return [sent, *_undelivered(thread, _failure(outbound, delivery), policy, facts)]
    if outbound is None or outbound.attempt != attempt or outbound.state != "sending":
        return []
    if isinstance(result, NotAccepted):
        return _refused(thread, outbound, result, policy, facts)
    return [_in_doubt(outbound, result.reason, policy, facts)]


def decide_status(
    thread: Thread | None,
    delivery: Delivery | None,
    item: MessageStatus,
    policy: Policy,
    facts: Facts,
) -> list[NewEvent]:
    """Return what a status means: itself, and what follows where the channel failed.

    It may come before the channel's own answer: then our id in it tells which text is meant.
    """
    changed = facts.fact(
        "message_status_changed",
        item.source,
        item.external_event_id,
        occurred_at=item.occurred_at,
        message_id=item.message_id,
        status=item.status,
        outbound_id=item.outbound_id,
        error_class=item.error_class,
        error_code=item.error_code,
        error_title=item.error_title,
        error_details=item.error_details,
    )
    if item.status != FAILED or thread is None or (delivery is not None and delivery.arrived):
        return [changed]
    text = _meant(thread, delivery, item)
    return [changed, *_undelivered(thread, text, policy, facts)] if text else [changed]


def _meant(thread: Thread, delivery: Delivery | None, item: MessageStatus) -> _Failure | None:
    """Return which text a failure is about, as far as one can know yet."""
    if delivery is not None and delivery.sort_key:
        return _failure(delivery, item)
    text = thread.find(item.outbound_id or "")
    if text is None or text.state not in {"sending", "uncertain"}:
        return None
    return _failure(text, item)


def _failure(text: Delivery | Outbound, told: Delivery | MessageStatus) -> _Failure:
    message_id = told.provider_message_id if isinstance(told, Delivery) else told.message_id
    return _Failure(
        outbound_id=text.outbound_id,
        kind=text.kind,
        attempt=text.attempt,
        message_id=message_id,
        error_class=told.error_class,
        error_code=told.error_code,
    )


def _undelivered(thread: Thread, text: _Failure, policy: Policy, facts: Facts) -> list[NewEvent]:
    """Let a text go once more where the channel failed for now, else ask for a human.

    Not if an earlier try of it arrived, which was taken for lost.
    """
    if text.outbound_id in thread.arrived:
        return []
    if text.error_class not in RETRIED or text.attempt >= policy.send_attempts:
        return _handed(thread, text.outbound_id, text.kind, "delivery_failed", facts)
    wait = _wait_s(ErrorClass(text.error_class), text.attempt, None)
    again = facts.step(
        "reply_failed",
        text.outbound_id,
        text.attempt,
        message_id=text.message_id,
        error_class=text.error_class,
        error_code=text.error_code,
        retry_at=shift(facts.now, timedelta(seconds=wait)),
    )
    return [again]


def _next_try(thread: Thread, outbound: Outbound, policy: Policy, facts: Facts) -> list[NewEvent]:
    if outbound.uncertain >= _MAX_UNCERTAIN:
        return _lost(thread, outbound, "UNCERTAIN", facts)
    attempt = outbound.attempt + 1
    return [facts.sending(outbound.outbound_id, attempt, policy.sending_patience)]


def _in_doubt(outbound: Outbound, reason: str, policy: Policy, facts: Facts) -> NewEvent:
    """Note the doubt; a text whose loss would be worse than a repetition is looked at again."""
    again = outbound.kind in RESENT
    return facts.step(
        "reply_uncertain",
        outbound.outbound_id,
        outbound.attempt,
        reason=reason,
        retry_at=shift(facts.now, policy.reconcile_grace) if again else None,
    )


def _refused(
    thread: Thread, outbound: Outbound, result: NotAccepted, policy: Policy, facts: Facts
) -> list[NewEvent]:
    kind = result.error_class
    counted = kind != ErrorClass.ACCOUNT
    if kind in RETRIED and not (counted and outbound.attempt >= policy.send_attempts):
        wait = _wait_s(kind, outbound.attempt, result.retry_after_s)
        return [_failed(outbound, result, facts, shift(facts.now, timedelta(seconds=wait)))]
    facts_of_it = [_failed(outbound, result, facts, None)]
    if kind == ErrorClass.CONSENT:
        facts_of_it.append(
            facts.fact(
                "consent_recorded",
                MESSAGING,
                f"{outbound.outbound_id}:consent",
                kind="marketing_messages",
                decision="refused",
            )
        )
    reason = f"delivery_{kind.lower()}"
    return facts_of_it + _handed(thread, outbound.outbound_id, outbound.kind, reason, facts)


def _failed(
    outbound: Outbound, result: NotAccepted, facts: Facts, retry_at: str | None
) -> NewEvent:
    return facts.step(
        "reply_failed",
        outbound.outbound_id,
        outbound.attempt,
        error_class=result.error_class.value,
        error_code=result.error_code,
        error_title=result.error_title,
        error_details=result.error_details,
        retry_at=retry_at,
    )


def _dropped(thread: Thread, outbound: Outbound, reason: str, facts: Facts) -> list[NewEvent]:
    dropped = [facts.dropped(outbound.outbound_id, reason)]
    if reason == "window_closed":
        dropped += _handed(thread, outbound.outbound_id, outbound.kind, reason, facts)
    return dropped


def _lost(thread: Thread, outbound: Outbound, kind: str, facts: Facts) -> list[NewEvent]:
    failed = facts.step("reply_failed", outbound.outbound_id, outbound.attempt, error_class=kind)
    handed = _handed(thread, outbound.outbound_id, outbound.kind, "delivery_uncertain", facts)
    return [failed, *handed]


def _handed(thread: Thread, name: str, kind: str, reason: str, facts: Facts) -> list[NewEvent]:
    """Ask for a human where an agent's words do not reach the lead."""
    if kind != "bot_text" or thread.state not in BOT or thread.active_session_id is None:
        return []
    return [
        facts.fact(
            "handoff_requested",
            MESSAGING,
            f"{name}:handoff",
            session_id=thread.active_session_id,
            reason=reason,
        )
    ]


def _wait_s(kind: ErrorClass, attempt: int, asked: int | None) -> int:
    """Return how long to wait before the next try. Source: research/whatsapp.md §5.1."""
    if asked is not None:
        return asked
    if kind == ErrorClass.ACCOUNT:
        return _ACCOUNT_WAIT_S
    longest = 64 if kind == ErrorClass.PAIR else _LONGEST_WAIT_S
    return int(min(longest, 4 ** max(0, attempt - 1)))

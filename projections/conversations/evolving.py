"""What each event does to the rows of a conversation."""

from collections.abc import Callable
from typing import Final

from domain import keys
from domain.conversation import session as sessions
from domain.conversation.messages import Message
from domain.conversation.session import Session
from domain.conversation.states import State
from domain.conversation.thread import MAX_PENDING, Thread, Waiting, reply_kind
from domain.event import LeadEvent
from projections.conversations import sending
from projections.projection import Rows

Evolve = Callable[[Rows, LeadEvent], None]


def is_ours(event: LeadEvent) -> bool:
    """Tell whether this service decided the event; the same types may be reported by others."""
    return _DECIDED_BY.get(event.event_type, "sessionId") in event.payload


def _received(rows: Rows, event: LeadEvent) -> None:
    stated = event.payload
    route, session_id = stated["route"], stated.get("sessionId")
    key = keys.message(event.lead, event.occurred_at, event.sequence, event.external_event_id)
    rows.put(
        key,
        Message(
            message_id=event.external_event_id,
            direction="inbound",
            kind=stated.get("mediaType", "text"),
            at=event.occurred_at,
            session_id=session_id,
            text=stated.get("text", ""),
            route=route,
            contact_name=stated.get("contactName"),
            media_id=stated.get("mediaId"),
            quoted_message_id=stated.get("quotedMessageId"),
            whatsapp_instance=stated.get("channelAccount"),
        ),
    )
    if route == "record":
        return
    thread = sending.thread_of(rows, event)
    thread.latest = event.external_event_id
    thread.latest_session_id = session_id
    thread.latest_at = event.received_at
    thread.last_inbound_at = max(thread.last_inbound_at, event.occurred_at)
    thread.channel = stated.get("channel", thread.channel)
    thread.account = stated.get("channelAccount", thread.account)
    thread.reply_to = stated.get("replyTo", thread.reply_to)
    thread.user_id = stated.get("userId", thread.user_id)
    thread.session_messages += session_id is not None and session_id == thread.active_session_id
    if route in {"turn", "operator"}:
        waiting = Waiting(
            message_id=event.external_event_id,
            sort_key=key.sk,
            session_id=session_id,
            since=event.received_at,
            route=route,
        )
        thread.pending = [*thread.pending, waiting][-MAX_PENDING:]


def _edited(rows: Rows, event: LeadEvent) -> None:
    thread = sending.thread_of(rows, event)
    for waiting in thread.pending:
        if waiting.message_id == event.payload["messageId"]:
            message = rows.get(keys.Key(keys.session_partition(event.lead), waiting.sort_key))
            if message is not None:
                message.text = event.payload.get("text", "")
                message.edited += 1
                rows.put(keys.Key(keys.session_partition(event.lead), waiting.sort_key), message)
            waiting.revision += 1


def _revoked(rows: Rows, event: LeadEvent) -> None:
    thread = sending.thread_of(rows, event)
    for waiting in thread.pending:
        if waiting.message_id == event.payload["messageId"]:
            sending.mark(rows, event.lead, waiting.sort_key, "revoked", blank=True)
    thread.pending = [w for w in thread.pending if w.message_id != event.payload["messageId"]]


def _echoed(rows: Rows, event: LeadEvent) -> None:
    stated = event.payload
    key = keys.message(event.lead, event.occurred_at, event.sequence, event.external_event_id)
    rows.put(
        key,
        Message(
            message_id=event.external_event_id,
            direction="outbound",
            kind=stated["mediaType"],
            at=event.occurred_at,
            session_id=stated.get("sessionId"),
            text=stated.get("text", ""),
            author="phone",
            whatsapp_instance=stated.get("channelAccount"),
        ),
    )


def _imported(rows: Rows, event: LeadEvent) -> None:
    stated = event.payload
    key = keys.message(event.lead, event.occurred_at, event.sequence, event.external_event_id)
    rows.put(
        key,
        Message(
            message_id=event.external_event_id,
            direction=stated["direction"],
            kind=stated["mediaType"],
            at=event.occurred_at,
            text=stated.get("text", ""),
        ),
    )


def _noted(rows: Rows, event: LeadEvent) -> None:
    thread = sending.thread_of(rows, event)
    thread.reply_to = event.payload.get("replyTo", thread.reply_to)
    thread.user_id = event.payload.get("userId", thread.user_id)


def _consented(rows: Rows, event: LeadEvent) -> None:
    sending.thread_of(rows, event).opted_out = event.payload["decision"] == "refused"


def _started(rows: Rows, event: LeadEvent) -> None:
    session = sessions.initial(event)
    rows.put(keys.session(event.lead, session.session_id), session)
    rows.put(
        keys.active(event.lead),
        {"session_id": session.session_id, "updated_at": event.occurred_at},
    )
    thread = sending.thread_of(rows, event)
    thread.active_session_id = session.session_id
    thread.active_account = session.whatsapp_instance
    # A lead the business wrote to first has said nothing yet that would tell.
    thread.channel = thread.channel or session.channel
    thread.account = thread.account or session.whatsapp_instance
    thread.state = session.state
    for waiting in thread.pending:
        # What was written in the session before is answered in this one, or ends with it.
        if waiting.route == "turn":
            waiting.session_id = session.session_id
    thread.started_at = event.occurred_at
    thread.session_messages = int(thread.latest_session_id == session.session_id)


def _ended(rows: Rows, event: LeadEvent) -> None:
    session = _changed(rows, event)
    thread = sending.thread_of(rows, event)
    if session is None or session.is_open or thread.active_session_id != session.session_id:
        return
    rows.delete(keys.active(event.lead))
    thread.active_session_id, thread.state = None, None
    if event.payload.get("outcome") != "moved":
        # What was written to one number of the business is still answered on the other.
        thread.pending = [w for w in thread.pending if w.session_id != session.session_id]


def _turned(rows: Rows, event: LeadEvent) -> None:
    stated = event.payload
    _changed(rows, event)
    thread = sending.thread_of(rows, event)
    covered = set(stated["coveredMessageIds"])
    last = max((n for n, w in enumerate(thread.pending, 1) if w.message_id in covered), default=0)
    thread.pending = thread.pending[last:]
    sending.called(rows, event)
    sending.park(thread, "bot_text")
    sending.queue_reply(rows, event, reply_kind(State(stated["stateAfter"])))


def _superseded(rows: Rows, event: LeadEvent) -> None:
    sending.called(rows, event)


def _handed(rows: Rows, event: LeadEvent) -> None:
    """Apply a step of a handoff. Whoever waits in the queue is read by a human: no turn is due."""
    _changed(rows, event)
    thread = sending.thread_of(rows, event)
    thread.pending = [w for w in thread.pending if w.route != "turn"]


def _renotified(rows: Rows, event: LeadEvent) -> None:
    _changed(rows, event)


def _demanded(rows: Rows, event: LeadEvent) -> None:
    stated = event.payload
    rows.put(
        keys.demand(event.organization_id, event.occurred_at, event.event_id),
        {
            "demand_id": event.event_id,
            "session_id": stated["sessionId"],
            "service": stated["service"],
            "original_message": stated.get("originalMessage", ""),
            "segment": stated.get("segment", ""),
            "whatsapp_instance": stated.get("channelAccount", ""),
            "created_at": event.occurred_at,
        },
    )


def _changed(rows: Rows, event: LeadEvent) -> Session | None:
    """Evolve the session an event names; the thread follows if it is the open one."""
    key = keys.session(event.lead, event.payload["sessionId"])
    session: Session | None = rows.get(key)
    if session is None:
        return None
    sessions.evolve(session, event)
    rows.put(key, session)
    thread: Thread = sending.thread_of(rows, event)
    if thread.active_session_id == session.session_id:
        thread.state = session.state
    return session


EVOLVE: Final[dict[str, Evolve]] = {
    "message_received": _received,
    "message_edited": _edited,
    "message_revoked": _revoked,
    "message_echoed": _echoed,
    "message_imported": _imported,
    "channel_event_recorded": _noted,
    "consent_recorded": _consented,
    "conversation_started": _started,
    "conversation_ended": _ended,
    "agent_turn_completed": _turned,
    "agent_turn_superseded": _superseded,
    "reply_queued": sending.queued,
    "operator_message_queued": sending.queued,
    "reply_sending": sending.started,
    "reply_sent": sending.sent,
    "reply_failed": sending.failed,
    "reply_uncertain": sending.uncertain,
    "reply_dropped": sending.dropped,
    "message_status_changed": sending.status_changed,
    "handoff_requested": _handed,
    "handoff_claimed": _handed,
    "handoff_released": _handed,
    "handoff_returned": _handed,
    "handoff_renotified": _renotified,
    "out_of_portfolio_requested": _demanded,
}

_DECIDED_BY: Final = {
    "message_received": "route",
    "message_echoed": "mediaType",
    "message_imported": "direction",
    "channel_event_recorded": "kind",
    "consent_recorded": "decision",
    "reply_sent": "messageId",
    "message_status_changed": "status",
    **dict.fromkeys(("message_edited", "message_revoked"), "messageId"),
    **dict.fromkeys(
        ("reply_queued", "reply_sending", "reply_failed", "reply_uncertain", "reply_dropped"),
        "outboundId",
    ),
}
"""What an event of ours always says, where it is not the session.

Some types others report too, and before they were declared anybody could post them all.
"""

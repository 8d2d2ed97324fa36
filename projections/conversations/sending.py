"""What each step of a message of ours does to the rows: queued, sending, settled, told by statuses."""

from typing import Any, Final

from domain import keys
from domain.conversation.chunks import chunks
from domain.conversation.messages import FAILED, Delivery, Message, outbound_id
from domain.conversation.thread import Outbound, Thread
from domain.event import LeadEvent
from domain.keys import Key
from projections.projection import Rows

_MAX_ARRIVED: Final = 5
_MAX_PARKED: Final = 5
"""Uncertain texts that wait for a status; the oldest are given up."""


def thread_of(rows: Rows, event: LeadEvent) -> Thread:
    """Return the lead's thread, to be changed in place."""
    thread: Thread = rows.changing(
        keys.latest_inbound(event.lead), lambda: Thread(organization_id=event.organization_id)
    )
    return thread


def mark(rows: Rows, lead: str, sort_key: str, error: str | None, *, blank: bool = False) -> None:
    """Say on a message's row why it did not reach anybody."""
    key = Key(keys.session_partition(lead), sort_key)
    message: Message | None = rows.get(key)
    if message is None:
        return
    message.error = error
    if blank:
        message.text = ""
    rows.put(key, message)


def queue_reply(rows: Rows, event: LeadEvent, kind: str) -> None:
    """Put the parts of an agent's reply into the history and the outbox."""
    stated = event.payload
    cause = stated["coveredMessageIds"][-1] if stated["coveredMessageIds"] else event.event_id
    for part, text in enumerate(chunks(stated.get("reply", ""))):
        name = outbound_id(stated["sessionId"], cause, kind, part)
        _queue(rows, event, (name, kind, cause), (text, stated["agent"]))


def queued(rows: Rows, event: LeadEvent) -> None:
    """Put one text into the history and the outbox; what it answers waits no longer."""
    stated = event.payload
    kind = stated.get("kind", "operator_text")
    cause = stated.get("causeMessageId", "")
    _queue(
        rows, event, (stated["outboundId"], kind, cause), (stated["text"], stated.get("operator"))
    )
    thread = thread_of(rows, event)
    thread.pending = [each for each in thread.pending if each.message_id != cause]
    if kind == "notice":
        thread.noticed_at = event.received_at
    if kind in {"inbox_ack", "handoff_ack"}:
        thread.acknowledged_at = event.received_at


def started(rows: Rows, event: LeadEvent) -> None:
    """Note that a text is being handed to the channel."""
    outbound = thread_of(rows, event).find(event.payload["outboundId"])
    if outbound is not None:
        outbound.state, outbound.at = "sending", event.received_at
        outbound.attempt = event.payload["attempt"]
        outbound.retry_at = event.payload.get("retryAt", "")


def sent(rows: Rows, event: LeadEvent) -> None:
    """Settle a text under the id the channel gave it."""
    delivery = _delivery(rows, event)
    if not delivery.sort_key:
        # A status may have told before which text it is, and what became of it.
        _adopt(thread_of(rows, event), delivery, event.payload["outboundId"])
        _mark_failure(rows, event, delivery)
    delivery.sent_at = delivery.sent_at or event.received_at


def failed(rows: Rows, event: LeadEvent) -> None:
    """Let a text go later, or say that it never will."""
    stated = event.payload
    thread = thread_of(rows, event)
    outbound = thread.find(stated["outboundId"])
    if outbound is None and "messageId" in stated:
        outbound = _taken_back(rows, event, thread)
    if outbound is None:
        return
    outbound.attempt = stated["attempt"]
    if "retryAt" in stated:
        outbound.state, outbound.retry_at = "failed", stated["retryAt"]
        outbound.at = event.received_at
    else:
        thread.outbox.remove(outbound)
        mark(rows, event.lead, outbound.sort_key, stated["errorClass"])


def uncertain(rows: Rows, event: LeadEvent) -> None:
    """Keep a text that may have been sent, until somebody knows."""
    thread = thread_of(rows, event)
    outbound = thread.find(event.payload["outboundId"])
    if outbound is None:
        return
    outbound.state, outbound.at = "uncertain", event.received_at
    outbound.retry_at = event.payload.get("retryAt", "")
    outbound.uncertain += 1
    if outbound.parked:
        mark(rows, event.lead, outbound.sort_key, "uncertain")
    _limit_parked(thread)


def dropped(rows: Rows, event: LeadEvent) -> None:
    """Take a text out that will not be sent."""
    thread = thread_of(rows, event)
    outbound = thread.find(event.payload["outboundId"])
    if outbound is not None:
        thread.outbox.remove(outbound)
        mark(rows, event.lead, outbound.sort_key, event.payload["reason"])


def status_changed(rows: Rows, event: LeadEvent) -> None:
    """Keep the earliest time of each status; one of a text in doubt settles it."""
    stated = event.payload
    delivery = _delivery(rows, event)
    status = stated["status"]
    known = delivery.statuses.get(status, event.occurred_at)
    delivery.statuses[status] = min(known, event.occurred_at)
    if status == FAILED:
        delivery.error_class = stated.get("errorClass", delivery.error_class)
        delivery.error_code = stated.get("errorCode", delivery.error_code)
        delivery.error_title = stated.get("errorTitle", delivery.error_title)
        delivery.error_details = stated.get("errorDetails", delivery.error_details)
    if "outboundId" in stated:
        _settle(rows, event, delivery)
    _mark_failure(rows, event, delivery)


def park(thread: Thread, kind: str) -> None:
    """Stop asking about texts in doubt that a newer answer has overtaken."""
    for outbound in thread.outbox:
        if outbound.kind == kind and outbound.state == "uncertain":
            outbound.retry_at = ""
    _limit_parked(thread)


def called(rows: Rows, event: LeadEvent) -> None:
    """List a call of a model, with what it cost."""
    stated = event.payload
    if "model" not in stated:
        return
    row: dict[str, Any] = {
        "session_id": stated["sessionId"],
        "agent": stated["agent"],
        "model": stated["model"],
        "input_tokens": stated.get("inputTokens", 0),
        "output_tokens": stated.get("outputTokens", 0),
        "latency_ms": stated.get("latencyMs", 0),
        "superseded": int(event.event_type == "agent_turn_superseded"),
        "created_at": event.occurred_at,
    }
    if "costMicros" in stated:
        row["cost_micros"] = stated["costMicros"]
        row["cost_currency"] = stated.get("costCurrency", "USD")
    if "prompt" in stated:
        row["prompt"] = stated["prompt"]
    rows.put(keys.model_call(event.organization_id, event.occurred_at, event.event_id), row)


def _queue(
    rows: Rows, event: LeadEvent, what: tuple[str, str, str], said: tuple[str, str | None]
) -> None:
    name, kind, cause = what
    text, author = said
    session_id = event.payload.get("sessionId")
    thread = thread_of(rows, event)
    key = keys.message(event.lead, event.occurred_at, event.sequence, name)
    rows.put(
        key,
        Message(
            message_id=name,
            direction="outbound",
            kind=kind,
            at=event.occurred_at,
            session_id=session_id,
            text=text,
            author=author,
            whatsapp_instance=thread.account or None,
        ),
    )
    thread.session_messages += session_id is not None and session_id == thread.active_session_id
    thread.outbox.append(
        Outbound(
            outbound_id=name,
            sort_key=key.sk,
            kind=kind,
            session_id=session_id,
            at=event.received_at,
            answers=cause,
        )
    )


def _delivery(rows: Rows, event: LeadEvent) -> Delivery:
    message_id = event.payload["messageId"]
    delivery: Delivery = rows.changing(
        keys.delivery(event.lead, message_id), lambda: Delivery(provider_message_id=message_id)
    )
    return delivery


def _settle(rows: Rows, event: LeadEvent, delivery: Delivery) -> None:
    """Let a status that names a text of ours settle it, if it waits; the thread changes only then."""
    name = event.payload["outboundId"]
    thread: Thread | None = rows.get(keys.latest_inbound(event.lead))
    if thread is None:
        return
    outbound = thread.find(name)
    if outbound is not None and _is_settled_by(outbound, delivery):
        if outbound.parked:
            mark(rows, event.lead, outbound.sort_key, None)
        _adopt(thread_of(rows, event), delivery, name)
    elif delivery.arrived and not delivery.sort_key and name not in thread.arrived:
        thread = thread_of(rows, event)
        thread.arrived = [*thread.arrived, name][-_MAX_ARRIVED:]


def _is_settled_by(outbound: Outbound, delivery: Delivery) -> bool:
    """Tell whether a status that names a text says that it need not be sent, or not again."""
    return delivery.arrived or outbound.state in {"sending", "uncertain"}


def _mark_failure(rows: Rows, event: LeadEvent, delivery: Delivery) -> None:
    """Say on a message that it did not arrive, as long as nothing says that it did."""
    if FAILED in delivery.statuses and delivery.sort_key:
        failed = delivery.status == FAILED
        error = (delivery.error_class or FAILED) if failed else None
        mark(rows, event.lead, delivery.sort_key, error)


def _adopt(thread: Thread, delivery: Delivery, name: str) -> None:
    """Let a delivery be that of a text of ours, which waits no longer."""
    outbound = thread.find(name)
    if outbound is None:
        delivery.outbound_id = delivery.outbound_id or name
        return
    thread.outbox.remove(outbound)
    delivery.outbound_id, delivery.sort_key = name, outbound.sort_key
    delivery.kind, delivery.session_id = outbound.kind, outbound.session_id
    delivery.answers, delivery.attempt = outbound.answers, outbound.attempt


def _taken_back(rows: Rows, event: LeadEvent, thread: Thread) -> Outbound | None:
    """Put a text back into the outbox that the channel took and then could not deliver."""
    delivery = _delivery(rows, event)
    if not delivery.sort_key or delivery.outbound_id != event.payload["outboundId"]:
        return None
    outbound = Outbound(
        outbound_id=delivery.outbound_id,
        sort_key=delivery.sort_key,
        kind=delivery.kind,
        session_id=delivery.session_id,
        at=event.received_at,
        answers=delivery.answers,
    )
    thread.outbox.append(outbound)
    mark(rows, event.lead, outbound.sort_key, None)
    return outbound


def _limit_parked(thread: Thread) -> None:
    parked = [each for each in thread.outbox if each.parked]
    for each in parked[:-_MAX_PARKED]:
        thread.outbox.remove(each)

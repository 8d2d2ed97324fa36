"""What a conversation's log says is still to be done, worked out the slow way: for comparing."""

from collections import Counter
from collections.abc import Iterator, Sequence

from domain.conversation.chunks import chunks
from domain.conversation.messages import outbound_id
from domain.conversation.states import State
from domain.conversation.thread import reply_kind
from domain.event import LeadEvent

_NOBODY_ELSE_S = {"conversation_ended", "handoff_requested", "handoff_claimed"}


def unanswered(events: Sequence[LeadEvent]) -> list[str]:
    """Return the messages that still wait for an agent or a command's answer, in their order."""
    waiting: dict[str, str] = {}
    for event in events:
        stated = event.payload
        if event.event_type == "message_received" and stated["route"] in {"turn", "operator"}:
            waiting[event.external_event_id] = stated["route"]
        elif event.event_type in _NOBODY_ELSE_S and stated.get("outcome") != "moved":
            waiting = {each: route for each, route in waiting.items() if route != "turn"}
        for message_id in _answered_by(event):
            waiting.pop(message_id, None)
    return list(waiting)


def texts_of(events: Sequence[LeadEvent]) -> dict[str, str]:
    """Return every text of ours that was ever queued, and its kind."""
    return {name: kind for event in events for name, kind in _queued(event)}


def unsettled(events: Sequence[LeadEvent]) -> set[str]:
    """Return the texts of which nothing yet says that they are settled."""
    told = {
        event.payload["outboundId"]
        for event in events
        if event.event_type in {"reply_sent", "reply_dropped"}
        or (event.event_type == "reply_failed" and "retryAt" not in event.payload)
        or (event.event_type == "message_status_changed" and "outboundId" in event.payload)
    }
    return set(texts_of(events)) - told


def finished(events: Sequence[LeadEvent]) -> set[str]:
    """Return the texts that will never be sent again, whatever comes."""
    return {
        event.payload["outboundId"]
        for event in events
        if event.event_type == "reply_dropped"
        or (event.event_type == "reply_failed" and "retryAt" not in event.payload)
    }


def most_often(events: Sequence[LeadEvent]) -> Counter[str]:
    """Return how often each text may have been shown: once, and again where a try was in doubt."""
    times = Counter(texts_of(events))
    out = Counter(dict.fromkeys(times, 1))
    for event in events:
        doubted = event.event_type == "reply_uncertain" and "retryAt" in event.payload
        taken_back = event.event_type == "reply_failed" and "messageId" in event.payload
        if doubted or taken_back:
            out[event.payload["outboundId"]] += 1
    return out


def started_beside_a_person(events: Sequence[LeadEvent]) -> list[str]:
    """Return the kinds of texts that began while a person had the conversation, but not theirs."""
    kinds, state, found = texts_of(events), None, []
    for event in events:
        match event.event_type:
            case "handoff_claimed":
                state = State.HUMAN
            case "handoff_released" | "handoff_returned" | "conversation_ended":
                state = None
            case "reply_sending" if state == State.HUMAN:
                found.append(kinds[event.payload["outboundId"]])
    return [kind for kind in found if kind != "operator_text"]


def _answered_by(event: LeadEvent) -> list[str]:
    names = {"message_revoked": "messageId", "reply_queued": "causeMessageId"}
    if event.event_type == "agent_turn_completed":
        covered: list[str] = event.payload["coveredMessageIds"]
        return covered
    name = names.get(event.event_type)
    return [event.payload[name]] if name and name in event.payload else []


def _queued(event: LeadEvent) -> Iterator[tuple[str, str]]:
    stated = event.payload
    if event.event_type in {"reply_queued", "operator_message_queued"}:
        yield stated["outboundId"], stated.get("kind", "operator_text")
    elif event.event_type == "agent_turn_completed":
        kind, last = reply_kind(State(stated["stateAfter"])), stated["coveredMessageIds"][-1]
        for part, _ in enumerate(chunks(stated.get("reply", ""))):
            yield outbound_id(stated["sessionId"], last, kind, part), kind

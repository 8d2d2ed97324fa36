"""What became of one message, from its receipt to the last status, and what agents cost. No content."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import Any, Final

from domain import keys
from domain.conversation.chunks import chunks
from domain.conversation.facts import MESSAGING
from domain.conversation.messages import FAILED, RANKS, outbound_id
from domain.conversation.states import State
from domain.conversation.thread import reply_kind
from domain.errors import NotFound
from domain.event import LeadEvent
from domain.instants import shift
from domain.ports.effects import Clock
from domain.records import Page, Row, every
from handlers.conversations.ground import Conversations

_INBOUND: Final = ("whatsapp", "console", "whatsapp_echo")
"""Sources whose externalEventId is the channel's own id of a message."""

_STATUSES: Final = "whatsapp_status"

_TOLD: Final = (
    *("route", "mediaType", "sessionId", "coveredMessageIds", "agent", "code", "stateAfter"),
    *("byMessageId", "model", "prompt", "latencyMs", "costMicros", "costCurrency"),
    *("outboundId", "kind", "causeMessageId", "attempt", "messageId", "channel", "status"),
    *("errorClass", "errorCode", "retryAt", "reason", "operator", "fromOperator", "outcome"),
)
"""Members of payloads that a trace shows: ids, states and numbers, nothing that anybody wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One fact about a message, with what it tells that is no content."""

    sequence: int
    occurred_at: str
    received_at: str
    event_type: str
    source: str
    external_event_id: str
    told: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Everything that concerns one message, in the order it was recorded.

    `message_ids` are those of the lead, `outbound_ids` ours, `provider_message_ids` what the
    channel calls ours.
    """

    lead: str
    session_id: str | None
    message_ids: list[str]
    outbound_ids: list[str]
    provider_message_ids: list[str]
    steps: list[Step]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one model was asked on one UTC day. Money in millionths of `currency`, None if unpriced."""

    day: str
    model: str
    currency: str | None
    calls: int = 0
    superseded: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0


@dataclass(frozen=True, slots=True)
class Tracing:
    """Questions about conversations that no row answers alone."""

    conversations: Conversations
    now: Clock

    def trace(
        self, organization_id: str, provider_message_id: str, *, lead: str | None = None
    ) -> Trace:
        """Follow a message by the channel's id of it, or by ours (`out_…`).

        A text of ours without any status is found by the lead alone: then name it.

        Raises:
            NotFound: no receipt names such a message, or the lead has none.
        """
        found = lead or self._lead_of(organization_id, provider_message_id)
        if found is None:
            message = "No receipt names such a message."
            raise NotFound(message, hint="Check the id, or name the lead with --lead.")
        reader = self.conversations.log.reader
        head = reader.head(found, organization_id)
        return _traced(found, provider_message_id, reader.events(found, lte=head.version))

    def list_recent_llm(
        self, organization_id: str, limit: int = 100, *, days: int = 30
    ) -> list[dict[str, Any]]:
        """Return the newest calls of models, the newest first, as far back as some UTC days."""
        calls = (dict(row.attributes) for row in self._calls(organization_id, days))
        return list(islice(calls, limit))

    def costs(self, organization_id: str, days: int) -> list[Cost]:
        """Return what models were asked in the last UTC days, by day and model, newest day first."""
        sums: dict[tuple[str, str, str | None], dict[str, int]] = {}
        for row in self._calls(organization_id, days):
            call = row.attributes
            currency = str(call["cost_currency"]) if "cost_currency" in call else None
            named = (str(call["created_at"])[:10], str(call["model"]), currency)
            summed = sums.setdefault(named, dict.fromkeys(("calls", *_SUMMED), 0))
            summed["calls"] += 1
            for name in _SUMMED:
                summed[name] += int(call.get(name, 0))
        return [
            Cost(day=day, model=model, currency=currency, **summed)
            for (day, model, currency), summed in sums.items()
        ]

    def demands(self, organization_id: str, limit: int = 100) -> list[dict[str, Any]]:
        """Return what was asked for and is not sold, the newest first (`list_recent`)."""
        fetch = partial(self._page, keys.demands(organization_id))
        return [dict(row.attributes) for row in islice(every(fetch), limit)]

    def _lead_of(self, organization_id: str, message_id: str) -> str | None:
        """Return the lead of the first receipt that names a message."""
        named = [(source, message_id) for source in _INBOUND]
        named += [(_STATUSES, f"{message_id}:{status}") for status in (*RANKS, FAILED)]
        named += [(MESSAGING, f"{message_id}:{step}") for step in ("queued", "sending:1")]
        for source, external in named:
            receipt = self.conversations.log.store.receipt(
                keys.receipt(organization_id, source, external)
            )
            if receipt is not None:
                return receipt.lead
        return None

    def _calls(self, organization_id: str, days: int) -> Iterator[Row]:
        for back in range(days):
            day = shift(self.now(), timedelta(days=-back))[:10]
            partition = keys.model_calls(organization_id, day)
            yield from every(partial(self._page, partition))

    def _page(self, partition: str, cursor: str | None) -> Page[Row]:
        return self.conversations.table.query(partition, desc=True, limit=200, cursor=cursor)


def _traced(lead: str, named: str, events: Sequence[LeadEvent]) -> Trace:
    texts = {event.sequence: _texts_of(event) for event in events}
    messages, ours = _meant(named, events, texts)
    wamids = {
        event.payload["messageId"]
        for event in events
        if event.payload.get("outboundId") in ours and "messageId" in event.payload
    }
    steps = [
        event
        for event in events
        if _concerns(event, messages, ours | wamids, texts[event.sequence])
    ]
    if not steps:
        message = "The lead has no such message."
        raise NotFound(message, hint="Check the id; `leads events LEAD` lists all there is.")
    sessions = [event.payload["sessionId"] for event in steps if "sessionId" in event.payload]
    return Trace(
        lead=lead,
        session_id=sessions[0] if sessions else None,
        message_ids=_in_order(steps, messages),
        outbound_ids=sorted(ours),
        provider_message_ids=sorted(wamids),
        steps=[_step(event) for event in steps],
    )


def _meant(
    named: str, events: Sequence[LeadEvent], texts: dict[int, set[str]]
) -> tuple[set[str], set[str]]:
    """Return the lead's messages and the texts of ours that an id is about."""
    ours = {named} | {
        event.payload["outboundId"]
        for event in events
        if event.payload.get("messageId") == named and "outboundId" in event.payload
    }
    origins = [event for event in events if texts[event.sequence] & ours]
    if not origins:
        answers = [event for event in events if named in _answered(event)]
        made = [texts[event.sequence] for event in answers]
        return {named}, set().union(*made)
    ours = {name for name in ours if any(name in texts[event.sequence] for event in origins)}
    return {message for event in origins for message in _answered(event)}, ours


def _texts_of(event: LeadEvent) -> set[str]:
    """Return the ids of the texts that an event queued."""
    stated = event.payload
    if event.event_type in {"reply_queued", "operator_message_queued"}:
        return {stated["outboundId"]}
    if event.event_type != "agent_turn_completed" or "sessionId" not in stated:
        return set()
    covered, kind = stated["coveredMessageIds"], reply_kind(State(stated["stateAfter"]))
    parts = range(len(chunks(stated.get("reply", ""))))
    return {outbound_id(stated["sessionId"], covered[-1], kind, part) for part in parts}


def _answered(event: LeadEvent) -> list[str]:
    """Return the messages of the lead that an event is the answer to."""
    cause = event.payload.get("causeMessageId")
    return [*event.payload.get("coveredMessageIds", ()), *([cause] if cause else ())]


def _concerns(event: LeadEvent, messages: set[str], ours: set[str], texts: set[str]) -> bool:
    stated, key = event.payload, event.external_event_id
    return (
        key in messages
        or key.rpartition(":")[0] in messages
        or not messages.isdisjoint(_answered(event))
        or not ours.isdisjoint(texts)
        or bool({stated.get("outboundId"), stated.get("messageId")} & (ours | messages))
    )


def _in_order(events: Iterable[LeadEvent], messages: set[str]) -> list[str]:
    return [event.external_event_id for event in events if event.external_event_id in messages]


def _step(event: LeadEvent) -> Step:
    return Step(
        sequence=event.sequence,
        occurred_at=event.occurred_at,
        received_at=event.received_at,
        event_type=event.event_type,
        source=event.source,
        external_event_id=event.external_event_id,
        told={name: event.payload[name] for name in _TOLD if name in event.payload},
    )


_SUMMED: Final = ("superseded", "input_tokens", "output_tokens", "cost_micros")

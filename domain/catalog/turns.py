"""What answers a lead: turns of agents, and every message of ours on its way. Recorded by this service."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from domain.catalog._declare import Payload, event
from domain.catalog._fields import Channel, Count, Id, Instant, Text, Word, describe
from domain.catalog.messaging import MessageText, SessionId, Target

_CATEGORY: Final = "Conversation"

StateName = Literal[
    "NEW",
    "TRIAGE",
    "QUALIFYING",
    "REGISTERING",
    "HANDOFF_PENDING",
    "HUMAN",
    "COMPLETED",
    "ABANDONED",
]
Covered = Annotated[
    list[Id],
    Field(max_length=100),
    describe("The messages it answers, in the order they came.", ["wamid.A", "wamid.B"]),
]
Json = Annotated[Text, describe("An object as JSON text.", '{"service":"sequenciamento"}')]
Model = Annotated[Word, describe("The model that answered.", "gpt-5-mini")]
Tokens = Annotated[Count, describe("Tokens, as the model's host counted them.", 812)]
OutboundId = Annotated[Id, describe("Our id of the message.", "out_mzxw6ytboi2gk3tfoiqw2zlt")]
Attempt = Annotated[Count, describe("Which try of sending it.", 1)]
Reason = Annotated[Word, describe("Why, in a word.", "newer_message")]
Operator = Annotated[Id, describe("The operator's own name here.", "ana")]


def _usage(words: str) -> Any:
    return describe(words, 1250)


class AgentTurn(Payload):
    """What every turn of an agent says: whom it answered, and what asking used."""

    session_id: SessionId
    covered_message_ids: Covered
    agent: Annotated[Word, describe("Which agent.", "qualificacao")]
    model: Model | None = None
    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    cost_micros: Annotated[Count, _usage("Cost in millionths of the currency.")] | None = None
    cost_currency: Annotated[Word, describe("The currency of the cost.", "USD")] | None = None
    latency_ms: Annotated[Count, _usage("How long the model took.")] | None = None
    prompt: Annotated[Word, describe("The prompt and its version.", "qualificacao@3")] | None = None


@event("agent_turn_completed", category=_CATEGORY, ours=True)
class AgentTurnCompleted(AgentTurn):
    """An agent answered, and the answer still stood when it was recorded."""

    code: Annotated[Word, describe("What the agent proposed.", "TO_QUALIFICATION")]
    state_after: Annotated[StateName, describe("The session's state from now on.", "QUALIFYING")]
    reply: MessageText | None = None
    segment: Annotated[Word, describe("What kind of customer.", "PESQUISA")] | None = None
    intent: Annotated[Word, describe("What is wanted.", "servico")] | None = None
    qualification_data: Json | None = None
    cadastral_data: Json | None = None
    reason: Reason | None = None


@event("agent_turn_superseded", category=_CATEGORY, ours=True)
class AgentTurnSuperseded(AgentTurn):
    """An agent answered too late: the answer is never sent, its cost counts."""

    reason: Reason
    by_message_id: Target | None = None


@event("reply_queued", category=_CATEGORY, ours=True)
class ReplyQueued(Payload):
    """A fixed text of ours is to be sent."""

    outbound_id: OutboundId
    kind: Annotated[Word, describe("What it is for.", "notice")]
    text: MessageText
    session_id: SessionId | None = None
    cause_message_id: Target | None = None


@event("operator_message_queued", category=_CATEGORY, ours=True)
class OperatorMessageQueued(Payload):
    """An operator wrote to the lead."""

    outbound_id: OutboundId
    session_id: SessionId
    operator: Operator
    text: MessageText


@event("reply_sending", category=_CATEGORY, ours=True)
class ReplySending(Payload):
    """A message of ours is handed to the channel now: from here on it may have been sent."""

    outbound_id: OutboundId
    attempt: Attempt
    retry_at: (
        Annotated[
            Instant,
            describe("When silence is taken for doubt.", "2026-03-15T14:01:00.000000Z"),
        ]
        | None
    ) = None


@event("reply_sent", category=_CATEGORY, ours=True)
class ReplySent(Payload):
    """The channel took a message of ours."""

    outbound_id: OutboundId
    attempt: Attempt
    channel: Channel
    message_id: Target
    session_id: SessionId | None = None


@event("reply_failed", category=_CATEGORY, ours=True)
class ReplyFailed(Payload):
    """The channel refused a message of ours, or was not reached."""

    outbound_id: OutboundId
    attempt: Attempt
    error_class: Annotated[Word, describe("The class of the failure.", "PAIR")]
    message_id: Target | None = None
    retry_at: (
        Annotated[Instant, describe("When it is tried again.", "2026-03-15T14:00:04.000000Z")]
        | None
    ) = None
    error_code: (
        Annotated[Count, describe("The channel's own number of the failure.", 131056)] | None
    ) = None
    error_title: (
        Annotated[Text, describe("The channel's words for it.", "Pair rate limit hit")] | None
    ) = None
    error_details: Annotated[Text, describe("And its details.", "Too many messages")] | None = None


@event("reply_uncertain", category=_CATEGORY, ours=True)
class ReplyUncertain(Payload):
    """Nobody knows whether a message of ours was sent; a status of it may still tell."""

    outbound_id: OutboundId
    attempt: Attempt
    reason: Reason
    retry_at: (
        Annotated[
            Instant, describe("When silence is taken for a loss.", "2026-03-15T14:01:30.000000Z")
        ]
        | None
    ) = None


@event("reply_dropped", category=_CATEGORY, ours=True)
class ReplyDropped(Payload):
    """A message of ours will not be sent: what it answers is no longer what counts."""

    outbound_id: OutboundId
    reason: Reason

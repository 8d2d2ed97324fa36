"""Handing a conversation to people and back. Recorded by this service."""

from typing import Annotated, Final, Literal

from domain.catalog._declare import Payload, event
from domain.catalog._fields import Count, Id, Name, Text, describe
from domain.catalog.messaging import MessageText, SessionId, Target
from domain.catalog.turns import Json, Operator, Reason

_CATEGORY: Final = "Handoff"


@event("handoff_requested", category=_CATEGORY, ours=True)
class HandoffRequested(Payload):
    """A person is asked for; from here on the agent is silent."""

    session_id: SessionId
    reason: Reason
    card: Json | None = None


@event("handoff_claimed", category=_CATEGORY, ours=True)
class HandoffClaimed(Payload):
    """A person talks to the lead from now on."""

    session_id: SessionId
    operator: Operator
    from_operator: Operator | None = None


@event("handoff_released", category=_CATEGORY, ours=True)
class HandoffReleased(Payload):
    """The person put the conversation back into the queue."""

    session_id: SessionId
    operator: Operator
    note: Annotated[Text, describe("What the next one should know.", "Aguarda boleto")] | None = (
        None
    )


@event("handoff_returned", category=_CATEGORY, ours=True)
class HandoffReturned(Payload):
    """The person gave the conversation back to the agents."""

    session_id: SessionId
    operator: Operator
    note: Annotated[Text, describe("What the agents should know.", "Já pagou")] | None = None


@event("handoff_renotified", category=_CATEGORY, ours=True)
class HandoffRenotified(Payload):
    """Operators, or the lead, were told that the lead is still waiting."""

    session_id: SessionId
    audience: Annotated[Literal["operator", "customer"], describe("Who was told.", "operator")]
    step: Annotated[Count, describe("Which of the reminders.", 1)]


@event("out_of_portfolio_requested", category=_CATEGORY, ours=True)
class OutOfPortfolioRequested(Payload):
    """The lead wants what is not sold here."""

    session_id: SessionId
    service: Annotated[Name, describe("What was wanted.", "Teste de paternidade")]
    message_id: Target
    original_message: MessageText | None = None
    segment: Annotated[Name, describe("What kind of customer it may be.", "PESQUISA")] | None = None
    channel_account: (
        Annotated[Id, describe("The number it was asked on.", "109876543210987")] | None
    ) = None

"""Conversations, as whoever holds them reports them."""

from typing import Annotated

from domain.catalog._declare import Payload, event
from domain.catalog._fields import (
    OURS,
    Channel,
    Context,
    ConversationId,
    Count,
    Id,
    Name,
    Probability,
    Text,
    Word,
    describe,
)
from domain.catalog.messaging import Account, SessionId


@event("conversation_started", category="Conversation")
class ConversationStarted(Payload):
    """A conversation began."""

    channel: Channel
    context: Context | None = None
    conversation_id: ConversationId | None = None
    session_id: SessionId | None = None
    channel_account: Account | None = None
    replaces_session_id: SessionId | None = None
    reply_to: (
        Annotated[Id, describe("Where the lead is written to.", "551155550142"), OURS] | None
    ) = None
    contact_name: (
        Annotated[Name, describe("What the contact calls itself.", "Ana Exemplo"), OURS] | None
    ) = None


@event("conversation_ended", category="Conversation")
class ConversationEnded(Payload):
    """A conversation came to its end."""

    channel: Channel
    duration_seconds: Annotated[Count, describe("From its first message to its last.", 540)]
    message_count: Annotated[Count, describe("Messages of both sides.", 18)]
    sentiment_score: (
        Annotated[Probability, describe("From 0, negative, to 1, positive.", 0.8)] | None
    ) = None
    conversation_id: ConversationId | None = None
    summary: Annotated[Text, describe("What was said, in short.", "Pediu o prazo")] | None = None
    outcome: Annotated[Word, describe("What came of it, in a word.", "purchase")] | None = None
    session_id: SessionId | None = None

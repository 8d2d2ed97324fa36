"""Messages as a channel delivers them, and what people do to messages. Recorded by this service.

Where a type is also reported by others (`message_received`), what only this service decides is
marked `OURS`: the door drops it, so a report can feed memories and never route or open anything.
"""

from typing import Annotated, Final, Literal

from domain.catalog._declare import Payload, event
from domain.catalog._fields import LOGGABLE, OURS, Channel, Count, Id, Name, Text, Word, describe

_CATEGORY: Final = "Messaging"

SessionId = Annotated[
    Id,
    describe("Our session it belongs to.", "019d0c4e-7a10-7c3f-9b1a-2f6f0f4f0b01"),
    OURS,
]
MessageText = Annotated[Text, describe("What it says, cleaned.", "Oi, quanto custa?")]
Account = Annotated[Id, describe("The business's own number or account there.", "109876543210987")]
Target = Annotated[Id, describe("The message that is meant.", "wamid.HBgMNTUxMTk1NTUwMTQy")]
MediaType = Annotated[Word, describe("What it is: text, button, image and so on.", "text")]
ContactName = Annotated[Name, describe("What the contact calls itself.", "Ana Exemplo")]


@event("message_received", category=_CATEGORY)
class MessageReceived(Payload):
    """The lead wrote; what is to happen with it was decided in the same commit."""

    channel: Channel | None = None
    channel_account: Account | None = None
    media_type: MediaType | None = None
    text: MessageText | None = None
    route: (
        Annotated[
            Literal["turn", "inbox", "operator", "notice", "debug", "consent", "record"],
            describe("Who it goes to.", "turn"),
            OURS,
        ]
        | None
    ) = None
    session_id: SessionId | None = None
    reply_to: (
        Annotated[Id, describe("The address it came from, exactly.", "551155550142"), OURS] | None
    ) = None
    user_id: (
        Annotated[Id, describe("The channel's own id of the person.", "BR.1500000000001"), OURS]
        | None
    ) = None
    contact_name: ContactName | None = None
    media_id: (
        Annotated[Id, describe("Names the media at the channel.", "1003383421387256")] | None
    ) = None
    quoted_message_id: Target | None = None
    referral: Annotated[Id, describe("The ad or post that led here.", "120208123456789")] | None = (
        None
    )


@event("message_edited", category=_CATEGORY, ours=True)
class MessageEdited(Payload):
    """The lead changed a message it had sent."""

    message_id: Target
    text: MessageText | None = None


@event("message_revoked", category=_CATEGORY, ours=True)
class MessageRevoked(Payload):
    """The lead took a message back."""

    message_id: Target


@event("message_reacted", category=_CATEGORY, ours=True)
class MessageReacted(Payload):
    """The lead reacted to a message; without an emoji the reaction was taken away."""

    message_id: Target
    emoji: Annotated[Word, describe("The reaction.", "👍")] | None = None


@event("message_echoed", category=_CATEGORY, ours=True)
class MessageEchoed(Payload):
    """The business wrote from its own phone: a person is talking to the lead."""

    channel: Channel
    channel_account: Account | None = None
    media_type: MediaType
    text: MessageText | None = None
    session_id: SessionId | None = None


@event("message_imported", category=_CATEGORY, ours=True)
class MessageImported(Payload):
    """A message from before this service was connected. Nobody answers it."""

    channel: Channel
    direction: Annotated[
        Literal["inbound", "outbound"], describe("Who wrote.", "inbound"), LOGGABLE
    ]
    media_type: MediaType
    text: MessageText | None = None


@event("message_status_changed", category=_CATEGORY, ours=True)
class MessageStatusChanged(Payload):
    """The channel tells how far a message of ours came."""

    message_id: Target
    status: Annotated[
        Word, describe("sent, delivered, read, played, failed and so on.", "delivered")
    ]
    outbound_id: (
        Annotated[
            Id,
            describe("Our id of the message, if the channel gave it back.", "out_a2b3"),
        ]
        | None
    ) = None
    error_class: Annotated[Word, describe("The class of the failure.", "WINDOW")] | None = None
    error_code: (
        Annotated[Count, describe("The channel's own number of the failure.", 131047)] | None
    ) = None
    error_title: (
        Annotated[Text, describe("The channel's words for it.", "Re-engagement message")] | None
    ) = None
    error_details: (
        Annotated[Text, describe("And its details.", "More than 24 hours have passed")] | None
    ) = None


@event("channel_event_recorded", category=_CATEGORY, ours=True)
class ChannelEventRecorded(Payload):
    """Something else came from the channel about this lead; it is kept and nothing follows."""

    kind: Annotated[Word, describe("What it was.", "group_message")]
    channel: Channel
    text: MessageText | None = None
    error_code: Annotated[Count, describe("The channel's number of a failure.", 131051)] | None = (
        None
    )
    reply_to: (
        Annotated[Id, describe("The address to write to from now on.", "551155550142")] | None
    ) = None
    user_id: Annotated[Id, describe("The channel's own id of the person.", "BR.15001")] | None = (
        None
    )


@event("consent_recorded", category=_CATEGORY, ours=True)
class ConsentRecorded(Payload):
    """The lead allowed or refused to be written to unasked."""

    kind: Annotated[Word, describe("What for.", "marketing_messages")]
    decision: Annotated[
        Literal["granted", "refused"], describe("What was decided.", "refused"), LOGGABLE
    ]

    evidence: Annotated[Id, describe("The message that says so.", "wamid.HBgM")] | None = None

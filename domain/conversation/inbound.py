"""What comes from a channel, in one form for all of them: the output of every channel's adapter."""

from dataclasses import dataclass
from typing import Literal

from domain.event import Address

TEXT_MEDIA = frozenset(("text", "button", "list", "form"))
"""Kinds of message whose text an agent answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelItem:
    """One item of what a channel delivered.

    `external_event_id` is the channel's own id of it, or one made of its bytes, so that every
    delivery of one item has the same. `account` is the business's number there. `address` names
    the person in normal form with every alias the item tells (phone, user ids); None if it tells
    no one, or one that cannot be used. `occurred_at` is fixed width, by the channel's clock;
    `received_at` where that cannot be read: then `occurred_at_stated` is False, and the time is
    no part of the item, since the next delivery of it has another. `raw` is the item's own JSON,
    ASCII only.
    """

    channel: str
    source: str
    external_event_id: str
    account: str
    address: Address | None
    occurred_at: str
    raw: bytes
    occurred_at_stated: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage(ChannelItem):
    """A message of a person.

    `reply_to` is the address to answer to, exactly as it was received. `media_type` is text,
    button, list, form, or what the message is otherwise (image, audio, location, …). `text` is
    cleaned: what was written, the caption, the title that was chosen, or nothing. Of a group
    nobody is answered.
    """

    reply_to: str
    media_type: str
    text: str = ""
    user_id: str | None = None
    contact_name: str | None = None
    media_id: str | None = None
    quoted_message_id: str | None = None
    referral: str | None = None
    group_id: str | None = None
    held_elsewhere: bool = False
    """Another sender holds the thread (Meta's standby): recorded, never answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageChange(ChannelItem):
    """A person edited, took back or reacted to a message. `text`: the new text, or the emoji."""

    change: Literal["edited", "revoked", "reacted"]
    message_id: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStatus(ChannelItem):
    """How far a message of ours came. `outbound_id` is ours, where the channel gives it back."""

    message_id: str
    status: str
    outbound_id: str | None = None
    error_class: str | None = None
    error_code: int | None = None
    error_title: str | None = None
    error_details: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEcho(ChannelItem):
    """The business wrote from elsewhere than here; `address` is the person it wrote to."""

    media_type: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryMessage(ChannelItem):
    """A message from before the channel was connected."""

    direction: Literal["inbound", "outbound"]
    media_type: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressChange(ChannelItem):
    """A person is to be found under new addresses: `address` has the old ones and the new ones.

    `reply_to` is the newest one to write to, None if the item tells none.
    """

    reply_to: str | None = None
    user_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentChange(ChannelItem):
    """A person chose at the channel what it may be sent."""

    kind: str
    granted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelNotice(ChannelItem):
    """Anything else. `strange`: it should have been understood and could not be; kept raw."""

    kind: str
    text: str = ""
    error_code: int | None = None
    strange: bool = False


Item = (
    InboundMessage
    | MessageChange
    | MessageStatus
    | MessageEcho
    | HistoryMessage
    | AddressChange
    | ConsentChange
    | ChannelNotice
)

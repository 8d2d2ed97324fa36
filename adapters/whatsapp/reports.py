"""What WhatsApp reports beside messages: statuses, errors, preferences, handovers, the account."""

from typing import Any, Final

from adapters.whatsapp.bodies import local_id
from adapters.whatsapp.change import Change, StrangeError, required
from adapters.whatsapp.cleaning import id_of, word_of
from adapters.whatsapp.contents import part
from adapters.whatsapp.errors import classify, told
from adapters.whatsapp.people import Fields, Person
from domain.conversation.inbound import ChannelNotice, ConsentChange, MessageStatus

STATUS_SOURCE: Final = "whatsapp_status"

_RECIPIENT: Final = ("recipient_id", "recipient_user_id", "recipient_parent_user_id")
_PARTICIPANT: Final = ("recipient_participant_id", "recipient_participant_user_id")
_GRANTED: Final = {"resume": True, "signup": True, "stop": False}
"""What a preference says, and whether that lets us write."""
_HANDOVER: Final = "control_"


def status(item: Fields, change: Change) -> MessageStatus | ChannelNotice:
    """Read one of a change's `statuses`: how far a message of ours came."""
    message_id = required(item.get("id"), "status_without_message")
    reached = word_of(item.get("status"))
    if reached is None:
        raise StrangeError("status_without_status")
    named = [id_of(item.get(name)) for name in _PARTICIPANT]
    participant = next(filter(None, named), None)
    told_id = ":".join(filter(None, (message_id, reached, participant)))
    common = change.common(
        item,
        external_event_id=required(told_id, "unusable_id"),
        address=_recipient(item, change, participant).address,
        source=STATUS_SOURCE,
        timestamp=item.get("timestamp"),
    )
    if item.get("type") == "call":
        return ChannelNotice(**common, kind="call_status")
    failure = next(iter(_errors(item.get("errors"))), None)
    said = told(failure)
    return MessageStatus(
        **common,
        message_id=message_id,
        status=reached,
        outbound_id=id_of(item.get("biz_opaque_callback_data")),
        error_class=None if failure is None else classify(said.code, None, is_transient=False),
        error_code=said.code,
        error_title=said.title,
        error_details=said.details,
    )


def problem(item: Fields, change: Change) -> ChannelNotice:
    """Read one of a change's `errors`: something went wrong, and nobody's message is named."""
    said = told(item)
    common = change.common(
        item,
        external_event_id=local_id(item, change.account, str(change.told_at)),
        address=None,
        timestamp=change.told_at,
    )
    words = ": ".join(filter(None, (said.title, said.details)))
    return ChannelNotice(**common, kind="channel_error", text=words, error_code=said.code)


def preference(item: Fields, change: Change) -> ConsentChange:
    """Read one of a change's `user_preferences`: what a person lets itself be sent."""
    named = [item.get(name) for name in ("wa_id", "user_id", "parent_user_id")]
    address = change.contacts.person(*named).address
    category, value = word_of(item.get("category")), word_of(item.get("value"))
    if address is None or category is None or value not in _GRANTED:
        raise StrangeError("unknown_preference")
    stated = id_of(item.get("timestamp"))
    told_id = f"pref:{address.identifier}:{category}:{value}:{stated}"
    common = change.common(
        item,
        external_event_id=required(told_id, "unusable_id") if stated else local_id(item),
        address=address,
        timestamp=item.get("timestamp"),
    )
    return ConsentChange(**common, kind=category, granted=_GRANTED[value])


def handover(value: Fields, change: Change) -> ChannelNotice:
    """Read a change of `messaging_handovers`: another sender holds a thread, or gave it back."""
    sender = part(value, "sender")
    named = [sender.get(name) for name in ("phone_number", "wa_id", "user_id", "parent_user_id")]
    kinds = [word_of(name) for name in value if name.startswith(_HANDOVER)]
    common = change.common(
        value,
        external_event_id=local_id(value),
        address=change.contacts.person(*named).address,
        timestamp=value.get("timestamp"),
    )
    recipient = id_of(part(value, "recipient").get("phone_number_id"))
    common["account"] = recipient or change.account
    return ChannelNotice(**common, kind=next(filter(None, kinds), "messaging_handovers"))


def anything(value: Fields, change: Change) -> ChannelNotice:
    """Read a change that holds no list of items: of the account, its number, its templates."""
    kind = word_of(change.field)
    if kind is None:
        raise StrangeError("unknown_field")
    common = change.common(
        value,
        external_event_id=local_id(value, change.field, str(change.told_at)),
        address=None,
        timestamp=change.told_at,
    )
    return ChannelNotice(**common, kind=kind)


def _recipient(item: Fields, change: Change, participant: str | None) -> Person:
    if item.get("recipient_type") == "group":
        # The group is nobody; who of it received the message may be told.
        return change.contacts.person(*(item.get(name) for name in _PARTICIPANT))
    return change.contacts.person(*(item.get(name) for name in _RECIPIENT), participant)


def _errors(value: Any) -> list[Fields]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []

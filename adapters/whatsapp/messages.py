"""Messages of people, what people do to messages, and what the business writes from elsewhere."""

from collections.abc import Mapping
from typing import Final

from adapters.whatsapp.change import (
    SOURCE,
    STANDBY,
    Change,
    Common,
    Reader,
    StrangeError,
    code_of,
    event_id,
    required,
)
from adapters.whatsapp.cleaning import id_of, word_of
from adapters.whatsapp.contents import (
    any_content_of,
    content_of,
    edited_text,
    emoji_of,
    part,
    type_of,
)
from adapters.whatsapp.people import Fields, Person
from domain.conversation.inbound import (
    AddressChange,
    ChannelNotice,
    InboundMessage,
    Item,
    MessageChange,
    MessageEcho,
)

ECHO_SOURCE: Final = "whatsapp_echo"

RECIPIENT: Final = ("to", "to_user_id", "to_parent_user_id")


def message(item: Fields, change: Change) -> Item:
    """Read one of a change's `messages`."""
    if change.is_ours(item.get("from")):
        return echo(item, change)
    special = _SPECIAL.get(type_of(item) or "")
    if special is not None:
        return special(item, change)
    content = content_of(item)
    if content is None:
        raise StrangeError(f"unknown_{type_of(item) or 'message'}")
    person = change.sender(item)
    if person.reply_to is None:
        raise StrangeError("message_without_sender")
    return InboundMessage(
        **_of(person, item, change),
        reply_to=person.reply_to,
        media_type=content.media_type,
        text=content.text,
        user_id=person.user_id,
        contact_name=person.name,
        media_id=content.media_id,
        quoted_message_id=id_of(part(item, "context").get("id")),
        referral=_referral(part(item, "referral")),
        group_id=id_of(item.get("group_id")),
        held_elsewhere=change.field == STANDBY,
    )


def echo(item: Fields, change: Change) -> MessageEcho:
    """Read one of a change's `message_echoes`: the business wrote from its own phone."""
    person = change.contacts.person(*(item.get(name) for name in RECIPIENT))
    if person.address is None:
        raise StrangeError("echo_without_recipient")
    content = any_content_of(item)
    common = _of(person, item, change, ECHO_SOURCE)
    return MessageEcho(**common, media_type=content.media_type, text=content.text)


def _reacted(item: Fields, change: Change) -> MessageChange:
    target = required(part(item, "reaction").get("message_id"), "reaction_without_target")
    return MessageChange(
        **_of_sender(item, change), change="reacted", message_id=target, text=emoji_of(item)
    )


def _edited(item: Fields, change: Change) -> MessageChange:
    target = required(part(item, "edit").get("original_message_id"), "edit_without_target")
    return MessageChange(
        **_of_sender(item, change), change="edited", message_id=target, text=edited_text(item)
    )


def _revoked(item: Fields, change: Change) -> MessageChange:
    target = required(part(item, "revoke").get("original_message_id"), "revoke_without_target")
    return MessageChange(**_of_sender(item, change), change="revoked", message_id=target)


def _system(item: Fields, change: Change) -> Item:
    """Read that a person has another number, another user id, or another phone in its hand.

    The old addresses come first: they are who we know.
    """
    system = part(item, "system")
    if word_of(system.get("type")) not in _ADDRESS_CHANGES:
        return ChannelNotice(**_of_sender(item, change), kind="system")
    new = [system.get(name) for name in ("wa_id", "new_wa_id", "user_id", "parent_user_id")]
    old = [system.get(name) for name in _PREVIOUS]
    senders = [item.get(name) for name in ("from", "from_user_id", "from_parent_user_id")]
    person = change.contacts.person(*old, *senders, *new)
    if person.address is None:
        raise StrangeError("system_without_person")
    newest = change.contacts.person(*new).reply_to or person.reply_to
    return AddressChange(**_of(person, item, change), reply_to=newest)


def _unsupported(item: Fields, change: Change) -> ChannelNotice:
    common = _of_sender(item, change)
    return ChannelNotice(
        **common, kind="unsupported_message", error_code=code_of(item.get("errors"))
    )


def _request_welcome(item: Fields, change: Change) -> ChannelNotice:
    return ChannelNotice(**_of_sender(item, change), kind="request_welcome")


def _of_sender(item: Fields, change: Change) -> Common:
    person = change.sender(item)
    if person.address is None:
        raise StrangeError("message_without_sender")
    return _of(person, item, change)


def _of(person: Person, item: Fields, change: Change, source: str = SOURCE) -> Common:
    return change.common(
        item,
        external_event_id=event_id(item),
        address=person.address,
        source=source,
        timestamp=item.get("timestamp"),
    )


def _referral(referral: Fields) -> str | None:
    """Return the ad or post that led here."""
    named = (id_of(referral.get(name)) for name in ("source_id", "ctwa_clid"))
    return next(filter(None, named), None)


_ADDRESS_CHANGES: Final = frozenset(
    (
        "user_changed_number",
        "customer_changed_number",
        "user_changed_user_id",
        "customer_identity_changed",
    )
)
_PREVIOUS: Final = ("customer", "previous_user_id", "previous_parent_user_id")

_SPECIAL: Final[Mapping[str, Reader]] = {
    "reaction": _reacted,
    "edit": _edited,
    "revoke": _revoked,
    "system": _system,
    "unsupported": _unsupported,
    "unknown": _unsupported,
    "request_welcome": _request_welcome,
}

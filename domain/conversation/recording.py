"""Items of a channel that nothing is decided about: each becomes one event."""

from domain.conversation.facts import Facts
from domain.conversation.inbound import (
    AddressChange,
    ChannelNotice,
    ConsentChange,
    HistoryMessage,
    Item,
    MessageChange,
)
from domain.conversation.routing import consent_fact
from domain.event import NewEvent


def fact_of(item: Item, facts: Facts) -> NewEvent:
    """Return the event of an item that is recorded as it came.

    Raises:
        TypeError: it is a message, a status or an echo, which the conversation decides about.
    """
    match item:
        case ConsentChange():
            return consent_fact(facts, item)
        case MessageChange():
            said = {"text": item.text or None} if item.change == "edited" else {}
            if item.change == "reacted":
                said = {"emoji": item.text[:100] or None}
            return _made(facts, item, f"message_{item.change}", message_id=item.message_id, **said)
        case HistoryMessage():
            return _made(
                facts,
                item,
                "message_imported",
                channel=item.channel,
                direction=item.direction,
                media_type=item.media_type,
                text=item.text or None,
            )
        case AddressChange():
            return _made(
                facts,
                item,
                "channel_event_recorded",
                kind="address_changed",
                channel=item.channel,
                reply_to=item.reply_to,
                user_id=item.user_id,
            )
        case ChannelNotice():
            return _made(
                facts,
                item,
                "channel_event_recorded",
                kind=item.kind,
                channel=item.channel,
                text=item.text or None,
                error_code=item.error_code,
            )
        case _:
            message = f"no fact for {type(item).__name__}"
            raise TypeError(message)


def _made(facts: Facts, item: Item, event_type: str, **said: str | int | None) -> NewEvent:
    return facts.fact(
        event_type,
        item.source,
        item.external_event_id,
        occurred_at=item.occurred_at,
        raw=item.raw or None,
        **said,
    )

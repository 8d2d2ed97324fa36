"""What the features of a lead need and no other memory holds: one small row of cells.

The row is written with nearly every act of the lead, so it is kept compact: an instant is six
characters, a conversation is known by six characters of a hash, and what another memory holds is
read there. All cells are unions of immutable elements of which the newest are kept, so any order of
arrival ends in the same row; what belongs together is joined when features are read
(`projections.features`). No view is declared: the row is no memory and no listing shows it.

    newest50:acts            acts of the lead: instant, then "m" if it was a message
    newest20:replies         what was sent to the lead: instant
    newest20:channels        names of the channels the lead was met on
    newest200:conversations  begun: instant, conversation
    newest200:discounts      asked for in a named conversation: instant, conversation
    newest200:purchases      instant, event, then the conversation where one is named
    newest50:campaigns       delivered: instant, event
    newest50:sentiments      instant, score in thousandths, event
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, tzinfo
from typing import Final

from domain.event import LeadEvent
from domain.instants import to_datetime
from projections.memories import numbers
from projections.memories.cells import Cells, Contribution
from projections.memories.declaration import Name, rule

FEATURE_STATS: Final[Name] = ("behavioral", "feature_stats")

INSTANT: Final = 6
"""Characters of an instant: seconds since 2000, in an alphabet that sorts as its digits do."""

SCORE: Final = 2
TAG: Final = 3
"""Characters that tell two events of one second apart (an order is often several purchases)."""

CONVERSATION: Final = 6
MESSAGE: Final = "m"
SCORE_SCALE: Final = 1_000

KEPT_ACTS: Final = 50

_ACTS: Final = frozenset(
    {
        *("purchase_completed", "purchase_abandoned", "subscription_created"),
        *("product_viewed", "product_asked", "form_submitted", "ticket_opened"),
        *("conversation_started", "message_received", "campaign_engaged"),
        *("discount_requested", "discount_accepted", "objection_raised"),
    }
)
"""What only a lead does, whoever reports it. A cancelled subscription may be a card that expired."""

_REPORTS: Final = (
    *("reply_sent", "campaign_delivered", "sentiment_detected"),
    *("conversation_ended", "subscription_cancelled", "interest_detected"),
)
"""Reports; those of a DIRECT source still say that the lead was there."""

_ALPHABET: Final = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_PAIRS: Final = [high + low for high in _ALPHABET for low in _ALPHABET]
_NUMBERS: Final = {pair: number for number, pair in enumerate(_PAIRS)}
_EPOCH: Final = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp())
_MAX_CHANNEL_CHARACTERS: Final = 40


@rule(*sorted(_ACTS), *_REPORTS)
def statistics(event: LeadEvent, stamped: str) -> Iterator[Contribution]:  # noqa: ARG001 - a rule
    """Note the act, where it happened, and what the event's own type counts for."""
    at = packed_instant(event.occurred_at)
    cells: Cells = {}
    if _is_act(event):
        cells["newest50:acts"] = [at + MESSAGE if event.event_type == "message_received" else at]
    if note := _NOTES.get(event.event_type):
        note(cells, event, at)
    if cells and (channel := _channel(event)):
        cells["newest20:channels"] = [channel]
    if cells:
        yield *FEATURE_STATS, cells


def packed_instant(instant: str) -> str:
    """Return the second of an instant as characters that sort as time does."""
    return packed_second(second_of(instant))


def second_of(instant: str) -> int:
    """Return the seconds since 2000, without the fraction."""
    return int(to_datetime(instant).timestamp()) - _EPOCH


def packed_second(second: int) -> str:
    """Return seconds since 2000 as characters."""
    return _PAIRS[second >> 24] + _PAIRS[second >> 12 & 4095] + _PAIRS[second & 4095]


def unpacked_second(text: str) -> int:
    """Return the seconds since 2000 of text that begins with a packed instant."""
    return _NUMBERS[text[:2]] << 24 | _NUMBERS[text[2:4]] << 12 | _NUMBERS[text[4:INSTANT]]


def local_time(second: int, zone: tzinfo) -> datetime:
    """Return the local time so many seconds after 2000 began in UTC."""
    return datetime.fromtimestamp(_EPOCH + second, zone)


def unpacked_score(sentiment: str) -> int:
    """Return the score of an element of `newest50:sentiments`, in thousandths."""
    return _NUMBERS[sentiment[INSTANT : INSTANT + SCORE]]


def _is_act(event: LeadEvent) -> bool:
    return event.event_type in _ACTS or event.source_type == "DIRECT"


def _channel(event: LeadEvent) -> str:
    channel = event.payload.get("channel")
    if not channel and event.source_type == "DIRECT":
        channel = event.source
    # The type may be one the catalog does not check.
    return channel.lower()[:_MAX_CHANNEL_CHARACTERS] if isinstance(channel, str) else ""


def _note_conversation(cells: Cells, event: LeadEvent, at: str) -> None:
    # A conversation without an id is one of its own.
    name = event.payload.get("conversationId") or event.event_id
    cells["newest200:conversations"] = [at + _hashed(name, CONVERSATION)]


def _note_discount(cells: Cells, event: LeadEvent, at: str) -> None:
    if name := event.payload.get("conversationId"):
        cells["newest200:discounts"] = [at + _hashed(name, CONVERSATION)]


def _note_purchase(cells: Cells, event: LeadEvent, at: str) -> None:
    name = event.payload.get("conversationId")
    conversation = _hashed(name, CONVERSATION) if name else ""
    cells["newest200:purchases"] = [at + _hashed(event.event_id, TAG) + conversation]


def _note_campaign(cells: Cells, event: LeadEvent, at: str) -> None:
    cells["newest50:campaigns"] = [at + _hashed(event.event_id, TAG)]


def _note_sentiment(cells: Cells, event: LeadEvent, at: str) -> None:
    score = _PAIRS[numbers.scaled(event.payload["score"], SCORE_SCALE)]
    cells["newest50:sentiments"] = [at + score + _hashed(event.event_id, TAG)]


def _note_reply(cells: Cells, event: LeadEvent, at: str) -> None:  # noqa: ARG001 - one of the notes
    cells["newest20:replies"] = [at]


_NOTES: Final[dict[str, Callable[[Cells, LeadEvent, str], None]]] = {
    "conversation_started": _note_conversation,
    "discount_requested": _note_discount,
    "purchase_completed": _note_purchase,
    "campaign_delivered": _note_campaign,
    "sentiment_detected": _note_sentiment,
    "reply_sent": _note_reply,
}


def _hashed(name: str, width: int) -> str:
    return urlsafe_b64encode(hashlib.sha256(name.encode()).digest()[:width])[:width].decode()

"""Features of a lead: 20 numbers for models and rules, at an explicit instant.

A pure function of the lead's memories and of one row of statistics
(`projections.memories.rules.feature_stats`); nothing that depends on the time of reading is stored.
For an instant in the past the caller folds the events that had occurred by then.

What a number is exact over:

    the whole history     monetary_total, monetary_avg_ticket, has_purchased,
                          days_since_last_purchase, recency_days, avg_messages_per_conversation,
                          campaign_open_rate, campaign_click_rate; channel_diversity up to 20
    30 or 90 days         frequency_conversations_30d and frequency_purchases_90d up to 200 in the
                          window, campaigns_received_30d and sentiment_avg_30d up to 50;
                          support_ticket_rate_30d without limit. A window is rolling: after the
                          second that many days before, up to `as_of`
    newest 200            discount_request_rate, conversion_rate: of the newest 200 conversations,
                          with the newest 200 requests and purchases
    newest 50             preferred_hour_of_day, preferred_day_of_week: of the newest 50 acts;
                          avg_response_time_seconds: among them and the newest 20 replies

Time is counted in whole seconds, every fraction is rounded to four decimals.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import exp
from typing import Final
from zoneinfo import ZoneInfo

from domain.instants import shift
from domain.money import exponent
from projections.memories.cells import Cells, instant_of
from projections.memories.declaration import Name
from projections.memories.rules.feature_stats import (
    FEATURE_STATS,
    INSTANT,
    KEPT_ACTS,
    MESSAGE,
    SCORE_SCALE,
    TAG,
    local_time,
    packed_second,
    second_of,
    unpacked_score,
    unpacked_second,
)

Number = int | float

VERSION: Final = 1
"""Of the definitions below; raised when any of them changes."""

FEATURES: Final[tuple[str, ...]] = (
    *("recency_days", "frequency_conversations_30d", "frequency_purchases_90d"),
    *("monetary_total", "monetary_avg_ticket"),
    *("avg_response_time_seconds", "avg_messages_per_conversation", "sentiment_avg_30d"),
    *("discount_request_rate", "conversion_rate", "support_ticket_rate_30d"),
    *("days_since_last_purchase", "has_purchased", "engagement_score"),
    *("preferred_hour_of_day", "preferred_day_of_week", "channel_diversity"),
    *("campaign_open_rate", "campaign_click_rate", "campaigns_received_30d"),
)

_DAY: Final = 86_400
_LONGEST_RESPONSE: Final = _DAY
_CONVERTS_WITHIN: Final = 7 * _DAY
_PLACES: Final = 4
_AFTER: Final = "~"
"""Sorts after every packed character: an instant followed by it comes after its elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureVector:
    """The features of a lead at one instant.

    `features` has the names of `FEATURES`, in that order; one that is not defined for the lead (days
    since a purchase that never was) is absent. `currency` is that of the monetary ones, None if
    nothing was bought. `version` is of the definitions.
    """

    features: dict[str, Number]
    computed_at: str
    currency: str | None
    version: int = VERSION


def features(
    states: Mapping[Name, Cells],
    as_of: str,
    *,
    timezone: str = "America/Sao_Paulo",
    currency: str | None = None,
) -> FeatureVector:
    """Return the features of a lead.

    Args:
        states: cells by memory type and key, of events that had occurred by `as_of`.
        as_of: the instant, fixed-width.
        timezone: of the preferred hour (0 to 23) and day (ISO: 1 is Monday).
        currency: of the monetary features; by default the one most purchases were made in, of
            equals the first by name. Amounts in others are left out, never added. Refunds are not
            subtracted.
    """
    history = _History(states, as_of)
    main = currency or _main_currency(history.totals)
    found = {
        **_contact(history, timezone),
        **_money(history, main),
        **_conversations(history),
        **_campaigns(history),
        "support_ticket_rate_30d": _tickets(history, 30),
    }
    found["engagement_score"] = _engagement(history, found)
    rounded = {name: round(found[name], _PLACES) for name in FEATURES if name in found}
    return FeatureVector(features=rounded, computed_at=as_of, currency=main)


class _History:
    """The memories of a lead, and the elements of the row of statistics."""

    def __init__(self, states: Mapping[Name, Cells], as_of: str) -> None:
        self.states = states
        self.as_of = as_of
        self.now = second_of(as_of)
        self.totals = states.get(("purchase", "totals"), {})
        self.campaigns = [
            cells for cells in self.of_type("campaign", "campaign") if "min:delivered" in cells
        ]
        self._stats = states.get(FEATURE_STATS, {})

    def elements(self, kind: str) -> list[str]:
        """Return the elements of one cell, oldest first."""
        found: list[str] = self._stats.get(kind, [])
        return found

    def recent(self, kind: str, days: int) -> list[str]:
        """Return the elements of the days that end with `as_of`."""
        elements = self.elements(kind)
        first = bisect_right(elements, packed_second(self.now - days * _DAY) + _AFTER)
        return elements[first : bisect_right(elements, packed_second(self.now) + _AFTER)]

    def of_type(self, memory_type: str, kind: str) -> Iterator[Cells]:
        """Yield the cells of all memories of a type whose key begins with `{kind}:`."""
        prefix = f"{kind}:"
        for (each, key), cells in self.states.items():
            if each == memory_type and key.startswith(prefix):
                yield cells

    def days_since(self, second: int) -> float:
        """Return the days from then to `as_of`; a clock that is a little ahead counts as now."""
        return max(0, self.now - second) / _DAY


def _contact(history: _History, timezone: str) -> dict[str, Number]:
    acts = history.elements("newest50:acts")
    found: dict[str, Number] = {"channel_diversity": len(history.elements("newest20:channels"))}
    if not acts:
        return found
    found["recency_days"] = history.days_since(unpacked_second(acts[-1]))
    zone = ZoneInfo(timezone)
    newest_first = dict.fromkeys(act[:INSTANT] for act in reversed(acts))
    times = [local_time(unpacked_second(each), zone) for each in newest_first]
    found["preferred_hour_of_day"] = _mode([time.hour for time in times])
    found["preferred_day_of_week"] = _mode([time.isoweekday() for time in times])
    if gaps := _response_gaps(acts, history.elements("newest20:replies")):
        found["avg_response_time_seconds"] = sum(gaps) / len(gaps)
    return found


def _mode(newest_first: Sequence[int]) -> int:
    """Return the most frequent number, of equals the one that occurs first."""
    return max(dict.fromkeys(newest_first), key=newest_first.count)


def _response_gaps(acts: Sequence[str], replies: Sequence[str]) -> list[int]:
    """Return the seconds from the last reply before each message, where no other lies between.

    Before the oldest act that is kept there may have been messages that are not.
    """
    before = acts[0][:INSTANT] if len(acts) == KEPT_ACTS else ""
    gaps: list[int] = []
    for act in acts:
        if not act.endswith(MESSAGE, INSTANT):
            continue
        message = act[:INSTANT]
        place = bisect_left(replies, message) - 1
        if place >= 0 and replies[place] >= before:
            gaps.append(unpacked_second(message) - unpacked_second(replies[place]))
        before = message
    return [gap for gap in gaps if gap <= _LONGEST_RESPONSE]


def _main_currency(totals: Cells) -> str | None:
    purchases: dict[str, int] = totals.get("count:purchases", {})
    return min(purchases, key=lambda code: (-purchases[code], code), default=None)


def _money(history: _History, currency: str | None) -> dict[str, Number]:
    totals = history.totals
    purchases: dict[str, int] = totals.get("count:purchases", {})
    found: dict[str, Number] = {
        "frequency_purchases_90d": len(history.recent("newest200:purchases", 90)),
        "has_purchased": int(bool(purchases)),
        "monetary_total": 0,
    }
    if purchases:
        bought = second_of(totals["max:bought"])
        found["days_since_last_purchase"] = history.days_since(bought)
    if currency in purchases:
        total = totals["count:spent"][currency] / 10 ** exponent(currency)
        found |= {"monetary_total": total, "monetary_avg_ticket": total / purchases[currency]}
    return found


def _conversations(history: _History) -> dict[str, Number]:
    found: dict[str, Number] = {
        "frequency_conversations_30d": len(history.recent("newest200:conversations", 30)),
    }
    if stats := history.states.get(("behavioral", "conversation_stats")):
        found["avg_messages_per_conversation"] = stats["add:messages"] / stats["add:events"]
    if sentiments := history.recent("newest50:sentiments", 30):
        total = sum(unpacked_score(each) for each in sentiments)
        found["sentiment_avg_30d"] = total / len(sentiments) / SCORE_SCALE
    if begun := {each[INSTANT:] for each in history.elements("newest200:conversations")}:
        discounts = {each[INSTANT:] for each in history.elements("newest200:discounts")}
        found["discount_request_rate"] = len(begun & discounts) / len(begun)
        found["conversion_rate"] = len(begun & _converted(history)) / len(begun)
    return found


def _converted(history: _History) -> set[str]:
    """Return the conversations that a purchase names, or that one naming none followed in time."""
    purchases = history.elements("newest200:purchases")
    named = INSTANT + TAG
    found = {each[named:] for each in purchases if len(each) > named}
    unnamed = [each[:INSTANT] for each in purchases if len(each) == named]
    earliest = [packed_second(unpacked_second(each) - _CONVERTS_WITHIN) for each in unnamed]
    for begun in history.elements("newest200:conversations"):
        start = begun[:INSTANT]
        next_purchase = bisect_left(unnamed, start)
        if next_purchase < len(unnamed) and earliest[next_purchase] <= start:
            found.add(begun[INSTANT:])
    return found


def _tickets(history: _History, days: int) -> int:
    after = shift(history.as_of, timedelta(days=-days))
    opened = (cells.get("last:opened") for cells in history.of_type("support", "ticket"))
    return sum(after < instant_of(each[1]) <= history.as_of for each in opened if each)


def _campaigns(history: _History) -> dict[str, Number]:
    found: dict[str, Number] = {
        "campaigns_received_30d": len(history.recent("newest50:campaigns", 30)),
    }
    if delivered := history.campaigns:
        for name, how in (("open", "opened"), ("click", "clicked")):
            reached = sum(how in cells.get("count:how", ()) for cells in delivered)
            found[f"campaign_{name}_rate"] = reached / len(delivered)
    return found


def _engagement(history: _History, found: Mapping[str, Number]) -> float:
    """Return how engaged the lead is, from 0 to 1.

    What counts is how lately and how often they talk, how they answer campaigns, and their mood,
    which is in the middle where nobody noted it.
    """
    recency = found.get("recency_days")
    lately = 0.0 if recency is None else exp(-recency / 30)
    often = min(found["frequency_conversations_30d"] / 8, 1)
    engaged = sum("min:engaged" in cells for cells in history.campaigns)
    answers = engaged / len(history.campaigns) if engaged else 0.0
    mood = found.get("sentiment_avg_30d", 0.5)
    return 0.35 * lately + 0.25 * often + 0.25 * answers + 0.15 * mood

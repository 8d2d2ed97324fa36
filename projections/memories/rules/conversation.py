"""Conversations: where and when the lead talks, how the talks went, and in what mood."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from domain.event import LeadEvent
from projections.memories import numbers
from projections.memories.cells import Cells, Contribution, day_before, instant_of, register
from projections.memories.declaration import (
    Shown,
    chosen,
    counted,
    preferred,
    rule,
    traced,
    view,
)
from projections.memories.times import local_hour

_MOOD_DAYS: Final = 30
_MOOD_SURE: Final = Decimal("0.9")


@rule("conversation_started")
def started(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Count channel, hour and weekday; the conversation is open until it is said to have ended."""
    stated, at = event.payload, event.occurred_at
    trace = traced(event, stamped)
    if channel := stated.get("channel"):
        votes: Cells = {"count:votes": {channel: 1}, "maxmap:at": {channel: at}}
        yield "preference", "channel", votes | trace
    hour, weekday = local_hour(at[:13])
    times: Cells = {"count:hour": {hour: 1}, "count:weekday": {weekday: 1}}
    yield "behavioral", "contact_hours", times | trace
    facts = {"status": "open", **chosen(stated, "conversationId", "channel", "context")}
    yield "behavioral", "last_conversation", _last(event, stamped, facts)


@rule("conversation_ended")
def ended(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Add up length and messages; what the conversation sounded like is one sample of mood."""
    stated = event.payload
    facts = {
        "status": "ended",
        **chosen(stated, "conversationId", "channel", "durationSeconds", "messageCount"),
    }
    score = stated.get("sentimentScore")
    if score is not None:
        facts["sentiment"] = numbers.scaled(score, 1000)
    yield "behavioral", "last_conversation", _last(event, stamped, facts)
    trace = traced(event, stamped)
    lengths: Cells = {
        "add:seconds": stated.get("durationSeconds", 0),
        "add:messages": stated.get("messageCount", 0),
    }
    yield "behavioral", "conversation_stats", lengths | trace
    if score is not None:
        yield "behavioral", "sentiment", _mood(event, facts["sentiment"]) | trace


@rule("sentiment_detected")
def sentiment(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Keep the newest mood, and daily sums for the average."""
    score = numbers.scaled(event.payload["score"], 1000)
    facts = {"score": score, **chosen(event.payload, "label")}
    cells: Cells = {
        "last:sentiment": register(stamped, facts),
        **_mood(event, score),
        **traced(event, stamped),
    }
    yield "behavioral", "sentiment", cells


@view("preference", "channel")
def show_channel(cells: Cells) -> Shown:
    """The channel most conversations start on."""
    best, votes, confidence = preferred(cells)
    return Shown({"preferred": best, "votes": votes}, confidence, "system_computed")


@view("behavioral", "contact_hours")
def show_contact_hours(cells: Cells) -> Shown:
    """Local hours and ISO weekdays of conversations begun; of equals the earlier is preferred."""
    hours, weekdays = cells["count:hour"], cells["count:weekday"]
    hour, weekday = (min(votes, key=lambda at: (-votes[at], at)) for votes in (hours, weekdays))
    value = {
        "preferredHour": int(hour),
        "preferredWeekday": int(weekday),
        "hours": hours,
        "weekdays": weekdays,
    }
    confidence = numbers.vote_share(hours[hour], sum(hours.values()))
    return Shown(value, confidence, "system_computed")


@view("behavioral", "last_conversation")
def show_last_conversation(cells: Cells) -> Shown:
    """What was heard last of a conversation: that it began, or how it ended."""
    _, stamped, facts = cells["last:conversation"]
    value = dict(facts)
    if (score := value.pop("sentiment", None)) is not None:
        value["sentimentScore"] = numbers.ratio(score, 1000, 3)
    value["startedAt" if value["status"] == "open" else "endedAt"] = instant_of(stamped)
    return Shown(value)


@view("behavioral", "conversation_stats")
def show_conversation_stats(cells: Cells) -> Shown:
    """How many conversations ended, and how long they were on average."""
    count = cells["add:events"]
    value = {
        "conversations": count,
        "avgDurationSeconds": numbers.ratio(cells["add:seconds"], count),
        "avgMessages": numbers.ratio(cells["add:messages"], count),
    }
    return Shown(value)


@view("behavioral", "sentiment")
def show_sentiment(cells: Cells) -> Shown:
    """The newest mood and the average of the 30 days that end with the newest sample's."""
    value: dict[str, Any] = {}
    if newest := cells.get("last:sentiment"):
        score, label = newest[2]["score"], newest[2].get("label")
        value = {"lastScore": numbers.ratio(score, 1000, 3), "lastAt": instant_of(newest[1])}
        value |= {"lastLabel": label} if label else {}
    days = cells["days:score"]
    floor = day_before(max(days), _MOOD_DAYS - 1)
    recent = [bucket for day, bucket in days.items() if day >= floor]
    total, count = (sum(parts) for parts in zip(*recent, strict=True))
    samples = cells["add:events"]
    value |= {"avg30d": numbers.ratio(total, count * 1000, 3), "samples": samples}
    return Shown(value, min(_MOOD_SURE, Decimal(5 + samples) / 10), holds_days=30)


def _last(event: LeadEvent, stamped: str, facts: dict[str, Any]) -> Cells:
    return {"last:conversation": register(stamped, facts), **counted(event)}


def _mood(event: LeadEvent, score: int) -> Cells:
    return {"days:score": {event.occurred_at[:10]: [score, 1]}}

"""Made-up leads as a stream of native events: what the demo sends, and what the bench measures.

The same arguments give the same events. The stream is what real senders make: mostly in the order
of time, with second deliveries, late arrivals, another content under a used id, a type nobody
declared and a payload that breaks a rule. Memory stays flat however many leads there are.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final, TextIO

from domain import instants
from domain.event import KNOWN_SOURCES
from handlers.demo_stories import DAY, STORIES, Fact, pick

Event = dict[str, Any]

SEED: Final = 2026
LEADS: Final = 40
NOW: Final = "2026-03-20T12:00:00.000000Z"

FIRST_LEAD: Final = "demo-lead-0001"
"""The leadOrganizationId of the lead with the richest story: five purchases of whey, and more."""

UNKNOWN_TYPE: Final = "webinar_attended"
"""The one event type of the stream that the catalog does not declare."""

OTHER_AMOUNT: Final = "1.00"
"""What a purchase costs where its id comes again with another content."""

_COHORT: Final = 40
"""So many leads are mixed in the order of time; the stream goes on cohort by cohort."""

_AREAS: Final = (11, 21, 31, 41, 51, 61, 71, 81, 85, 91, 19, 27, 47, 48, 62, 92)
_PREFIXES: Final = {"hotmart": "HT", "shopify": "SH", "stripe": "ST", "typeform": "TF"}


def generate(seed: int = SEED, leads: int = LEADS, now: str = NOW) -> Iterator[Event]:
    """Yield native events of so many leads, in the order they arrive.

    Args:
        seed: another one tells other stories.
        leads: about 25 events each.
        now: fixed-width instant the stories end at; nothing happens after it.
    """
    for first in range(0, leads, _COHORT):
        numbers = range(first, min(first + _COHORT, leads))
        events = [event for number in numbers for event in _of_lead(seed, number, now)]
        events.sort(key=lambda event: event["occurredAt"])
        yield from _disturbed(Random(f"{seed}:cohort:{first}"), events)  # noqa: S311 - no secrets
        if first == 0:
            yield from _oddities(now)


def write_ndjson(stream: TextIO, events: Iterable[Event]) -> int:
    """Write one event a line, as an import file has them, and return how many there were."""
    written = 0
    for event in events:
        stream.write(json.dumps(event, ensure_ascii=False, separators=(",", ":")))
        stream.write("\n")
        written += 1
    return written


def _of_lead(seed: int, number: int, now: str) -> Iterator[Event]:
    rng = Random(f"{seed}:lead:{number}")  # noqa: S311 - stories, not secrets
    tag = f"{number + 1:04d}"
    facts = list(STORIES[number % len(STORIES)](rng, tag))
    if number and rng.random() < 0.65:
        facts += pick(rng, STORIES)(rng, f"{tag}b")
    who, moment = _who(number), instants.to_datetime(now)
    # The first lead keeps to the minute, so that its intervals are those of the documentation.
    shift = int(rng.random() * 9 * DAY) * 60 + int(rng.random() * 60) if number else 0
    for position, fact in enumerate(facts, 1):
        yield _event(who, f"{tag}-{position:03d}", fact, moment - timedelta(seconds=shift))


def _who(number: int) -> Event:
    if number % 4 == 0:
        return {"leadOrganizationId": f"demo-lead-{number + 1:04d}"}
    if number % 11 == 3:
        identifier = f"exemplo.{number + 1:04d}"
        return {"lead": {"channel": "instagram", "channelIdentifier": identifier}}
    return {"lead": {"channel": "whatsapp", "channelIdentifier": _phone(number)}}


def _phone(number: int) -> str:
    """Return a number of its own for each lead, of the kind that films use."""
    block, last = divmod(number + 100, 10_000)
    prefix, area = divmod(block, len(_AREAS))
    return f"+55 {_AREAS[area]} 9 {5555 - prefix}-{last:04d}"


def _event(who: Event, suffix: str, fact: Fact, moment: datetime) -> Event:
    event = {
        **who,
        "externalEventId": f"{_PREFIXES.get(fact.source, fact.source)}-{suffix}",
        "sourceType": KNOWN_SOURCES[fact.source],
        "source": fact.source,
        "eventType": fact.event_type,
        "schemaVersion": fact.schema_version,
        "occurredAt": instants.format_instant(moment - timedelta(minutes=fact.ago)),
        "payload": fact.payload,
    }
    reference = fact.payload.get("transactionId") or fact.payload.get("ticketId")
    return event | ({"objectIdRef": reference} if reference else {})


def _disturbed(rng: Random, events: list[Event]) -> list[Event]:
    """Deliver some events late, some twice, and a purchase or two again with another amount."""
    arrivals = dict(enumerate(float(place) for place in range(len(events))))
    old = range(len(events) // 2)
    for place in _some(rng, old, 100):
        arrivals[place] = len(events) * (0.9 + 0.1 * rng.random())
    stream = [(arrival, events[place]) for place, arrival in arrivals.items()]
    stream.extend(
        (_later(rng, arrivals[place]), events[place])
        for place in _some(rng, range(len(events)), 50)
    )
    bought = [
        place for place, event in enumerate(events) if event["eventType"] == "purchase_completed"
    ]
    for place in _some(rng, bought, 100):
        payload = events[place]["payload"] | {"amount": OTHER_AMOUNT}
        stream.append((_later(rng, arrivals[place]), events[place] | {"payload": payload}))
    stream.sort(key=lambda arrival: arrival[0])
    return [event for _, event in stream]


def _later(rng: Random, arrival: float) -> float:
    return arrival + 1 + rng.random() * 200


def _some(rng: Random, places: range | list[int], of: int) -> list[int]:
    """Choose about one of so many, at least one, each at most once."""
    if not places:
        return []
    return sorted({pick(rng, places) for _ in range(-(-len(places) // of))})


def _oddities(now: str) -> Iterator[Event]:
    """Make what no rule of the stories makes: an undeclared type, and an impossible amount."""
    moment = instants.to_datetime(now)
    webinar = {"webinarId": "live-nutricao", "minutesWatched": 42}
    first = {"leadOrganizationId": FIRST_LEAD}
    yield _event(first, "9001", Fact(90, "web", UNKNOWN_TYPE, webinar), moment)
    impossible = {"productId": "whey_1kg", "amount": "-150.00", "currency": "BRL"}
    yield _event(first, "9002", Fact(60, "stripe", "purchase_completed", impossible), moment)

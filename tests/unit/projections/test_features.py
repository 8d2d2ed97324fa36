import itertools
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.event import LeadEvent
from domain.instants import EARLIEST, format_instant, to_datetime
from domain.items import row_item
from domain.keys import memory
from domain.limits import item_size
from projections.features import features
from projections.memories import MEMORIES, contributions
from projections.memories.cells import Cells, merge
from projections.memories.render import render_all
from projections.memories.rules.feature_stats import (
    FEATURE_STATS,
    local_time,
    packed_instant,
    unpacked_second,
)
from tests.support.strategies import LEAD, event, histories

NOON: Final = datetime(2026, 3, 20, 12, tzinfo=UTC)
NOW: Final = format_instant(NOON)

States = dict[tuple[str, str], Cells]

_counter = itertools.count()


def at(**before: float) -> str:
    return format_instant(NOON - timedelta(**before))


def happened(event_type: str, when: str, source: str = "hotmart", **payload: Any) -> LeadEvent:
    return event(event_type, payload, at=when, event_id=f"evt-{next(_counter)}", source=source)


def message(when: str) -> LeadEvent:
    return happened("message_received", when, "whatsapp", type="text")


def reply(when: str) -> LeadEvent:
    return happened("reply_sent", when, "messaging_service")


def folded(events: list[LeadEvent]) -> States:
    states: States = {}
    for each in events:
        for memory_type, key, cells in contributions(each):
            merge(states.setdefault((memory_type, key), {}), cells)
    return states


def value(events: list[LeadEvent], name: str, **how: str) -> float | None:
    return features(folded(events), NOW, **how).features.get(name)


MOMENTS: Final = st.integers(0, 600).map(lambda seconds: at(seconds=seconds))


@given(
    histories(max_size=15),
    st.lists(st.one_of(MOMENTS.map(message), MOMENTS.map(reply)), max_size=90),
    st.randoms(use_true_random=False),
)
def test_features_are_the_same_in_whatever_order_events_arrived(
    history: list[LeadEvent], talk: list[LeadEvent], chance: Any
):
    events = history + talk
    shuffled = list(events)
    chance.shuffle(shuffled)

    assert features(folded(shuffled), NOW) == features(folded(events), NOW)


def test_of_more_events_than_are_kept_the_newest_count_in_whatever_order_they_came():
    begun = [
        happened("conversation_started", at(minutes=each), channel="web", conversationId=str(each))
        for each in range(250)
    ]
    asked = [
        happened("discount_requested", at(minutes=each), conversationId=str(each))
        for each in range(100, 250)
    ]
    events = begun + asked

    forward, backward = folded(events), folded(events[::-1])

    assert forward == backward
    vector = features(forward, NOW).features
    assert vector["frequency_conversations_30d"] == 200
    assert vector["discount_request_rate"] == 0.5


def test_a_message_that_may_have_followed_one_no_longer_kept_is_no_answer():
    first = [message(at(hours=20)), reply(at(hours=19)), message(at(hours=18))]
    later = [message(at(minutes=each)) for each in range(49)]

    assert value(first + later[:47], "avg_response_time_seconds") == 3600
    assert value(first + later[:48], "avg_response_time_seconds") == 3600
    assert value(first + later, "avg_response_time_seconds") is None


def test_the_statistics_are_no_memory():
    states = folded([message(at(hours=1))])

    assert list(states) == [FEATURE_STATS]
    assert render_all(states, NOW, include_expired=True) == []


def test_an_order_of_several_products_is_as_many_purchases():
    order = [
        happened("purchase_completed", at(days=1), productId=str(each), amount="1", currency="JPY")
        for each in range(4)
    ]

    assert value(order, "frequency_purchases_90d") == 4


def test_a_conversation_begun_twice_under_one_id_is_one_in_rates_and_two_in_frequency():
    begun = [
        happened("conversation_started", at(days=day), channel="web", conversationId=name)
        for day, name in ((3, "one"), (2, "one"), (1, "two"))
    ]
    asked = happened("discount_requested", at(days=1), conversationId="one")

    assert value([*begun, asked], "frequency_conversations_30d") == 3
    assert value([*begun, asked], "discount_request_rate") == 0.5


def test_conversations_without_an_id_are_one_each():
    sale = happened("purchase_completed", at(days=1), productId="p", amount="1.00", currency="BRL")
    begun = [happened("conversation_started", at(days=day), channel="web") for day in (2, 20, 21)]

    assert value([*begun, sale], "conversion_rate") == 0.3333


def test_equal_scores_of_one_second_count_each():
    scores = (0.25, 0.25, 1)
    noted = [happened("sentiment_detected", at(days=1), score=score) for score in scores]

    assert value(noted, "sentiment_avg_30d") == 0.5


def test_a_purchase_that_names_another_conversation_converts_only_that():
    begun = [
        happened("conversation_started", at(hours=hours), channel="web", conversationId=name)
        for hours, name in ((3, "one"), (2, "two"))
    ]
    sale = {"productId": "p", "amount": "1.00", "currency": "BRL"}
    named = happened("purchase_completed", at(hours=1), **sale, conversationId="one")
    unnamed = happened("purchase_completed", at(hours=1), **sale)
    before = happened("purchase_completed", at(hours=4), **sale)

    assert value([*begun, named], "conversion_rate") == 0.5
    assert value([*begun, unnamed], "conversion_rate") == 1
    assert value([*begun, before], "conversion_rate") == 0


@pytest.mark.parametrize(
    ("days", "hour"), [(0, 8), (30, 7)], ids=["in summer time", "before it began"]
)
def test_hours_are_those_of_the_zone_on_that_day(days: int, hour: int):
    assert (
        value([message(at(days=days))], "preferred_hour_of_day", timezone="America/New_York")
        == hour
    )


def test_an_act_of_a_clock_that_is_ahead_counts_as_now_and_not_in_windows():
    ahead = happened("conversation_started", at(minutes=-4), "web", channel="web")

    assert value([ahead], "recency_days") == 0
    assert value([ahead], "frequency_conversations_30d") == 0


@given(st.datetimes(to_datetime(EARLIEST).replace(tzinfo=None), datetime(4000, 1, 1)))  # noqa: DTZ001
def test_a_packed_instant_gives_back_its_second(naive: datetime):
    whole = naive.replace(tzinfo=UTC, microsecond=0)

    packed = packed_instant(format_instant(naive.replace(tzinfo=UTC)))

    assert local_time(unpacked_second(packed), UTC) == whole


@given(st.lists(st.integers(0, 2**35), min_size=2, max_size=2))
def test_packed_instants_sort_like_time(seconds: list[int]):
    packed = [packed_instant(format_instant(local_time(each, UTC))) for each in seconds]

    assert sorted(packed) == [
        packed_instant(format_instant(local_time(each, UTC))) for each in sorted(seconds)
    ]


def stored_size(states: States) -> int:
    key = memory(LEAD, *FEATURE_STATS)
    return item_size(row_item(MEMORIES.encode(LEAD, key, states[FEATURE_STATS])))


def ordinary_history() -> list[LeadEvent]:
    """A year of a lead: 20 conversations of ten messages, eight purchases, ten campaigns."""
    events: list[LeadEvent] = []
    for number in range(20):
        name, day = f"conversation-{number:04d}", 18 * number
        events.append(
            happened(
                "conversation_started",
                at(days=day),
                "messaging_service",
                channel="whatsapp",
                conversationId=name,
            )
        )
        events += [message(at(days=day, minutes=-2 * each)) for each in range(10)]
        events += [reply(at(days=day, minutes=-2 * each - 1)) for each in range(10)]
        if number % 2:
            events.append(
                happened(
                    "campaign_delivered",
                    at(days=day, hours=5),
                    "dispatch_service",
                    campaignId=name,
                    channel="email",
                )
            )
            events.append(
                happened(
                    "sentiment_detected", at(days=day, hours=-1), "ai_agents_service", score=0.7
                )
            )
        if number % 5 < 2:
            events.append(
                happened(
                    "purchase_completed",
                    at(days=day, hours=-2),
                    productId="p",
                    amount="150.00",
                    currency="BRL",
                    conversationId=name,
                )
            )
        if number % 10 == 0:
            events.append(
                happened(
                    "discount_requested", at(days=day), "messaging_service", conversationId=name
                )
            )
    return events


def test_the_row_of_an_ordinary_lead_costs_four_write_units_and_that_of_a_new_one_two():
    assert stored_size(folded(ordinary_history())) <= 2048
    assert stored_size(folded(ordinary_history()[:40])) <= 1024


def test_the_row_of_a_lead_that_never_stops_stays_within_13_kilobytes():
    sale = {"productId": "p", "amount": "1.00", "currency": "BRL"}
    events = [
        each
        for number in range(300)
        for each in (
            happened(
                "conversation_started",
                at(minutes=number),
                channel=f"channel-{number:032d}",
                conversationId=f"c{number}",
            ),
            happened("discount_requested", at(minutes=number), conversationId=f"c{number}"),
            happened("purchase_completed", at(minutes=number), **sale, conversationId=f"c{number}"),
            happened("campaign_delivered", at(minutes=number), campaignId="k", channel="email"),
            happened("sentiment_detected", at(minutes=number), score=0.5),
            message(at(minutes=number)),
            reply(at(minutes=number)),
        )
    ]

    assert stored_size(folded(events)) <= 13 * 1024

"""No more requests than the account allows, by what its answers say; nobody waits twice."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from adapters.hubspot.pacing import INTERVAL_S, MARGIN, SEARCHES_PER_S, START_BURST, Pacer
from tests.support.http_server import Reply as Answered
from tests.support.hubspot import crm_answered, record


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.at = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


def paced():
    time = Time()
    return Pacer(time, time.sleep), time


def said(most=None, left=None, interval_ms=None):
    headers = {"max": most, "remaining": left, "interval-milliseconds": interval_ms}
    return {
        f"x-hubspot-ratelimit-{name}": str(value)
        for name, value in headers.items()
        if value is not None
    }


def turns(pacer, time, count, **options):
    """Hold so many requests: when each of them went."""
    went = []
    for _ in range(count):
        pacer.hold(**options)
        went.append(time.at)
    return went


def test_a_start_is_as_fast_as_the_smallest_plan_allows():
    pacer, time = paced()
    went = turns(pacer, time, START_BURST)

    assert went[: START_BURST - MARGIN] == [1000.0] * (START_BURST - MARGIN)
    assert went[START_BURST - MARGIN :] == [1000.0 + INTERVAL_S] * MARGIN


def test_the_limit_is_what_an_answer_says():
    pacer, time = paced()
    pacer.told(said(most=190, left=189, interval_ms=10_000))
    went = turns(pacer, time, 200)

    assert went.count(1000.0) == 190 - MARGIN


def test_a_smaller_limit_counts_at_once_for_what_was_sent_before():
    pacer, time = paced()
    turns(pacer, time, 50)
    pacer.told(said(most=24, left=20))

    assert pacer.reserve() == INTERVAL_S


@given(
    st.lists(st.tuples(st.floats(0, 3), st.booleans()), max_size=120),
    st.integers(5, 30),
    st.integers(1, 20_000),
)
def test_no_interval_ever_has_more_than_is_allowed(steps, most, interval_ms):
    pacer, time = paced()
    pacer.told(said(most=most, left=most, interval_ms=interval_ms))
    went: dict[bool, list[float]] = {True: [], False: []}
    for pause, searches in steps:
        time.at += pause
        pacer.hold(searches=searches)
        went[searches].append(time.at)

    for searches, allowed, interval_s in (
        (False, max(1, most - MARGIN), interval_ms / 1000),
        (True, SEARCHES_PER_S, 1.0),
    ):
        times = went[searches]
        assert times == sorted(times)
        assert all(
            later - earlier >= interval_s - 1e-6
            for earlier, later in zip(times, times[allowed:], strict=False)
        )


def test_no_turn_is_given_before_one_that_was_given_earlier():
    pacer, _ = paced()
    waits = [pacer.reserve() for _ in range(START_BURST)]
    pacer.told(said(most=1_000, left=900, interval_ms=1_000))

    assert waits[-1] == INTERVAL_S
    assert pacer.reserve() == INTERVAL_S


def test_searches_have_a_limit_of_their_own():
    pacer, time = paced()
    went = turns(pacer, time, 11, searches=True)

    assert went == [1000.0] * 5 + [1001.0] * 5 + [1002.0]
    assert pacer.reserve() == 0.0


def test_what_others_use_up_counts():
    pacer, _ = paced()
    pacer.told(said(most=100, left=MARGIN))
    assert pacer.reserve() == INTERVAL_S / 10

    pacer.told(said(most=100, left=0))
    assert pacer.reserve() == INTERVAL_S


def test_an_answer_that_says_nothing_changes_nothing():
    pacer, time = paced()
    silences: list[dict[str, str]] = [
        {},
        said(most="many", left="-1", interval_ms="soon"),
        said(most=0, left=50, interval_ms=0),
        said(most="9" * 30, left="\u0663"),
    ]
    for headers in silences:
        pacer.told(headers)
    went = turns(pacer, time, START_BURST)

    assert went.count(1000.0) == START_BURST - MARGIN


def test_threads_take_turns_and_no_turn_is_given_twice():
    time = Time()
    pacer = Pacer(time, lambda _: None)
    waits: list[float] = []
    lock = threading.Lock()

    def reserve():
        for _ in range(50):
            wait_s = pacer.reserve()
            with lock:
                waits.append(wait_s)

    threads = [threading.Thread(target=reserve) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    allowed = START_BURST - MARGIN
    assert sorted(waits) == [INTERVAL_S * (n // allowed) for n in range(400)]


def test_requests_are_paced_and_their_answers_are_heard():
    pacer, time = paced()
    headers = {"X-HubSpot-RateLimit-Max": "6", "X-HubSpot-RateLimit-Remaining": "5"}
    with crm_answered(Answered(200, record(), headers), pacer=pacer) as (crm, _):
        for _ in range(4):
            crm.find_deal(by="id", value="42")

    # The first is sent before anything is known, and counts.
    assert time.slept == [INTERVAL_S]


def test_a_search_is_paced_as_one():
    pacer, time = paced()
    with crm_answered(Answered(200, {"results": [], "total": 0}), pacer=pacer) as (crm, _):
        for _ in range(6):
            crm.search_contacts(["5511955550142"])

    assert time.slept == [1.0]


def test_how_much_of_a_day_is_left_is_what_an_answer_said_last():
    pacer, _ = paced()
    known = [pacer.day_left]
    for a_day, left in [
        ("1000", "250"),
        (None, "9"),
        ("x", "9"),
        ("0", "0"),
        ("500", "0"),
        ("5", "9"),
    ]:
        headers = {"x-hubspot-ratelimit-daily": a_day, "x-hubspot-ratelimit-daily-remaining": left}
        pacer.told({name: value for name, value in headers.items() if value is not None})
        known.append(pacer.day_left)

    # What cannot be read tells nothing, and takes nothing back.
    assert known == [None, 0.25, 0.25, 0.25, 0.25, 0.0, 1.0]

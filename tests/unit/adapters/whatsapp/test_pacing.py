"""How fast one person and one number are written to."""

import threading
import time

import pytest

from adapters.whatsapp.pacing import MAX_PAIRS, Pacing


class Time:
    """A clock that stands still until it is moved."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def taken(pacing, account="1", to="5511955550142", of=1000):
    """How many messages in a row need not wait."""
    return next(count for count in range(of) if pacing.delay(account, to) > 0)


def test_one_person_gets_a_burst_and_then_one_message_in_six_seconds():
    clock = Time()
    pacing = Pacing(clock)

    assert taken(pacing) == 45
    assert pacing.delay("1", "5511955550142") == pytest.approx(6.0)
    clock.now += 5.9
    assert pacing.delay("1", "5511955550142") == pytest.approx(0.1)
    clock.now += 0.1
    assert taken(pacing) == 1
    clock.now += 60
    assert taken(pacing) == 10


def test_asking_costs_nothing():
    pacing = Pacing(Time())
    taken(pacing)

    assert {pacing.delay("1", "5511955550142") for _ in range(100)} == {6.0}


def test_a_full_bucket_never_holds_more_than_its_burst():
    clock = Time()
    pacing = Pacing(clock)
    clock.now += 10**6

    assert taken(pacing) == 45


def test_people_do_not_wait_for_each_other():
    pacing = Pacing(Time())
    taken(pacing)

    assert pacing.delay("1", "5511955550143") == 0.0
    assert pacing.delay("2", "5511955550142") == 0.0


def test_one_number_sends_eighty_a_second_and_others_are_not_slowed():
    clock = Time()
    pacing = Pacing(clock)
    sent = [pacing.delay("1", f"55119555501{each:02}") for each in range(81)]

    assert sent[:80] == [0.0] * 80
    assert sent[80] == pytest.approx(1 / 80)
    assert pacing.delay("2", "5511955550180") == 0.0
    clock.now += 0.5
    assert sum(pacing.delay("1", f"55119555502{each:02}") == 0.0 for each in range(80)) == 40


def test_a_number_in_the_phone_app_is_slower():
    pacing = Pacing(Time(), per_second=20)

    assert sum(pacing.delay("1", f"55119555501{each:02}") == 0.0 for each in range(80)) == 20


def test_a_person_that_waits_takes_nothing_of_its_number():
    clock = Time()
    pacing = Pacing(clock)
    taken(pacing)
    for _ in range(100):
        pacing.delay("1", "5511955550142")

    assert sum(pacing.delay("1", f"55119555501{each:02}") == 0.0 for each in range(80)) == 35


def test_what_is_remembered_is_bounded_and_those_who_wait_longest_are_kept():
    clock = Time()
    pacing = Pacing(clock, per_second=10**6)
    taken(pacing)
    for each in range(MAX_PAIRS + 10):
        pacing.delay("1", f"other-{each}")

    assert pacing.remembered() <= MAX_PAIRS
    assert pacing.delay("1", "5511955550142") > 0


def test_those_who_need_not_wait_are_forgotten_first():
    clock = Time()
    pacing = Pacing(clock, per_second=10**6)
    for each in range(MAX_PAIRS):
        pacing.delay("1", f"early-{each}")
    clock.now += 60
    pacing.delay("1", "late")

    assert pacing.remembered() == 1


class Slow(str):
    """A key that lets another thread in whenever a dictionary looks at it."""

    __slots__ = ()

    def __hash__(self):
        time.sleep(0)
        return super().__hash__()


def test_threads_share_what_there_is():
    pacing = Pacing(Time())
    passed: list[bool] = []

    def ask():
        passed.extend(pacing.delay("1", Slow("5511955550142")) == 0.0 for _ in range(20))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert len(passed) == 160
    assert sum(passed) == 45

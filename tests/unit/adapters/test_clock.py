"""Time, identifiers and waiting."""

import time
from concurrent.futures import ThreadPoolExecutor

from adapters.clock import full_jitter, longest_wait_s, new_id, utc_now
from domain import instants


def test_now_is_a_fixed_width_instant():
    now = utc_now()

    assert len(now) == instants.WIDTH
    assert instants.parse_instant(now) == now
    assert now <= utc_now()


def test_ids_are_uuid7_and_sort_by_age_in_every_thread():
    def draw(count):
        return [new_id() for _ in range(count)]

    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(draw, [5_000] * 4))

    assert all(ids == sorted(ids) for ids in drawn)
    assert len({each for ids in drawn for each in ids}) == 20_000
    assert {(len(each), each[14]) for each in drawn[0]} == {(36, "7")}


def test_waits_double_up_to_a_second():
    assert [longest_wait_s(attempt) for attempt in range(4)] == [0.01, 0.02, 0.04, 0.08]
    assert longest_wait_s(6) == 0.64
    assert longest_wait_s(7) == longest_wait_s(10_000) == 1.0


def test_a_wait_is_not_longer_than_it_may_be():
    started = time.perf_counter()
    for _ in range(5):
        full_jitter(0)

    assert time.perf_counter() - started < 1

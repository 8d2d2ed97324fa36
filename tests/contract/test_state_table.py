"""Rows, records and locks: conditions, lists by key and by index, what is kept of a row."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from domain.errors import LimitExceeded, Rejected, Unavailable
from domain.keys import Key
from domain.records import Absent, AbsentOrBelow, Equal, Row

KEY = Key("LOCK#one", "META")


def row(sk, *, pk="P", gsi1=None, **attributes):
    return Row(Key(pk, sk), attributes, gsi1=gsi1)


def pages(query, *names, limit, **more):
    found, cursor = [], None
    while True:
        page = query(*names, limit=limit, cursor=cursor, **more)
        assert len(page.items) == limit or page.cursor is None
        found += page.items
        cursor = page.cursor
        if cursor is None:
            return found


def test_a_row_comes_back_as_it_was_put(table):
    whole = Row(
        KEY,
        {"text": "ação", "empty": "", "n": -5, "big": 10**37, "bytes": b"\x00\xff", "none": b""},
        gsi1=("org#X", "2026"),
        ttl=1_800_000_000,
    )

    assert table.put(whole)

    assert table.get(KEY) == whole
    assert table.query("LOCK#one").items == [whole]
    assert table.query_index("org#X").items == [whole]
    assert table.get(Key("LOCK#one", "OTHER")) is None
    assert table.get(Key("LOCK#two", "META")) is None


def test_a_row_without_attributes_is_a_row(table):
    assert table.put(Row(KEY, {}))

    assert table.get(KEY) == Row(KEY, {})


def test_a_row_is_replaced_whole(table):
    table.put(Row(KEY, {"a": 1, "b": 2}, gsi1=("org#X", "1"), ttl=1_800_000_000))

    assert table.put(Row(KEY, {"a": 3}))

    assert table.get(KEY) == Row(KEY, {"a": 3})
    assert table.query_index("org#X").items == []


def test_a_condition_judges_the_ttl_of_a_row_like_any_attribute(table):
    table.put(Row(KEY, {"token": "a"}, ttl=1_800_000_000))

    assert not table.put(Row(KEY, {"token": "b"}), AbsentOrBelow("ttl", 1_800_000_000))
    assert table.put(Row(KEY, {"token": "b"}), AbsentOrBelow("ttl", 1_800_000_001))
    assert table.get(KEY) == Row(KEY, {"token": "b"})


def test_a_put_on_a_condition_writes_only_if_it_holds(table):
    first, second = Row(KEY, {"token": "a", "until": 5}), Row(KEY, {"token": "b", "until": 9})

    assert not table.put(first, Equal("token", "a"))
    assert table.get(KEY) is None
    assert table.put(first, Absent())
    assert not table.put(second, Absent())
    assert not table.put(second, Equal("token", "b"))
    assert not table.put(second, AbsentOrBelow("until", 5))
    assert table.get(KEY) == first
    assert table.put(second, AbsentOrBelow("until", 6))
    assert table.get(KEY) == second
    assert table.put(first, Equal("token", "b"))
    assert table.get(KEY) == first


def test_a_delete_on_a_condition_deletes_only_if_it_holds(table):
    kept = Row(KEY, {"token": "a", "until": 5})
    table.put(kept)

    assert not table.delete(KEY, Equal("token", "b"))
    assert not table.delete(KEY, Absent())
    assert not table.delete(KEY, AbsentOrBelow("until", 5))
    assert table.get(KEY) == kept
    assert table.delete(KEY, Equal("token", "a"))
    assert table.get(KEY) is None


def test_a_missing_row_is_deleted_unless_a_condition_needs_it(table):
    assert table.delete(KEY)
    assert table.delete(KEY, Absent())
    assert table.delete(KEY, AbsentOrBelow("until", 5))
    assert not table.delete(KEY, Equal("token", "a"))


def test_a_deleted_row_is_in_no_list(table):
    table.put(row("a", gsi1=("org#X", "1")))
    table.put(row("b", gsi1=("org#X", "2")))

    assert table.delete(Key("P", "a"))

    assert [each.key.sk for each in table.query("P").items] == ["b"]
    assert [each.key.sk for each in table.query_index("org#X").items] == ["b"]


SORT_KEYS = ["a", "a#1", "a#10", "a#2", "a_", "ab", "a\x7f", "aé", "aￜ", "a\U0001f642", "b#1"]


@pytest.fixture
def partition(table):
    """Rows of one partition in the order of their keys' bytes, which is not UTF-16's."""
    rows = [row(sk, n=number) for number, sk in enumerate(SORT_KEYS)]
    for each in reversed(rows):
        table.put(each)
    table.put(row("a#1", pk="P#2"))
    table.put(row("a#1", pk="O"))
    return sorted(rows, key=lambda each: each.key.sk.encode())


def test_a_partition_is_listed_in_the_order_of_its_keys_both_ways(table, partition):
    for limit in (1, 4, 11):
        assert pages(table.query, "P", limit=limit) == partition
        assert pages(table.query, "P", limit=limit, desc=True) == partition[::-1]


def test_a_partition_is_listed_by_the_beginning_of_its_sort_keys(table, partition):
    for prefix in ("a", "a#", "a#1", "a_", "b", "aé", "a\U0001f642", "aￜ", "c", ""):
        expected = [each for each in partition if each.key.sk.startswith(prefix)]
        assert pages(table.query, "P", prefix=prefix, limit=3) == expected, prefix
        found = pages(table.query, "P", prefix=prefix, desc=True, limit=3)
        assert found == expected[::-1], prefix


def test_an_empty_partition_has_one_empty_page(table):
    assert table.query("nobody") == ([], None)
    assert table.query_index("nobody") == ([], None)


def test_the_index_lists_only_rows_that_are_in_it_by_its_sort_key(table):
    rows = [row(f"{number:02}", gsi1=("org#X", f"t{number % 4}"), n=number) for number in range(9)]
    for each in rows:
        table.put(each)
    table.put(row("outside"))
    table.put(row("elsewhere", gsi1=("org#Y", "t1")))

    for desc in (False, True):
        for limit in (2, 9):
            found = pages(table.query_index, "org#X", limit=limit, desc=desc)
            order = [each.gsi1[1] for each in found]
            assert order == sorted(order, reverse=desc)
            assert sorted(found, key=lambda each: each.key) == rows


def test_a_row_moves_in_the_index_with_its_key(table):
    table.put(row("a", gsi1=("org#X", "1")))
    table.put(row("a", gsi1=("org#Y", "2")))

    assert table.query_index("org#X").items == []
    assert table.query_index("org#Y").items == [row("a", gsi1=("org#Y", "2"))]


def test_a_cursor_is_good_for_one_list_and_direction_only(table, partition):
    cursor = table.query("P", limit=1).cursor
    for number in range(2):
        table.put(row(f"{number}", pk="I", gsi1=("org#X", "1")))
    indexed = table.query_index("org#X", limit=1).cursor

    for ask in (
        lambda: table.query("P", cursor="garbage"),
        lambda: table.query("O", cursor=cursor),
        lambda: table.query("P", cursor=cursor, desc=True),
        lambda: table.query("P", cursor=indexed),
        lambda: table.query_index("org#X", cursor=cursor),
        lambda: table.query_index("org#X", cursor=indexed, desc=True),
        lambda: table.query_index("org#Y", cursor=indexed),
    ):
        with pytest.raises(Rejected):
            ask()


def test_limits_hold_for_a_row_that_is_put_by_itself(table):
    half: Any = 0.5
    for refused in (
        Row(KEY, {"text": "x" * 400 * 1024}),
        Row(Key("", "META"), {}),
        Row(Key("LOCK#one", "x" * 1025), {}),
        Row(KEY, {}, gsi1=("", "1")),
        Row(KEY, {"half": half}),
    ):
        with pytest.raises(LimitExceeded):
            table.put(refused)
    assert table.get(KEY) is None


def test_rows_of_one_transaction_are_all_written(table):
    table.put(row("a", n=1))

    assert table.write([(row("a", n=2), Equal("n", 1)), (row("b", n=3), Absent())])
    assert table.write([(row("a", n=4), None), (row("c", pk="Q", gsi1=("org#X", "1")), None)])

    assert table.query("P").items == [row("a", n=4), row("b", n=3)]
    assert table.query_index("org#X").items == [row("c", pk="Q", gsi1=("org#X", "1"))]


def test_a_transaction_of_no_rows_is_written(table):
    assert table.write([])


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_condition_that_does_not_hold_keeps_back_the_whole_transaction(table, place):
    table.put(row("taken", n=1))
    puts: list[Any] = [(row("a", n=1), Absent()), (row("b", n=2), None)]
    puts.insert(place, (row("taken", n=2), Equal("n", 2)))

    assert not table.write(puts)

    assert table.query("P").items == [row("taken", n=1)]


def test_limits_hold_for_a_transaction_of_rows(table):
    half: Any = 0.5
    for refused in (
        [(row(f"{number:03}"), None) for number in range(101)],
        [(row("a"), None), (row("a", n=1), None)],
        [(row("a"), None), (row("b", text="x" * 400 * 1024), None)],
        [(row("a"), None), (row("b", half=half), None)],
        [(row(f"{number:02}", text="x" * 390_000), None) for number in range(11)],
    ):
        with pytest.raises(LimitExceeded):
            table.write(refused)
    assert table.query("P").items == []


def test_a_hundred_rows_fit_one_transaction(table):
    rows = [row(f"{number:03}", n=number) for number in range(100)]

    assert table.write([(each, Absent()) for each in rows])

    assert table.query("P", limit=100).items == rows


def test_a_transaction_is_unavailable_while_the_store_is(table, backend):
    with backend.outage(), pytest.raises(Unavailable):
        table.write([(row("a"), None), (row("b"), None)])

    assert table.query("P").items == []


@pytest.mark.concurrent
def test_of_sixteen_transactions_on_one_version_one_is_written_whole(table):
    table.put(row("current", version=1))
    start = threading.Barrier(16)

    def act(number):
        puts = [
            (row("current", version=2, by=number), Equal("version", 1)),
            (row("version#2", by=number), Absent()),
        ]
        start.wait()
        while True:
            try:
                return table.write(puts)
            except Unavailable:  # another transaction is at work on the row
                continue

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(act, range(16)))

    assert answers.count(True) == 1
    first = answers.index(True)
    assert table.query("P").items == [
        row("current", version=2, by=first),
        row("version#2", by=first),
    ]


@pytest.mark.concurrent
def test_of_sixteen_threads_on_one_lock_one_gets_it(table):
    start = threading.Barrier(16)

    def act(number):
        start.wait()
        return table.put(Row(KEY, {"token": f"thread-{number}"}), Absent())

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(act, range(16)))

    assert answers.count(True) == 1
    assert table.get(KEY) == Row(KEY, {"token": f"thread-{answers.index(True)}"})


@pytest.mark.parametrize("key", [Key("", "sk"), Key("pk", ""), Key("p" * 2049, "sk")])
def test_a_key_that_dynamodb_refuses_is_not_even_looked_for(table, key):
    with pytest.raises(LimitExceeded):
        table.get(key)


def test_nothing_expires_behind_the_back_of_a_test(backend):
    """Leases, locks and whatever else has a `ttl` live by the test's clock, not by the engine's."""
    if backend.name == "sqlite":
        return
    told = backend.factory.client.describe_time_to_live(TableName=backend.factory.names.state)
    assert told["TimeToLiveDescription"]["TimeToLiveStatus"] == "DISABLED"

"""DynamoDB's limits hold on every store: what a laptop takes, AWS takes."""

from dataclasses import replace
from typing import Any

import pytest

from domain import keys, limits
from domain.errors import LimitExceeded
from domain.records import Absent, Check, Identity, Row, Snapshot
from tests.support import make
from tests.support.make import LEAD


def rows(count):
    return tuple(
        make.row(keys.memory(LEAD, "purchase", f"k{number}"), n=1) for number in range(count)
    )


def exceeds(recorder, records, commit):
    with pytest.raises(LimitExceeded) as caught:
        recorder.insert_events(records, commit=commit)
    assert recorder.snapshot(LEAD) == Snapshot(None, {}, {})
    assert recorder.select_events(LEAD) == []
    assert caught.value.hint


def test_a_hundred_actions_are_taken_and_one_more_is_not(recorder):
    records = [make.record(1), make.record(2)]
    identity = Identity(keys.identity(make.ORGANIZATION, "whatsapp", "5511999990001"), LEAD)
    gone, lock = keys.memory(LEAD, "purchase", "gone"), keys.Key("LOCK#one", "META")
    fixed = len(records) + 2 + len([identity, "head", gone, lock])
    commit = make.commit(
        records,
        identities=(identity,),
        puts=rows(100 - fixed),
        deletes=(gone,),
        checks=(Check(lock, Absent()),),
    )

    exceeds(recorder, records, replace(commit, puts=rows(101 - fixed)))
    recorder.insert_events(records, commit=commit)

    assert len(recorder.snapshot(LEAD, [row.key for row in commit.puts]).rows) == 100 - fixed


@pytest.mark.beyond_moto("it counts what stands around an attribute too")
def test_an_item_of_400_kilobytes_is_taken_and_one_byte_more_is_not(recorder):
    records = [make.record(1)]
    short = make.row(name="Fulana")
    row = make.padding(short, limits.MAX_ITEM_BYTES)
    assert limits.item_size({"PK": row.key.pk, "SK": row.key.sk, **row.attributes}) == 400 * 1024

    exceeds(
        recorder,
        records,
        make.commit(records, puts=(make.padding(short, limits.MAX_ITEM_BYTES + 1),)),
    )
    recorder.insert_events(records, commit=make.commit(records, puts=(row,)))

    assert recorder.snapshot(LEAD, [row.key]).rows == {row.key: row}


def test_an_event_larger_than_an_item_is_not_taken(recorder):
    records = [make.record(1, payload={"text": "x" * limits.MAX_ITEM_BYTES})]

    exceeds(recorder, records, make.commit(records))


@pytest.mark.beyond_moto("it counts what stands around an attribute too")
def test_four_megabytes_a_transaction_are_the_most(recorder):
    records = [make.record(1)]
    big = tuple(make.padding(row, limits.MAX_ITEM_BYTES) for row in rows(11))

    exceeds(recorder, records, make.commit(records, puts=big))
    recorder.insert_events(records, commit=make.commit(records, puts=big[:10]))


def test_a_key_that_is_empty_or_too_long_is_not_taken(recorder):
    records = [make.record(1)]
    for key in (
        keys.Key("", "META"),
        keys.Key("LOCK#one", ""),
        keys.Key("é" * 1025, "META"),
        keys.Key("LOCK#one", "x" * 1025),
    ):
        exceeds(recorder, records, make.commit(records, puts=(Row(key, {}),)))
        exceeds(recorder, records, make.commit(records, deletes=(key,)))
        exceeds(recorder, records, make.commit(records, checks=(Check(key, Absent()),)))


def test_the_longest_keys_are_taken(recorder):
    records = [make.record(1)]
    row = Row(keys.Key("é" * 1024, "x" * 1024), {"n": 1}, gsi1=("x" * 2048, "é" * 512))

    recorder.insert_events(records, commit=make.commit(records, puts=(row,)))

    assert recorder.snapshot(LEAD, [row.key]).rows == {row.key: row}


def test_a_key_of_the_index_that_is_empty_or_too_long_is_not_taken(recorder):
    records = [make.record(1)]
    for gsi1 in (("", "1"), ("org#X", ""), ("x" * 2049, "1"), ("org#X", "x" * 1025)):
        row = Row(keys.Key("LOCK#one", "META"), {}, gsi1=gsi1)
        exceeds(recorder, records, make.commit(records, puts=(row,)))


def test_what_is_neither_text_nor_a_whole_number_nor_bytes_is_not_taken(recorder):
    records = [make.record(1)]
    wrong: tuple[Any, ...] = (1.5, True, None, ["a"], {"a": "b"}, 10**38)
    for value in wrong:
        exceeds(recorder, records, make.commit(records, puts=(make.row(value=value),)))


def test_one_item_is_named_once_in_a_commit(recorder):
    records = [make.record(1)]
    row = make.row(count=1)
    whole = make.commit(records)

    for twice in (
        replace(whole, puts=(row, row)),
        replace(whole, puts=(row,), deletes=(row.key,)),
        replace(whole, puts=(row,), checks=(Check(row.key, Absent()),)),
        replace(whole, checks=(Check(row.key, Absent()), Check(row.key, Absent()))),
        replace(whole, receipts=whole.receipts * 2),
        replace(whole, identities=(Identity("IDENTITY#a#b#c", LEAD),) * 2),
    ):
        exceeds(recorder, records, twice)
    exceeds(recorder, records * 2, whole)

"""What a commit may demand of the head, and what the head keeps."""

from dataclasses import replace

import pytest

from domain.records import CheckHead, PutHead, Refused
from tests.support import make
from tests.support.make import LEAD


def put(recorder, head, *, expected_rev):
    recorder.insert_events([], commit=make.commit(after=head, head=PutHead(head, expected_rev)))


def test_a_head_comes_back_as_it_was_written(recorder):
    head = make.head(version=41, projected=0, fold_version=7, rev=1, goal=41)

    put(recorder, head, expected_rev=0)

    assert recorder.snapshot(LEAD).head == head


def test_a_head_without_a_goal_has_none(recorder):
    put(recorder, make.head(rev=1, goal=3), expected_rev=0)
    put(recorder, make.head(rev=2), expected_rev=1)

    assert recorder.snapshot(LEAD).head == make.head(rev=2)


def test_what_a_newer_edition_wrote_into_the_head_comes_back(recorder):
    head = make.head(unknown={"colour": "blue", "depth": 10**30, "seal": b"\x00\xffz", "none": ""})

    put(recorder, head, expected_rev=0)

    assert recorder.snapshot(LEAD).head == head


def test_a_bare_insert_carries_over_what_the_head_holds(recorder):
    head = make.head(version=1, projected=1, goal=1, fold_version=3, unknown={"colour": "blue"})
    records = [make.record(1)]
    recorder.insert_events(records, commit=make.commit(records, head=PutHead(head, 0)))

    recorder.insert_events([make.record(2)])

    assert recorder.snapshot(LEAD).head == replace(head, version=2, rev=2)


def test_a_head_is_written_only_on_the_rev_it_was_read_with(recorder):
    put(recorder, make.head(rev=1), expected_rev=0)
    put(recorder, make.head(rev=2), expected_rev=1)

    for expected in (0, 1, 3):
        with pytest.raises(Refused) as caught:
            put(recorder, make.head(version=9, rev=expected + 1), expected_rev=expected)
        assert caught.value.head
    assert recorder.snapshot(LEAD).head == make.head(rev=2)


def test_a_head_that_is_checked_is_left_as_it_is(recorder):
    head = make.head(projected=0, fold_version=2, rev=1, goal=1)
    put(recorder, head, expected_rev=0)
    row = make.row(count=1)

    recorder.insert_events([], commit=make.commit(after=head, head=make.checked(head), puts=(row,)))

    assert recorder.snapshot(LEAD, [row.key]) == (head, {row.key: row}, {})


def test_a_check_of_the_head_that_names_nothing_demands_only_that_it_exists(recorder):
    row = make.row(count=1)
    commit = make.commit(after=make.head(), head=CheckHead(LEAD), puts=(row,))

    with pytest.raises(Refused) as caught:
        recorder.insert_events([], commit=commit)
    assert caught.value.head

    put(recorder, make.head(rev=1), expected_rev=0)
    recorder.insert_events([], commit=commit)
    assert recorder.snapshot(LEAD, [row.key]).rows == {row.key: row}


def test_each_part_of_a_check_of_the_head_is_compared(recorder):
    head = make.head(version=9, projected=5, fold_version=2, rev=1, goal=9)
    put(recorder, head, expected_rev=0)
    row = make.row(count=1)

    for part in ("rev", "projected", "fold_version", "goal"):
        other = getattr(head, part) + 1
        check = replace(make.checked(head), **{part: other})
        with pytest.raises(Refused) as caught:
            recorder.insert_events([], commit=make.commit(after=head, head=check, puts=(row,)))
        assert caught.value.head, part

    assert recorder.snapshot(LEAD, [row.key]) == (head, {}, {})


def test_a_goal_that_is_gone_fails_the_check_of_it(recorder):
    put(recorder, make.head(rev=1), expected_rev=0)

    with pytest.raises(Refused) as caught:
        recorder.insert_events(
            [], commit=make.commit(after=make.head(), head=CheckHead(LEAD, goal=1))
        )

    assert caught.value.head


def test_zero_is_compared_and_is_not_nothing(recorder):
    put(recorder, make.head(projected=3, rev=1), expected_rev=0)

    with pytest.raises(Refused):
        recorder.insert_events(
            [], commit=make.commit(after=make.head(), head=CheckHead(LEAD, projected=0))
        )

from dataclasses import replace
from typing import Any

import pytest

from domain import keys
from domain.errors import LimitExceeded
from domain.records import Identity, PutHead, Receipt, Row, Snapshot
from projections.committing import (
    believed,
    commit_alone,
    commit_with_rows,
    first_head,
    ground,
    outranked,
    rows_follow,
    split,
)
from projections.projection import NeedRow
from tests.support import make, toy

ONE, TWO = toy.EDITIONS[1], toy.EDITIONS[2]
NOTHING = ((), ())


def made(*content) -> Any:
    """A commit with rows, where there must be one."""
    commit = commit_with_rows(*content)
    assert commit is not None
    return commit


def event(n=1, fact=None):
    return (fact or toy.counted(5)).numbered(make.LEAD, n)


def count(value):
    return Row(toy.count_key(), {"leadOrganizationId": make.LEAD, "value": value})


@pytest.mark.parametrize(
    ("projected", "fold_version", "expected"),
    [(3, 1, True), (1, 1, True), (0, 1, False), (3, 2, False), (3, 0, False), (0, 2, False)],
)
def test_rows_are_believed_of_my_edition_and_above_zero_only(projected, fold_version, expected):
    head = make.head(version=3, projected=projected, fold_version=fold_version)
    assert believed(head, ONE) is expected


@pytest.mark.parametrize(
    ("version", "projected", "fold_version", "expected"),
    [(0, 0, 1, True), (3, 3, 1, True), (3, 2, 1, False), (3, 0, 1, False), (3, 3, 2, False)],
)
def test_rows_follow_a_commit_where_they_are_mine_and_complete(
    version, projected, fold_version, expected
):
    head = make.head(version=version, projected=projected, fold_version=fold_version)
    assert rows_follow(head, ONE) is expected


def test_a_newer_edition_outranks_and_an_equal_one_does_not():
    assert outranked(make.head(fold_version=2), ONE)
    assert not outranked(make.head(fold_version=1), ONE)
    assert not outranked(make.head(fold_version=1), TWO)


def test_before_the_first_event_every_row_is_known_to_be_absent():
    assert ground(Snapshot(None, {}, {}), [toy.count_key()]) is None
    assert ground(Snapshot(make.head(), {}, {}), [toy.count_key()]) == {toy.count_key(): None}


def test_a_first_commit_makes_a_head_of_its_edition():
    head = first_head(make.LEAD, make.ORGANIZATION, TWO)
    commit = made(TWO, head, None, [event(1), event(2)], NOTHING)
    assert commit.head == PutHead(
        replace(head, version=2, projected=2, fold_version=2, rev=1), expected_rev=0
    )
    assert [row.attributes["value"] for row in commit.puts] == [100, 100]


def test_a_commit_folds_on_the_rows_that_were_read_and_raises_rev_by_one():
    head = make.head(version=4, projected=4, rev=9, unknown={"shade": "blue"})
    receipts = (make.receipt(make.record(5)),)
    claims = (Identity("IDENTITY#x", make.LEAD),)
    commit = made(ONE, head, {toy.count_key(): count(7)}, [event(5)], (receipts, claims))
    assert commit.head == PutHead(replace(head, version=5, projected=5, rev=10), expected_rev=9)
    assert commit.head.head.unknown == {"shade": "blue"}
    assert commit.puts == (count(12),)
    assert (commit.receipts, commit.identities, commit.deletes) == (receipts, claims, ())


def test_a_row_that_an_event_takes_away_is_deleted():
    opened = Row(toy.open_key(), {"leadOrganizationId": make.LEAD, "value": 1})
    commit = made(
        ONE, make.head(), {toy.open_key(): opened}, [event(2, toy.fact("toy_closed"))], NOTHING
    )
    assert (commit.puts, commit.deletes) == ((), (toy.open_key(),))


def test_a_row_that_was_not_loaded_is_asked_for():
    with pytest.raises(NeedRow) as needed:
        commit_with_rows(ONE, make.head(), {}, [event(2)], NOTHING)
    assert needed.value.key == toy.count_key()


def test_a_projection_that_raises_yields_no_commit_with_rows():
    broken = event(1, toy.fact("toy_marked", breaks=1))
    head = first_head(make.LEAD, make.ORGANIZATION, ONE)
    assert commit_with_rows(ONE, head, None, [event(1), broken], NOTHING) is None
    assert commit_with_rows(TWO, head, None, [event(1), broken], NOTHING) is not None


@pytest.mark.parametrize(("rows", "fits"), [(97, True), (98, False)])
def test_a_commit_holds_a_hundred_actions(rows, fits):
    head = first_head(make.LEAD, make.ORGANIZATION, ONE)
    flood = event(1, toy.fact("toy_flooded", rows=rows))
    claims = ((make.receipt(make.record()),), ())
    if fits:
        assert len(made(ONE, head, None, [flood], claims).puts) == rows
        return
    with pytest.raises(LimitExceeded):
        commit_with_rows(ONE, head, None, [flood], claims)


def test_an_append_alone_moves_version_and_rev_only():
    head = make.head(version=4, projected=0, fold_version=7, goal=3, rev=9, unknown={"a": 1})
    commit = commit_alone(head, [event(5), event(6)], NOTHING)
    assert commit.head == PutHead(replace(head, version=6, rev=10), expected_rev=9)
    assert (commit.puts, commit.deletes) == ((), ())


def test_the_commit_that_opens_a_gap_tells_the_sweeper():
    proof = Receipt("KEY#1", make.LEAD, "id", 5, "nonce", "print")
    commit = commit_alone(make.head(version=4, projected=4), [event(5)], ((proof,), ()))
    [lag] = commit.puts
    assert lag.key == keys.lag(make.LEAD)
    assert lag.attributes == {
        "leadOrganizationId": make.LEAD,
        "organizationId": make.ORGANIZATION,
    }
    assert commit.receipts == (proof,)


def test_changes_are_split_in_key_order():
    puts, deletes = split({toy.open_key(): None, toy.count_key(): count(1), toy.extra_key(): None})
    assert (puts, deletes) == ((count(1),), (toy.extra_key(), toy.open_key()))

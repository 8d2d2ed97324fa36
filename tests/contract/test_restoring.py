"""After a restore that brought back part of a commit: every stream is made whole, on every store."""

import sqlite3
from dataclasses import replace

import pytest
from eventsourcing.persistence import StoredEvent

from adapters.clock import new_id
from domain import catalog, keys
from domain.errors import CorruptEvent, Unavailable
from domain.outcomes import Appended, Duplicate, Failed
from domain.records import Commit, Head, PutHead, Receipt
from handlers.maintenance import Maintenance
from tests.support import toy
from tests.support.logs import SharedLog
from tests.support.make import LEAD, ORGANIZATION, instant
from tests.support.toy import counted as count

NOW = instant(3600)


@pytest.fixture
def log(backend):
    return SharedLog(backend.factory, edition=toy.EDITIONS[1])


@pytest.fixture
def facts():
    """One more fact than anything stands of; the n-th counts n."""
    return {n: count(n, f"fact-{n}") for n in range(1, 9)}


def came_back(log, facts, *, events, head, receipts=None, projected=None):
    """Write what a restore brought back: the events of these positions, a head, some receipts."""
    standing = [facts[n].numbered(LEAD, n) for n in events]
    proofs = tuple(
        Receipt(facts[n].receipt_key, LEAD, facts[n].event_id, n, "nonce", facts[n].fingerprint)
        for n in (events if receipts is None else receipts)
    )
    head = Head(
        lead=LEAD,
        organization_id=ORGANIZATION,
        version=head,
        projected=head if projected is None else projected,
        fold_version=log.edition.fold_version,
        rev=1,
    )
    log.store.insert_events(
        [log.mapper.to_stored_event(each) for each in standing],
        commit=Commit(head=PutHead(head, 0), receipts=proofs),
    )


def lose_head(backend, tmp_path):
    if backend.name == "sqlite":
        with sqlite3.connect(tmp_path / "leads.db") as connection:
            connection.execute("DELETE FROM heads WHERE lead = ?", (LEAD,))
        connection.close()
        return
    backend.factory.client.delete_item(
        TableName=backend.factory.names.log,
        Key={"leadOrganizationId": {"S": keys.head(LEAD)}, "occurredAtId": {"S": "HEAD"}},
    )


def stream(log):
    head = log.reader.head(LEAD)
    return [(e.sequence, e.event_type) for e in log.reader.events(LEAD, lte=head.version)]


def count_of(log):
    return log.reader.view(LEAD, toy.COUNTING[1]).states[toy.count_key(LEAD)]


def counted(*positions):
    return [(n, "toy_counted") for n in positions]


def test_a_head_behind_the_events_is_brought_to_the_last(log, facts):
    came_back(log, facts, events=[1, 2, 3], head=1)

    found = log.restorer.restore(LEAD, NOW)

    assert (found.state, found.head_at, found.version, found.lost) == ("mended", 1, 3, ())
    assert stream(log) == counted(1, 2, 3)
    assert count_of(log) == 6
    [outcome] = log.append([facts[4]])
    assert outcome == Appended(LEAD, facts[4].event_id, 4)
    assert stream(log) == counted(1, 2, 3, 4)


def test_a_missing_head_is_made_again_for_its_owner(log, facts, backend, tmp_path):
    came_back(log, facts, events=[1, 2], head=2)
    lose_head(backend, tmp_path)

    found = log.restorer.restore(LEAD, NOW)

    assert (found.state, found.head_at, found.version) == ("mended", 0, 2)
    assert log.reader.head(LEAD).organization_id == ORGANIZATION
    assert list(Maintenance(log).leads(ORGANIZATION)) == [LEAD]
    assert count_of(log) == 3


def test_a_lost_event_leaves_its_place_to_a_mark_and_later_ones_keep_theirs(log, facts):
    came_back(log, facts, events=[1, 3], head=1)

    found = log.restorer.restore(LEAD, NOW)

    assert (found.state, found.lost) == ("mended", (2,))
    assert stream(log) == [(1, "toy_counted"), (2, "event_lost"), (3, "toy_counted")]
    assert count_of(log) == 4
    mark = log.reader.events(LEAD, gt=1, lte=2)[0]
    assert (mark.occurred_at, mark.organization_id) == (NOW, ORGANIZATION)
    # What is lost can be sent again: it comes after all that is known of the lead.
    assert log.append([facts[2]]) == [Appended(LEAD, facts[2].event_id, 4)]
    assert count_of(log) == 6


def test_a_head_ahead_of_the_events_never_goes_back(log, facts):
    came_back(log, facts, events=[1], head=3)
    with pytest.raises(Unavailable):
        log.reader.events(LEAD, lte=3)

    found = log.restorer.restore(LEAD, NOW)

    assert (found.head_at, found.version, found.lost) == (3, 3, (2, 3))
    assert stream(log) == [(1, "toy_counted"), (2, "event_lost"), (3, "event_lost")]
    assert log.append([facts[2]]) == [Appended(LEAD, facts[2].event_id, 4)]


def test_what_is_there_without_a_receipt_bounces_whatever_its_sender_stated(log, facts):
    came_back(log, facts, events=[1, 2], head=2, receipts=[1])

    found = log.restorer.restore(LEAD, NOW)

    assert (found.state, found.receipts) == ("mended", 1)
    again = replace(facts[2], event_id=new_id(), occurred_at_stated=False)
    assert again.fingerprint != facts[2].fingerprint
    assert log.append([again]) == [Duplicate(LEAD, facts[2].event_id, 2)]
    assert stream(log) == counted(1, 2)


def test_rows_of_another_moment_than_the_events_are_made_again(log, facts, backend):
    came_back(log, facts, events=[1, 2], head=2)  # With rows that say nothing of them.

    found = log.restorer.restore(LEAD, NOW)

    assert (found.state, found.verified.state) == ("whole", "equal")
    assert backend.table.get(toy.count_key(LEAD)) is not None
    assert count_of(log) == 3


def test_two_events_at_one_position_are_named_and_left_alone(log, facts, backend):
    came_back(log, facts, events=[1, 2], head=1)
    [outcome] = log.append([facts[3]])  # What a writer does that did not wait.
    before = log.store.snapshot(LEAD).head

    found = log.restorer.restore(LEAD, NOW)

    if isinstance(outcome, Failed):  # SQLite has a position once.
        assert (backend.name, found.state) == ("sqlite", "mended")
        return
    assert [n for n, _ in _positions(log)] == [1, 2, 2]
    assert found.state == "torn"
    assert log.store.snapshot(LEAD).head == before


def _positions(log):
    return sorted((e.originator_version, e.topic) for e in log.store.select_events(LEAD))


def test_looking_changes_nothing(log, facts):
    came_back(log, facts, events=[1, 3], head=1, receipts=[1])
    before = log.store.snapshot(LEAD).head

    found = log.restorer.look(LEAD)

    assert (found.state, found.lost, found.receipts) == ("mended", (2,), 1)
    assert log.store.snapshot(LEAD).head == before
    assert [n for n, _ in _positions(log)] == [1, 3]


def test_what_was_stopped_halfway_is_finished_by_another_call(log, facts):
    came_back(log, facts, events=[1, 3, 6], head=6, receipts=[])
    puts = iter([log._put] * 2)

    def dies(*commit):
        next(puts)(*commit)

    log.restorer._put = dies
    with pytest.raises(StopIteration):
        log.restorer.restore(LEAD, NOW)
    # Until then its rows are nobody's, and the sweeper knows.
    assert list(Maintenance(log).lagging()) == [(ORGANIZATION, LEAD)]

    other = SharedLog(log._shared, edition=toy.EDITIONS[1])
    assert other.restorer.restore(LEAD, NOW).lost == (2, 4, 5)
    assert [n for n, _ in stream(other)] == [1, 2, 3, 4, 5, 6]
    assert other.restorer.restore(LEAD, NOW).state == "whole"
    assert list(Maintenance(log).lagging()) == []


def test_many_lost_events_and_receipts_take_several_commits(log):
    facts = {n: count(1, f"many-{n}") for n in range(1, 202)}
    came_back(log, facts, events=[1, 201], head=1, receipts=[])

    found = log.restorer.restore(LEAD, NOW)

    assert len(found.lost) == 199
    assert [n for n, _ in stream(log)] == list(range(1, 202))
    assert count_of(log) == 2


def test_who_writes_meanwhile_is_told_of(log, facts):
    came_back(log, facts, events=[1, 3], head=1)
    own = log._put

    def beside(events, commit):
        own(events, commit)
        log.restorer._put = own
        log.append([facts[5]])

    log.restorer._put = beside
    with pytest.raises(Unavailable, match="writes to the log"):
        log.restorer.restore(LEAD, NOW)

    assert log.restorer.restore(LEAD, NOW).lost == (2,)
    assert [n for n, _ in stream(log)] == [1, 2, 3, 4]


def test_an_event_that_is_none_of_ours_is_named(log, facts):
    log.store.insert_events([StoredEvent(LEAD, 1, "toy_counted", b"{}")])

    with pytest.raises(CorruptEvent):
        log.restorer.restore(LEAD, NOW)


def test_everything_with_a_head_or_an_event_is_listed_once(log, facts, backend, tmp_path):
    came_back(log, facts, events=[1, 2], head=2)
    log.append([replace(count(1, "other"), lead="another-lead")])
    log.append([replace(count(1, "theirs"), lead="their-lead", organization_id="globex")])
    lose_head(backend, tmp_path)

    found = list(Maintenance(log).streams())

    assert sorted(found) == sorted([LEAD, "another-lead", "their-lead"])


def test_nobody_else_may_say_that_an_event_is_lost():
    assert catalog.is_ours("event_lost")

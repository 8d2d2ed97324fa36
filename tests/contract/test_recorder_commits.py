"""What one commit promises: all of it, or nothing and every reason why."""

from dataclasses import replace

import pytest

from domain import keys
from domain.records import (
    Absent,
    Check,
    Equal,
    Identity,
    PutHead,
    Refused,
    Row,
    Snapshot,
)
from tests.support import make
from tests.support.make import LEAD

TOTALS = keys.memory(LEAD, "purchase", "totals")
PRODUCT = keys.memory(LEAD, "purchase", "product")
LOCK = keys.Key("LOCK#one", "META")
PHONE = keys.identity(make.ORGANIZATION, "whatsapp", "5511999990001")
OTHER_PHONE = keys.identity(make.ORGANIZATION, "whatsapp", "5511999990002")


def begun(recorder, **parts):
    """A lead with one event, whose head is returned."""
    records = [make.record(1)]
    commit = make.commit(records, **parts)
    recorder.insert_events(records, commit=commit)
    return make.written(commit)


def refusal(recorder, records, commit):
    with pytest.raises(Refused) as caught:
        recorder.insert_events(records, commit=commit)
    return caught.value


def everything(backend):
    """All that tests of this module may have written of the first lead."""
    snapshot = backend.recorder.snapshot(
        LEAD,
        keys=[TOTALS, PRODUCT],
        receipts=[make.receipt(make.record(number)).key for number in (1, 2, 3)],
    )
    return (
        snapshot,
        list(backend.recorder.select_events(LEAD)),
        backend.recorder.resolve([PHONE, OTHER_PHONE]),
    )


def test_a_commit_writes_everything_it_names(backend):
    recorder = backend.recorder
    records = [make.record(1), make.record(2)]
    rows = (make.row(TOTALS, count=2), Row(PRODUCT, {"name": "Costura"}, gsi1=("org#X", "1")))
    commit = make.commit(records, puts=rows, identities=(Identity(PHONE, LEAD),))

    recorder.insert_events(records, commit=commit)

    assert recorder.snapshot(LEAD, [TOTALS, PRODUCT], [each.key for each in commit.receipts]) == (
        Snapshot(
            make.written(commit),
            {row.key: row for row in rows},
            {receipt.key: receipt for receipt in commit.receipts},
        )
    )
    assert recorder.select_events(LEAD) == records
    assert recorder.resolve([PHONE, OTHER_PHONE]) == {PHONE: LEAD}
    assert recorder.receipt(commit.receipts[1].key) == commit.receipts[1]
    assert backend.table.get(PRODUCT) == rows[1]


def test_a_commit_deletes_rows_and_a_missing_one_is_no_error(backend):
    head = begun(backend.recorder, puts=(make.row(TOTALS, count=1),))
    record = make.record(2)

    backend.recorder.insert_events(
        [record], commit=make.commit([record], after=head, deletes=(TOTALS, PRODUCT))
    )

    assert backend.recorder.snapshot(LEAD, [TOTALS, PRODUCT]).rows == {}


def test_a_row_that_is_put_again_is_replaced_whole(backend):
    first = Row(TOTALS, {"count": 1, "gone": "x"}, gsi1=("org#X", "1"))
    head = begun(backend.recorder, puts=(first,))
    second = make.row(TOTALS, count=2)

    backend.recorder.insert_events([], commit=make.commit(after=head, puts=(second,)))

    assert backend.table.get(TOTALS) == second
    assert backend.table.query_index("org#X").items == []


def test_a_commit_without_events_writes_head_and_rows(backend):
    head = begun(backend.recorder)
    row = make.row(TOTALS, count=1)

    backend.recorder.insert_events([], commit=make.commit(after=head, puts=(row,)))

    snapshot = backend.recorder.snapshot(LEAD, [TOTALS])
    assert snapshot.head.rev == 2
    assert snapshot.head.version == 1
    assert snapshot.rows == {TOTALS: row}


def test_nothing_to_insert_writes_nothing(recorder):
    assert recorder.insert_events([]) is None
    assert recorder.snapshot(LEAD) == Snapshot(None, {}, {})


def test_a_taken_receipt_refuses_the_commit_and_is_returned(backend):
    head = begun(backend.recorder)
    before = everything(backend)
    record = make.record(2)
    taken = make.receipt(make.record(1))
    mine = taken._replace(nonce="nonce-two", event_id=record.envelope.event_id, sequence=2)

    refused = refusal(
        backend.recorder,
        [record],
        make.commit([record], after=head, receipts=(mine,), puts=(make.row(TOTALS, count=1),)),
    )

    assert refused.receipts == (taken,)
    assert (refused.identities, refused.head, refused.checks, refused.event) == (
        (),
        False,
        (),
        False,
    )
    assert everything(backend) == before


def test_a_taken_identity_refuses_the_commit_and_names_its_lead(backend):
    begun(backend.recorder, identities=(Identity(PHONE, LEAD),))
    record = make.record(1, lead="lead-two")
    claims = (Identity(PHONE, "lead-two"), Identity(OTHER_PHONE, "lead-two"))

    refused = refusal(backend.recorder, [record], make.commit([record], identities=claims))

    assert refused.identities == (Identity(PHONE, LEAD),)
    assert (refused.receipts, refused.head, refused.checks, refused.event) == ((), False, (), False)
    assert backend.recorder.resolve([PHONE, OTHER_PHONE]) == {PHONE: LEAD}
    assert backend.recorder.snapshot("lead-two").head is None
    assert backend.recorder.select_events("lead-two") == []


def test_a_head_that_exists_refuses_a_first_commit(backend):
    begun(backend.recorder)
    before = everything(backend)
    record = make.record(2)

    refused = refusal(
        backend.recorder, [record], make.commit([record], puts=(make.row(TOTALS, count=1),))
    )

    assert refused.head
    assert (refused.receipts, refused.identities, refused.checks, refused.event) == (
        (),
        (),
        (),
        False,
    )
    assert everything(backend) == before


def test_a_head_that_does_not_exist_refuses_a_later_commit(backend):
    record = make.record(2)

    refused = refusal(backend.recorder, [record], make.commit([record], after=make.head()))

    assert refused.head
    assert everything(backend) == (Snapshot(None, {}, {}), [], {})


def test_a_head_that_moved_without_a_new_version_refuses_the_commit(backend):
    stale = begun(backend.recorder)
    claim = PutHead(replace(stale, projected=0, goal=1, rev=2), 1)
    backend.recorder.insert_events([], commit=make.commit(after=stale, head=claim))
    before = everything(backend)
    record = make.record(2)

    refused = refusal(backend.recorder, [record], make.commit([record], after=stale))

    assert refused.head
    assert everything(backend) == before


def test_a_position_with_the_key_of_an_event_that_exists_is_refused(backend):
    head = begun(backend.recorder)
    before = everything(backend)
    twin = make.record(
        2, event_id=make.event_id(LEAD, 1), occurred_at=make.instant(1), external_event_id="new"
    )

    refused = refusal(backend.recorder, [twin], make.commit([twin], after=head))

    assert refused.event
    assert (refused.receipts, refused.identities, refused.head, refused.checks) == (
        (),
        (),
        False,
        (),
    )
    assert everything(backend) == before


def test_all_conditions_that_fail_are_told_at_once(backend):
    head = begun(backend.recorder, identities=(Identity(PHONE, LEAD),))
    first, second = make.record(1), make.record(2)
    backend.recorder.insert_events([second], commit=make.commit([second], after=head))
    backend.table.put(Row(LOCK, {"token": "a"}))
    before = everything(backend)
    free = keys.Key("LOCK#two", "META")
    stale = make.commit(
        [first, second, make.record(3)],
        after=head,
        identities=(Identity(OTHER_PHONE, LEAD), Identity(PHONE, LEAD)),
        checks=(Check(LOCK, Absent()), Check(free, Equal("token", "a"))),
    )

    refused = refusal(backend.recorder, [first, second, make.record(3)], stale)

    assert refused.identities == (Identity(PHONE, LEAD),)
    assert refused.receipts == (make.receipt(first), make.receipt(second))
    assert refused.head
    assert refused.checks == (LOCK, free)
    assert refused.event
    assert everything(backend) == before

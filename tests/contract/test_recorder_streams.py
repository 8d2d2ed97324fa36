"""What is read of a stream: by sequence, as of one moment, and single things of it."""

from domain import keys
from domain.records import Commit, Head, Identity, PutHead, Receipt, Row, Snapshot
from tests.support import make
from tests.support.make import LEAD


def stream(recorder, count, *, lead=LEAD, **fields):
    """Commit a stream in one go and return its records."""
    records = [make.record(number, lead=lead, **fields) for number in range(1, count + 1)]
    recorder.insert_events(records, commit=make.commit(records))
    return records


def test_a_stream_is_read_by_sequence_within_bounds(recorder):
    records = stream(recorder, 7)

    assert recorder.select_events(LEAD) == records
    assert recorder.select_events(LEAD, gt=2) == records[2:]
    assert recorder.select_events(LEAD, lte=3) == records[:3]
    assert recorder.select_events(LEAD, gt=2, lte=5) == records[2:5]
    assert recorder.select_events(LEAD, limit=2) == records[:2]
    assert recorder.select_events(LEAD, desc=True) == records[::-1]
    assert recorder.select_events(LEAD, gt=1, lte=6, desc=True, limit=3) == records[5:2:-1]
    assert recorder.select_events(LEAD, gt=7) == []
    assert recorder.select_events(LEAD, gt=5, lte=5) == []
    assert recorder.select_events(LEAD, limit=0) == []


def test_a_stream_holds_nothing_of_another_lead(recorder):
    mine, other = stream(recorder, 2), stream(recorder, 2, lead=f"{LEAD}-two")

    assert recorder.select_events(LEAD) == mine
    assert recorder.select_events(f"{LEAD}-two") == other
    assert recorder.select_events("lead-three") == []


def test_sequence_and_time_may_run_against_each_other(recorder):
    late = [make.record(n, occurred_at=make.instant(100 - n)) for n in (1, 2, 3)]
    recorder.insert_events(late, commit=make.commit(late))

    assert recorder.select_events(LEAD) == late
    assert recorder.select_by_time(LEAD).items == late[::-1]


def test_an_event_comes_back_byte_for_byte_with_its_envelope(recorder):
    record = make.record(
        1,
        payload={
            "text": "ação \U0001f642",
            "n": 10**30,
            "half": 0.5,
            "nested": {"list": [1, None]},
        },
        object_id="object",
        object_id_ref="ref",
        correlation_id="correlation",
        causation_id="causation",
        schema_version=3,
    )
    recorder.insert_events([record], commit=make.commit([record]))

    assert recorder.select_events(LEAD) == [record]
    assert recorder.select_by_time(LEAD).items == [record]


def test_a_ciphertext_is_kept_as_bytes(recorder):
    clear = make.record(1, key_id="key-one")
    record = type(clear)(LEAD, 1, clear.topic, bytes(range(256)), clear.envelope)
    recorder.insert_events([record], commit=make.commit([record]))

    assert recorder.select_events(LEAD) == [record]


def test_the_raw_payload_is_read_only_by_itself(recorder):
    raw = bytes(range(256)) * 40
    with_raw = make.record(1, raw_payload=raw)
    records = [with_raw, make.record(2), make.record(3, raw_payload=b"")]
    recorder.insert_events(records, commit=make.commit(records))

    assert recorder.raw_payload(LEAD, 1) == raw
    assert recorder.raw_payload(LEAD, 2) is None
    assert recorder.raw_payload(LEAD, 3) == b""
    assert recorder.raw_payload(LEAD, 4) is None
    assert recorder.raw_payload("lead-two", 1) is None
    assert recorder.select_events(LEAD)[0].raw_payload is None
    assert recorder.select_by_time(LEAD).items[0].raw_payload is None


def test_bytes_and_numbers_of_a_row_come_back_as_they_went_in(recorder):
    row = Row(
        keys.memory(LEAD, "purchase", "totals"),
        {
            "bytes": bytes(range(256)),
            "none": b"",
            "text": "ação \U0001f642 \u0000 {}",
            "empty": "",
            "big": 10**37,
            "negative": -(10**37),
            "zero": 0,
            "base64": "AAECAw==",
        },
        ttl=1_800_000_000,
    )
    records = [make.record(1)]
    recorder.insert_events(records, commit=make.commit(records, puts=(row,)))

    assert recorder.snapshot(LEAD, [row.key]).rows == {row.key: row}


def test_a_snapshot_holds_what_exists_of_what_is_named(recorder):
    row = make.row(count=1)
    records = stream(recorder, 1)
    head = make.written(make.commit(records))
    recorder.insert_events([], commit=make.commit(after=head, puts=(row,)))
    missing, receipt = keys.memory(LEAD, "purchase", "missing"), make.receipt(records[0])

    snapshot = recorder.snapshot(
        LEAD, iter([missing, row.key, row.key]), iter([receipt.key, "KEY#missing", receipt.key])
    )

    assert snapshot.rows == {row.key: row}
    assert snapshot.receipts == {receipt.key: receipt}
    assert snapshot.head is not None
    assert snapshot.head.rev == 2


def test_a_snapshot_of_nobody_is_empty(recorder):
    assert recorder.snapshot("nobody", [make.row().key], ["KEY#x"]) == Snapshot(None, {}, {})


def test_a_snapshot_may_name_more_rows_than_one_round_trip_reads(recorder):
    rows = [make.row(keys.memory(LEAD, "purchase", f"k{n:03}"), n=n) for n in range(150)]
    records = stream(recorder, 1)
    head = make.written(make.commit(records))
    for part in (rows[:90], rows[90:]):
        commit = make.commit(after=head, puts=tuple(part))
        recorder.insert_events([], commit=commit)
        head = make.written(commit)

    snapshot = recorder.snapshot(LEAD, [row.key for row in rows], [make.receipt(records[0]).key])

    assert snapshot.head == head
    assert list(snapshot.rows.values()) == rows
    assert len(snapshot.receipts) == 1


def test_a_receipt_is_read_by_its_key(recorder):
    receipt = Receipt("KEY#abc", LEAD, "event", 7, "nonce", "fingerprint")
    recorder.insert_events([], commit=Commit(head=PutHead(make.head(), 0), receipts=(receipt,)))

    assert recorder.receipt("KEY#abc") == receipt
    assert recorder.receipt("KEY#ab") is None


def test_identities_are_resolved_in_any_number(recorder):
    claims = [Identity(f"IDENTITY#org#web#{n}", LEAD) for n in range(120)]
    recorder.insert_events(
        [], commit=Commit(head=PutHead(make.head(), 0), identities=tuple(claims[:99]))
    )
    recorder.insert_events(
        [], commit=Commit(head=PutHead(make.head(rev=2), 1), identities=tuple(claims[99:]))
    )

    found = recorder.resolve([each.key for each in claims] + ["IDENTITY#org#web#x", claims[0].key])

    assert found == {each.key: LEAD for each in claims}
    assert recorder.resolve([]) == {}


def test_leads_of_an_organization_are_listed_each_once(recorder):
    mine = {f"lead-{n:02}" for n in range(6)}
    for lead in sorted(mine):
        stream(recorder, 1, lead=lead)
    for lead in ("theirs-1", "theirs-2"):
        put_head(recorder, lead, organization_id="org-two")
    put_head(recorder, "neighbour", organization_id=f"{make.ORGANIZATION}#0")
    put_head(recorder, "prefix", organization_id=make.ORGANIZATION[:-1])

    assert sorted(listed(recorder, make.ORGANIZATION, limit=4)) == sorted(mine)
    assert sorted(listed(recorder, make.ORGANIZATION, limit=6)) == sorted(mine)
    assert sorted(listed(recorder, "org-two", limit=1)) == ["theirs-1", "theirs-2"]
    assert listed(recorder, "org-three", limit=5) == []


def put_head(recorder, lead, *, organization_id):
    head = Head(
        lead=lead,
        organization_id=organization_id,
        version=0,
        projected=0,
        fold_version=1,
        rev=1,
    )
    recorder.insert_events([], commit=Commit(head=PutHead(head, 0)))


def listed(recorder, organization_id, *, limit):
    found, cursor = [], None
    while True:
        page = recorder.leads(organization_id, limit=limit, cursor=cursor)
        assert len(page.items) <= limit
        found += page.items
        cursor = page.cursor
        if cursor is None:
            return found


def test_a_lead_stays_listed_once_when_its_head_is_written_again(recorder):
    records = stream(recorder, 1)
    recorder.insert_events([], commit=make.commit(after=make.written(make.commit(records))))

    assert listed(recorder, make.ORGANIZATION, limit=5) == [LEAD]


def test_what_was_committed_is_visible_once_it_has_settled(recorder):
    records = stream(recorder, 2)

    recorder.settle()

    assert recorder.settle_s >= 0
    assert recorder.select_by_time(LEAD).items == records


def test_a_lead_may_have_any_name(recorder):
    names = ["a", "lead with spaces", "ação", "x" * 255]
    for lead in names:
        records = stream(recorder, 1, lead=lead)
        assert recorder.select_events(lead) == records
        assert recorder.select_by_time(lead).items == records

    assert sorted(listed(recorder, make.ORGANIZATION, limit=10)) == sorted(names)

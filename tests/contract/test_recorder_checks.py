"""Conditions on rows that a commit does not write: judged in its transaction."""

import pytest

from domain import keys
from domain.records import Absent, AbsentOrBelow, Check, Equal, Refused, Row, Snapshot
from tests.support import make
from tests.support.make import LEAD

LOCK = keys.Key("LOCK#one", "META")


def refusal(recorder, records, commit):
    with pytest.raises(Refused) as caught:
        recorder.insert_events(records, commit=commit)
    assert recorder.snapshot(LEAD) == Snapshot(None, {}, {})
    assert recorder.select_events(LEAD) == []
    return caught.value


HELD = [
    (None, Absent()),
    ({"token": "a"}, Equal("token", "a")),
    ({"token": 1}, Equal("token", 1)),
    ({"token": b"\x00\xff"}, Equal("token", b"\x00\xff")),
    (None, AbsentOrBelow("until", 5)),
    ({"until": 4}, AbsentOrBelow("until", 5)),
    ({"until": -1}, AbsentOrBelow("until", 5)),
    ({"until": "2026-01-01"}, AbsentOrBelow("until", "2026-01-02")),
    ({"until": b"\x01"}, AbsentOrBelow("until", b"\x02")),
]
BROKEN = [
    ({"token": "a"}, Absent()),
    (None, Equal("token", "a")),
    ({"token": "b"}, Equal("token", "a")),
    ({"other": "a"}, Equal("token", "a")),
    ({"token": 1}, Equal("token", "1")),
    ({"until": 5}, AbsentOrBelow("until", 5)),
    ({"until": 40}, AbsentOrBelow("until", 5)),
    ({"until": "2026-01-02"}, AbsentOrBelow("until", "2026-01-02")),
    ({"until": "é"}, AbsentOrBelow("until", "z")),
    ({"until": b"\xff"}, AbsentOrBelow("until", b"\x02")),
    ({"other": 1}, AbsentOrBelow("until", 5)),
]


def locked(table, cases):
    """One lock a case, and the check of each."""
    checks = []
    for number, (stored, condition) in enumerate(cases):
        key = keys.Key(f"LOCK#{number}", "META")
        if stored is not None:
            table.put(Row(key, stored))
        checks.append(Check(key, condition))
    return tuple(checks)


def test_a_commit_is_written_when_all_of_its_checks_hold(backend):
    records = [make.record(1)]
    checks = locked(backend.table, HELD)

    backend.recorder.insert_events(records, commit=make.commit(records, checks=checks))

    assert backend.recorder.select_events(LEAD) == records
    assert [backend.table.get(check.key) for check in checks] == [
        None if stored is None else Row(check.key, stored)
        for check, (stored, _) in zip(checks, HELD, strict=True)
    ]


def test_each_check_that_fails_refuses_the_commit(backend):
    checks = locked(backend.table, BROKEN)
    records = [make.record(1)]

    for check in checks:
        refused = refusal(backend.recorder, records, make.commit(records, checks=(check,)))
        assert refused.checks == (check.key,)
        assert (refused.receipts, refused.identities, refused.head) == ((), (), False)


@pytest.mark.beyond_moto("it cannot compare values of two types")
def test_values_of_two_types_have_no_order(backend):
    (check,) = locked(backend.table, [({"until": "4"}, AbsentOrBelow("until", 5))])
    records = [make.record(1)]

    refused = refusal(backend.recorder, records, make.commit(records, checks=(check,)))

    assert refused.checks == (check.key,)


def test_a_check_sees_the_expiry_of_a_lock_that_the_table_keeps_as_ttl(backend):
    backend.table.put(Row(LOCK, {"token": "a"}, ttl=1_800_000_000))
    records = [make.record(1)]
    held = make.commit(records, checks=(Check(LOCK, AbsentOrBelow("ttl", 1_800_000_000)),))
    run_out = make.commit(records, checks=(Check(LOCK, AbsentOrBelow("ttl", 1_800_000_001)),))

    assert refusal(backend.recorder, records, held).checks == (LOCK,)
    backend.recorder.insert_events(records, commit=run_out)

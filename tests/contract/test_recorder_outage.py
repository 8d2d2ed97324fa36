"""A store that cannot answer: every method says so, and nothing was written."""

import pytest

from domain.errors import Unavailable
from domain.records import Snapshot, Write
from tests.support import make
from tests.support.make import LEAD

ROW = make.row(count=1)

CALLS = {
    "snapshot": lambda backend: backend.recorder.snapshot(LEAD, [ROW.key], ["KEY#x"]),
    "select_events": lambda backend: backend.recorder.select_events(LEAD),
    "select_by_time": lambda backend: backend.recorder.select_by_time(LEAD),
    "raw_payload": lambda backend: backend.recorder.raw_payload(LEAD, 1),
    "resolve": lambda backend: backend.recorder.resolve(["IDENTITY#a#b#c"]),
    "receipt": lambda backend: backend.recorder.receipt("KEY#x"),
    "leads": lambda backend: backend.recorder.leads(make.ORGANIZATION, limit=1),
    "get": lambda backend: backend.table.get(ROW.key),
    "query": lambda backend: backend.table.query("P"),
    "query_index": lambda backend: backend.table.query_index("P"),
    "put": lambda backend: backend.table.put(ROW),
    "delete": lambda backend: backend.table.delete(ROW.key),
    "insert": lambda backend: backend.recorder.insert_events(*_events(), commit=_commit()),
    "insert bare": lambda backend: backend.recorder.insert_events(*_events()),
}


def _events():
    return ([make.record(1)],)


def _commit():
    return make.commit([make.record(1)], puts=(ROW,))


def test_every_method_says_that_the_store_cannot_answer(backend):
    with backend.outage():
        for name, call in CALLS.items():
            with pytest.raises(Unavailable) as caught:
                call(backend)
            assert caught.value.hint, name
            assert caught.value.retry_after_s >= 1, name

    assert backend.recorder.snapshot(LEAD, [ROW.key]) == Snapshot(None, {}, {})
    assert backend.recorder.select_events(LEAD) == []


def test_every_commit_of_a_call_is_told_that_the_store_cannot_answer(backend):
    writes = [Write([make.record(1)], _commit()), make.write(lead="lead-two")]
    with backend.outage():
        answers = backend.recorder.insert_many(writes)

    assert [isinstance(answer, Unavailable) for answer in answers] == [True, True]
    assert backend.recorder.snapshot(LEAD, [ROW.key]) == Snapshot(None, {}, {})
    assert backend.recorder.insert_many(writes) == [None, None]


def test_the_same_request_is_taken_after_the_outage(backend):
    with backend.outage(), pytest.raises(Unavailable):
        backend.recorder.insert_events(*_events(), commit=_commit())

    backend.recorder.insert_events(*_events(), commit=_commit())

    assert backend.recorder.select_events(LEAD) == [make.record(1)]
    assert backend.table.get(ROW.key) == ROW

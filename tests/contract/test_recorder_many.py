"""Many commits: in one call, and from many threads at once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest

from domain import keys
from domain.errors import LimitExceeded, Unavailable
from domain.records import Identity, Refused, Write
from tests.support import make
from tests.support.make import LEAD

THREADS = 16


def test_commits_of_one_call_are_answered_in_order_each_for_itself(backend):
    recorder = backend.recorder
    taken = make.write(lead="lead-taken")
    recorder.insert_events(taken.events, commit=taken.commit)
    row = make.row(keys.memory("lead-four", "purchase", "totals"), count=1)
    stale = make.write(2, lead="lead-taken", after=make.head("lead-taken", rev=7))
    good = make.write(lead="lead-four")
    huge = make.record(1, lead="lead-five", payload={"text": "x" * 500_000})
    writes = [
        make.write(lead="lead-one"),
        taken,
        make.write(lead="lead-two"),
        stale,
        Write(good.events, replace(good.commit, puts=(row,))),
        Write([huge], make.commit([huge])),
        make.write(lead="lead-six"),
    ]

    answers = recorder.insert_many(writes)

    assert [type(answer) for answer in answers] == [
        type(None),
        Refused,
        type(None),
        Refused,
        type(None),
        LimitExceeded,
        type(None),
    ]
    repeated, moved = answers[1], answers[3]
    assert isinstance(repeated, Refused)
    assert repeated.receipts == taken.commit.receipts
    assert isinstance(moved, Refused)
    assert (moved.receipts, moved.head) == ((), True)
    for write, answer in zip(writes, answers, strict=True):
        lead = str(write.events[0].originator_id)
        written = answer is None or write is taken
        assert (recorder.snapshot(lead).head is not None) is (written or write is stale)
    assert recorder.select_events("lead-taken") == taken.events
    assert recorder.select_events("lead-five") == []
    assert backend.table.get(row.key) == row


def test_a_call_without_commits_has_no_answers(recorder):
    assert recorder.insert_many([]) == []


def test_commits_of_one_call_see_each_others_claims(recorder):
    phone = keys.identity(make.ORGANIZATION, "whatsapp", "5511999990001")
    writes = [
        Write(write.events, replace(write.commit, identities=(Identity(phone, lead),)))
        for lead in ("lead-one", "lead-two", "lead-three")
        for write in [make.write(lead=lead)]
    ]

    answers = recorder.insert_many(writes)

    winners = [n for n, answer in enumerate(answers) if answer is None]
    assert len(winners) == 1
    owner = str(writes[winners[0]].events[0].originator_id)
    assert recorder.resolve([phone]) == {phone: owner}
    for answer in answers:
        assert answer is None or (
            isinstance(answer, Refused) and answer.identities == (Identity(phone, owner),)
        )


def race(act, *, threads=THREADS):
    """Run `act(number)` on as many threads, all at once, and return what each made of it."""
    start = threading.Barrier(threads)

    def run(number):
        start.wait()
        try:
            return act(number)
        except Refused as refused:
            return refused

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))


def patiently(recorder, records, commit):
    """Write as a caller does who is told that the store is busy: again, up to a point."""
    for _ in range(50):
        try:
            return recorder.insert_events(records, commit=commit)
        except Unavailable:
            continue
    raise AssertionError


@pytest.mark.concurrent
def test_of_sixteen_threads_on_one_receipt_one_wins_and_the_others_learn_who(recorder):
    shared = "external-one"

    def act(number):
        record = make.record(1, lead=f"lead-{number}", external_event_id=shared)
        commit = make.commit([record], receipts=(make.receipt(record, nonce=f"nonce-{number}"),))
        patiently(recorder, [record], commit)
        return commit.receipts[0]

    answers = race(act)

    won = [answer for answer in answers if not isinstance(answer, Refused)]
    assert len(won) == 1
    assert all(a.receipts == tuple(won) for a in answers if isinstance(a, Refused))
    assert recorder.receipt(won[0].key) == won[0]
    written = [f"lead-{n}" for n in range(THREADS) if recorder.snapshot(f"lead-{n}").head]
    assert written == [won[0].lead]


@pytest.mark.concurrent
def test_of_sixteen_threads_on_one_head_each_moves_it_once(recorder):
    refusals = []

    def act(number):
        while True:
            head = recorder.snapshot(LEAD).head
            sequence = 1 if head is None else head.version + 1
            record = make.record(sequence, external_event_id=f"external-{number}")
            try:
                patiently(recorder, [record], make.commit([record], after=head))
            except Refused as refused:
                refusals.append((refused.head, refused.receipts))
            else:
                return sequence

    assert sorted(race(act)) == list(range(1, THREADS + 1))
    assert set(refusals) <= {(True, ())}
    head = recorder.snapshot(LEAD).head
    assert (head.version, head.rev) == (THREADS, THREADS)
    stream = recorder.select_events(LEAD)
    assert [record.originator_version for record in stream] == list(range(1, THREADS + 1))
    assert len({record.envelope.external_event_id for record in stream}) == THREADS


@pytest.mark.concurrent
def test_of_sixteen_threads_with_one_rev_one_wins(recorder):
    records = [make.record(1)]
    recorder.insert_events(records, commit=make.commit(records))
    head = make.written(make.commit(records))
    row = make.row(by="nobody")

    def act(number):
        mine = replace(row, attributes={"by": f"thread-{number}"})
        patiently(recorder, [], make.commit(after=head, puts=(mine,)))
        return mine

    answers = race(act)

    won = [answer for answer in answers if not isinstance(answer, Refused)]
    assert len(won) == 1
    assert all(answer.head for answer in answers if isinstance(answer, Refused))
    assert recorder.snapshot(LEAD, [row.key]).rows == {row.key: won[0]}


@pytest.mark.concurrent
def test_a_snapshot_never_pairs_a_head_with_rows_of_another_commit(recorder):
    names = [make.row().key, keys.memory(LEAD, "purchase", "b")]
    commit = make.commit([make.record(1)], puts=tuple(make.row(name, n=1) for name in names))
    recorder.insert_events([make.record(1)], commit=commit)
    done, seen = threading.Event(), set()

    def read():
        while not done.is_set():
            with suppress(Unavailable):
                snapshot = recorder.snapshot(LEAD, names)
                values = {row.attributes["n"] for row in snapshot.rows.values()}
                seen.add((snapshot.head.rev, *values))

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for rev in range(2, 30):
            rows = tuple(make.row(name, n=rev) for name in names)
            commit = make.commit(after=make.written(commit), puts=rows)
            patiently(recorder, [], commit)
        done.set()
        for reader in readers:
            reader.result()

    assert {each for each in seen if len(each) != 2 or each[0] != each[1]} == set()


@pytest.mark.concurrent
def test_calls_of_many_commits_run_beside_each_other(recorder):
    def act(number):
        return recorder.insert_many([make.write(lead=f"lead-{number}-{n}") for n in range(5)])

    assert race(act, threads=4) == [[None] * 5] * 4
    assert len(recorder.leads(make.ORGANIZATION, limit=50).items) == 20

"""One file and more than one process: both write, and one may be killed."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from domain import keys
from tests.support import make
from tests.support.sqlite import on_sqlite

# Appends event after event to its lead, each with a row, and prints each sequence once it stands.
PROGRAM = """
import sys
from domain import keys
from tests.support import make
from tests.support.sqlite import on_sqlite

path, lead, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with on_sqlite(path) as factory:
    recorder, head = factory.application_recorder(), None
    for sequence in range(1, count + 1):
        records = [make.record(sequence, lead=lead)]
        row = make.row(keys.memory(lead, "purchase", "totals"), n=sequence)
        commit = make.commit(records, after=head, puts=(row,))
        recorder.insert_events(records, commit=commit)
        head = make.written(commit)
        print(sequence, flush=True)
"""


def appending(path, lead, count):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path), lead, str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "leads.db"


def test_processes_that_open_and_write_one_new_file_lose_nothing(path):
    writers = [appending(path, f"lead-{number}", 60) for number in range(3)]

    for writer in writers:
        out, err = writer.communicate(timeout=50)
        assert writer.returncode == 0, err
        assert out.split() == [str(number) for number in range(1, 61)]

    with on_sqlite(path) as factory:
        recorder = factory.application_recorder()
        for number in range(3):
            assert len(recorder.select_events(f"lead-{number}")) == 60
        assert recorder.max_notification_id() == 180


def test_a_process_that_is_killed_loses_nothing_it_was_told_is_written(path):
    for lead, lines in (("lead-one", 40), ("lead-two", 1), ("lead-three", 97)):
        with appending(path, lead, 100_000) as writer:
            assert writer.stdout is not None
            told = [int(writer.stdout.readline()) for _ in range(lines)]
            writer.kill()
            told += [int(line) for line in writer.stdout.read().split()]
        _check(path, lead, told)


def _check(path, lead, told):
    """What was told is there, and at most one commit more; no commit in part."""
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with on_sqlite(path) as factory:
        recorder, row = factory.application_recorder(), keys.memory(lead, "purchase", "totals")
        stream = recorder.select_events(lead)
        last = len(stream)
        assert last - told[-1] in {0, 1}
        assert [event.originator_version for event in stream] == list(range(1, last + 1))
        receipts = [make.receipt(make.record(n, lead=lead)).key for n in range(1, last + 2)]
        snapshot = recorder.snapshot(lead, [row], receipts)
        assert snapshot.head is not None
        assert (snapshot.head.version, snapshot.head.rev) == (last, last)
        assert snapshot.rows[row].attributes == {"n": last}
        assert len(snapshot.receipts) == last

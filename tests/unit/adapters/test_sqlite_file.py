"""The one file: opened, made, refused, locked, damaged, closed."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.sqlite import Factory, reading, schema
from adapters.sqlite.database import Database, Settings
from domain.errors import LeadError, Rejected, Unavailable
from domain.records import Identity, Snapshot, Write
from tests.support import make
from tests.support.make import LEAD
from tests.support.sqlite import on_a_faulty_disk, on_sqlite

ROW = make.row(count=1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "leads.db"


def insert(factory):
    write = make.write()
    commit = make.commit([make.record(1)], puts=(ROW,), identities=(Identity("IDENTITY#x", LEAD),))
    factory.application_recorder().insert_events(write.events, commit=commit)


def test_what_was_written_is_there_when_the_file_is_opened_again(path):
    with on_sqlite(path) as factory:
        insert(factory)
    with on_sqlite(path) as factory:
        assert factory.application_recorder().select_events(LEAD) == [make.record(1)]
        assert factory.state_table().get(ROW.key) == ROW


def test_a_new_file_says_whose_it_is_and_how_it_is_kept(path):
    with on_sqlite(path), closing(sqlite3.connect(path)) as other:
        assert other.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize(("setting", "level"), [("", 2), ("full", 2), ("FULL", 2), ("NORMAL", 1)])
def test_a_commit_is_as_durable_as_the_setting_says(path, setting, level):
    with on_sqlite(path, LEADS_SQLITE_SYNCHRONOUS=setting) as factory:
        writing = factory._database.writer._connection
        assert writing.execute("PRAGMA synchronous").fetchone() == (level,)


def test_a_private_store_is_nobody_elses_and_leaves_nothing_behind():
    with on_sqlite(":memory:") as one, on_sqlite(":memory:") as two:
        insert(one)
        assert two.application_recorder().select_events(LEAD) == []
        assert one.application_recorder().select_events(LEAD) == [make.record(1)]
        folders = [Path(each._database._path).parent for each in (one, two)]
        assert all(folder.exists() for folder in folders)
    assert not any(folder.exists() for folder in folders)


def refused(path, **env):
    with pytest.raises(Rejected) as caught:
        Factory({"LEADS_DB": str(path), **env})
    assert caught.value.hint
    return str(caught.value)


def test_a_file_of_a_newer_version_is_refused_and_left_alone(path):
    with on_sqlite(path):
        pass
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
        other.execute("PRAGMA journal_mode = DELETE")
    before = path.read_bytes()

    assert "newer version" in refused(path)
    assert path.read_bytes() == before


def test_a_database_of_another_application_is_refused_and_left_alone(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("CREATE TABLE theirs (a)")
        other.execute("PRAGMA user_version = 1")
    before = path.read_bytes()

    assert "another application" in refused(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_left_alone(path):
    path.write_text("name,amount\n" * 100)

    assert "not a database" in refused(path)
    assert path.read_text() == "name,amount\n" * 100


@pytest.mark.parametrize("name", ["missing/leads.db", "."])
def test_a_file_that_cannot_be_opened_is_refused(tmp_path, name):
    assert "cannot be opened" in refused(tmp_path / name)


@pytest.mark.parametrize(
    ("env", "setting"),
    [
        ({"LEADS_DB": ""}, "LEADS_DB"),
        ({"LEADS_SQLITE_SYNCHRONOUS": "OFF"}, "LEADS_SQLITE_SYNCHRONOUS"),
        ({"LEADS_SQLITE_BUSY_MS": "soon"}, "LEADS_SQLITE_BUSY_MS"),
        ({"LEADS_SQLITE_BUSY_MS": "-1"}, "LEADS_SQLITE_BUSY_MS"),
        ({"LEADS_SQLITE_BUSY_MS": "99999999999"}, "LEADS_SQLITE_BUSY_MS"),
    ],
)
def test_a_wrong_setting_is_refused_by_its_name(path, env, setting):
    with pytest.raises(Rejected, match=setting):
        Factory({"LEADS_DB": str(path), **env})
    assert not path.exists()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET payload = 'x'",
        "UPDATE receipts SET lead = 'x'",
        "UPDATE identities SET lead = 'x'",
        "DELETE FROM events",
        "DELETE FROM receipts",
        "DELETE FROM identities",
    ],
)
def test_nothing_of_the_log_can_be_edited_or_deleted(path, statement):
    with on_sqlite(path) as factory:
        insert(factory)
        with (
            closing(sqlite3.connect(path, isolation_level=None)) as other,
            pytest.raises(sqlite3.IntegrityError, match="never"),
        ):
            other.execute(statement)
        recorder = factory.application_recorder()
        assert recorder.select_events(LEAD) == [make.record(1)]
        assert recorder.resolve(["IDENTITY#x"]) == {"IDENTITY#x": LEAD}
        assert recorder.receipt(make.receipt(make.record(1)).key) == make.receipt(make.record(1))


def test_a_file_that_is_kept_locked_is_unavailable_until_it_is_not(path):
    with (
        on_sqlite(path, LEADS_SQLITE_BUSY_MS="50") as factory,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="locked"):
            insert(factory)
        with pytest.raises(Unavailable, match="locked"):
            factory.state_table().put(ROW)
        assert factory.application_recorder().snapshot(LEAD, [ROW.key]) == Snapshot(None, {}, {})
        other.execute("ROLLBACK")
        insert(factory)


def test_a_new_file_that_is_kept_locked_is_unavailable(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Unavailable, match="locked"):
            Factory({"LEADS_DB": str(path), "LEADS_SQLITE_BUSY_MS": "50"})


VERBS = [
    "BEGIN",
    "SAVEPOINT",
    "SELECT",
    "INSERT INTO heads",
    "INSERT INTO identities",
    "INSERT INTO receipts",
    "INSERT INTO events",
    "INSERT INTO rows",
    "RELEASE",
    "COMMIT",
]


@pytest.mark.parametrize("verb", VERBS)
def test_wherever_the_disk_fails_nothing_is_half_written(path, verb):
    with on_a_faulty_disk(path) as (factory, disk):
        recorder, table = factory.application_recorder(), factory.state_table()
        disk.fail(verb)
        if verb == "SELECT":
            with pytest.raises(Unavailable):
                recorder.select_events(LEAD)
        else:
            with pytest.raises(Unavailable):
                insert(factory)
        disk.mend()
        assert recorder.snapshot(LEAD, [ROW.key]) == Snapshot(None, {}, {})
        assert recorder.resolve(["IDENTITY#x"]) == {}
        insert(factory)
        assert table.get(ROW.key) == ROW


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_FULL, "disk is full"),
        (sqlite3.SQLITE_CORRUPT, "damaged"),
        (sqlite3.SQLITE_BUSY, "locked"),
        (sqlite3.SQLITE_IOERR | (4 << 8), "cannot be used"),
    ],
)
def test_what_is_wrong_with_the_file_is_told_without_words_of_sqlite(path, code, words):
    with on_a_faulty_disk(path) as (factory, disk):
        disk.fail("COMMIT", code=code)
        with pytest.raises(Unavailable) as caught:
            insert(factory)
    assert words in str(caught.value)
    assert "made to fail" not in str(caught.value)


def test_every_commit_of_a_transaction_that_fails_is_told_so(path):
    with on_a_faulty_disk(path) as (factory, disk):
        disk.fail("COMMIT")
        answers = factory.application_recorder().insert_many(
            [make.write(lead="one"), make.write(lead="two")]
        )
    assert [isinstance(answer, Unavailable) for answer in answers] == [True, True]


def test_a_closed_file_answers_nobody_and_closes_twice(path):
    with on_sqlite(path) as factory:
        recorder = factory.application_recorder()
        insert(factory)
        recorder.close()
        recorder.close()
        for call in (lambda: recorder.select_events(LEAD), lambda: insert(factory)):
            with pytest.raises(LeadError, match="closed"):
                call()
    assert sorted(each.name for each in path.parent.iterdir()) == ["leads.db"]


QUERIES = [
    (reading._EVENTS, 4),
    (reading._EVENTS_BY_TIME, 6),
    (reading._EVENTS_OF_TYPE, 7),
    (reading._ROWS, 4),
    (reading._INDEXED_ROWS, 8),
    ({False: reading._LEADS}, 3),
]


@pytest.mark.parametrize(("queries", "values"), QUERIES)
def test_no_list_scans_a_table_or_sorts(path, queries, values):
    with on_sqlite(path), closing(sqlite3.connect(path)) as other:
        for query in queries.values():
            plan = other.execute(f"EXPLAIN QUERY PLAN {query}", ("x",) * values).fetchall()
            steps = [step[-1] for step in plan]
            assert len(steps) == 1, steps
            assert steps[0].startswith("SEARCH"), steps
            assert "INDEX" in steps[0], steps


def test_a_commit_that_breaks_in_the_middle_is_taken_back_alone(path):
    beyond_sqlite = replace(ROW, ttl=2**70)
    broken = Write([make.record(1)], make.commit([make.record(1)], puts=(beyond_sqlite,)))
    with on_sqlite(path) as factory:
        recorder = factory.application_recorder()

        answers = recorder.insert_many([broken, make.write(lead="lead-two")])

        assert [type(answer) for answer in answers] == [OverflowError, type(None)]
        assert recorder.snapshot(LEAD, [ROW.key]) == Snapshot(None, {}, {})
        assert recorder.select_events(LEAD) == []
        assert len(recorder.select_events("lead-two")) == 1


@pytest.mark.parametrize("statement", ["PRAGMA temp_store", "PRAGMA query_only", "COMMIT"])
def test_a_connection_that_fails_is_closed_and_not_left_to_the_garbage_collector(path, statement):
    open_now: set[int] = set()
    broken: list[bool] = []

    class Counted(sqlite3.Connection):
        def __init__(self, *how, **more):
            super().__init__(*how, **more)
            open_now.add(id(self))

        def execute(self, sql, *parameters):
            if broken and sql.startswith(statement):
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(sql, *parameters)

        def close(self):
            open_now.discard(id(self))
            super().close()

    database = Database(Settings(path=str(path), connection=Counted))
    broken.append(True)
    kept = set(open_now)

    with pytest.raises(Unavailable), database.reading(at_one_moment=True) as connection:
        connection.execute("SELECT 1")

    assert open_now == kept
    broken.clear()
    with database.reading(at_one_moment=True) as connection:
        connection.execute("SELECT 1")
    database.close()
    assert not open_now

"""Writing together: what waits shares one commit, and each caller has its own answer."""

import signal
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from adapters.sqlite.writer import Writer, _Call
from domain.errors import Unavailable, Uncertain


class Counting(sqlite3.Connection):
    """Counts transactions, and fails the commit it is told to fail."""

    commits = 0
    fails = False

    def execute(self, sql, *parameters):
        if sql == "COMMIT":
            if self.fails:
                raise sqlite3.OperationalError("made to fail")
            self.commits += 1
        return super().execute(sql, *parameters)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "notes.db"


@pytest.fixture
def connection(path):
    made = sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=Counting)
    made.execute("PRAGMA journal_mode = WAL")
    made.execute("CREATE TABLE notes (text)")
    with closing(made):
        yield made


@pytest.fixture
def writer(connection):
    return Writer(connection)


def note(text):
    return lambda connection: connection.execute("INSERT INTO notes VALUES (?)", (text,)).lastrowid


def notes(path):
    with closing(sqlite3.connect(path)) as reader:
        return [text for (text,) in reader.execute("SELECT text FROM notes ORDER BY rowid")]


def waiting(writer, count):
    """Wait until so many callers have left their work in the queue."""
    pause = threading.Event()
    while len(writer._waiting) < count:
        pause.wait(0.001)


class Held:
    """A work that is in the middle of a transaction until it is let go."""

    def __init__(self, error=None):
        self.begun, self.go_on, self.error = threading.Event(), threading.Event(), error

    def __call__(self, connection):
        self.begun.set()
        assert self.go_on.wait(20)
        if self.error:
            raise self.error
        return "held"


def together(writer, held, works):
    """Give works while another transaction is held; return what each caller was told."""

    def ask(work):
        try:
            return writer.run([work])
        except (Unavailable, Uncertain) as error:
            return error

    with ThreadPoolExecutor(len(works) + 1) as pool:
        first = pool.submit(ask, held)
        assert held.begun.wait(20)
        others = [pool.submit(ask, work) for work in works]
        waiting(writer, len(works))
        held.go_on.set()
        return first.result(), [other.result() for other in others]


def test_all_that_waits_shares_one_commit(writer, connection, path):
    held = Held()

    first, others = together(writer, held, [note(f"note {n}") for n in range(12)])

    assert first == ["held"]
    assert sorted(answer for (answer,) in others) == list(range(1, 13))
    assert connection.commits == 2
    assert len(notes(path)) == 12


def test_a_caller_alone_has_a_commit_of_its_own(writer, connection, path):
    assert writer.run([note("a"), note("b")]) == [1, 2]
    assert writer.run([note("c")]) == [3]

    assert connection.commits == 2
    assert notes(path) == ["a", "b", "c"]


def test_what_was_answered_is_durable_before_the_answer(writer, path):
    for number in range(5):
        writer.run([note(str(number))])
        assert notes(path)[-1] == str(number)


def test_a_work_that_raises_answers_for_itself_alone(writer, path):
    def bad(_):
        raise LookupError("bad")

    answers = writer.run([note("a"), bad, note("b")])

    assert [type(answer) for answer in answers] == [int, LookupError, int]
    assert notes(path) == ["a", "b"]


def test_a_statement_that_is_wrong_answers_for_itself_alone(writer, path):
    answers = writer.run([note("a"), note(object()), note("b")])

    assert [type(answer) for answer in answers] == [int, sqlite3.ProgrammingError, int]
    assert notes(path) == ["a", "b"]


def test_a_commit_that_fails_is_told_to_everyone_in_it(writer, connection, path):
    held = Held()
    connection.fails = True

    first, others = together(writer, held, [note("a"), note("b")])
    connection.fails = False

    assert isinstance(first, Unavailable)
    assert [isinstance(other, Unavailable) for other in others] == [True, True]
    assert notes(path) == []
    assert writer.run([note("c")]) == [1]
    assert notes(path) == ["c"]


def test_who_is_interrupted_leaves_the_queue_to_the_others(writer, path):
    held = Held(KeyboardInterrupt())
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(writer.run, [note("lost"), held])
        assert held.begun.wait(20)
        other = pool.submit(writer.run, [note("kept")])
        waiting(writer, 1)
        held.go_on.set()
        with pytest.raises(KeyboardInterrupt):
            first.result()
        assert other.result() == [1]
    assert notes(path) == ["kept"]


def test_who_shares_a_transaction_with_one_that_is_interrupted_is_told(writer, path):
    def interrupt(_):
        raise KeyboardInterrupt

    held = Held()
    answers = []

    def ask(work):
        try:
            answers.append(writer.run([work]))
        except (KeyboardInterrupt, Uncertain) as error:
            answers.append(type(error))

    with ThreadPoolExecutor(3) as pool:
        pool.submit(ask, held)
        assert held.begun.wait(20)
        pool.submit(ask, note("mine"))
        waiting(writer, 1)
        pool.submit(ask, interrupt)
        waiting(writer, 2)
        held.go_on.set()

    assert answers.count(["held"]) == 1
    # Whoever of the two had the turn raises the interrupt; the other hears that it was one.
    assert {KeyboardInterrupt, Uncertain} == {each for each in answers if each != ["held"]}
    assert notes(path) == []


def test_who_is_interrupted_while_it_waits_takes_its_work_along(writer, path):
    held, main = Held(), threading.get_ident()
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(writer.run, [held])
        assert held.begun.wait(20)

        def interrupt_and_follow():
            waiting(writer, 1)
            signal.pthread_kill(main, signal.SIGINT)
            return writer.run([note("kept")])

        other = pool.submit(interrupt_and_follow)
        with pytest.raises(KeyboardInterrupt):
            writer.run([note("left")])
        held.go_on.set()
        assert first.result() == ["held"]
        assert other.result() == [1]
    assert notes(path) == ["kept"]
    assert writer.run([note("later")]) == [2]


def test_who_is_interrupted_as_it_gets_the_lead_hands_it_on(writer, path):
    held, stray = Held(), _Call([note("left")])
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(writer.run, [held])
        assert held.begun.wait(20)
        writer._joins(stray)
        other = pool.submit(writer.run, [note("kept")])
        waiting(writer, 2)
        held.go_on.set()
        assert first.result() == ["held"]
        assert stray.woken.acquire(timeout=20)
        assert stray.leads
        writer._leave(stray)
        assert other.result() == [1]
    assert notes(path) == ["kept"]


def test_more_than_one_transaction_holds_is_written_in_several(
    writer, connection, path, monkeypatch
):
    monkeypatch.setattr("adapters.sqlite.writer._MOST_CALLS", 5)
    held = Held()

    _, others = together(writer, held, [note(str(n)) for n in range(12)])

    assert len(others) == 12
    assert connection.commits == 1 + 3
    assert sorted(map(int, notes(path))) == list(range(12))


def test_a_closed_writer_writes_nothing(writer, path):
    writer.close()

    with pytest.raises(Unavailable, match="closed"):
        writer.run([note("a")])
    assert notes(path) == []

"""Appending on SQLite, against raw sqlite3 writing the same rows in one durable transaction."""

import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from eventsourcing.persistence import StoredEvent

from adapters.sqlite import Factory
from adapters.sqlite.committing import (
    _PUT_EVENT,
    _PUT_FIRST_HEAD,
    _PUT_IDENTITY,
    _PUT_RECEIPT,
    PUT_ROW,
)
from adapters.sqlite.preparing import Prepared, measured
from domain.event import NewEvent
from domain.records import Commit, Write
from handlers.bootstrap import App
from tests.bench.measuring import Result, at_least, in_turns, rate
from tests.bench.stories import an_app, facts
from tests.support import make

ROUNDS = 7
SIZE = 250


def run() -> Iterator[Result]:
    with an_app() as app:
        yield from _single_caller(app)
        yield _crowd(app)
        yield from _at_the_port(app)


def _single_caller(app: App) -> Iterator[Result]:
    """Compare one caller with the raw engine: the whole of an append, and its write alone."""
    chunks = _chunks(app, "alone")
    folder = app.settings.db.parent
    raw, port = _RawStore(folder / "raw.db"), _RawStore(folder / "port.db").factory()
    commits = _Commits(app)

    def whole(_: int) -> float:
        chunk = next(chunks)
        commits.clear()
        return rate(len(chunk), lambda: [app.log.append([fact]) for fact in chunk])

    def write_alone(_: int) -> float:
        recorder = port.application_recorder()
        return rate(
            len(commits.seen),
            lambda: [recorder.insert_events(*each[:1], commit=each[1]) for each in commits.seen],
        )

    def engine(_: int) -> float:
        written = [measured(*each) for each in commits.seen]
        return rate(len(written), lambda: raw.write_all(written))

    with commits:
        rounds = [(whole(each), write_alone(each), engine(each)) for each in range(ROUNDS)]
    appended, inserted, engine_rate = (median(each) for each in zip(*rounds, strict=True))
    more = {"raw_transactions_per_s": round(engine_rate), "rows_each": commits.rows_each()}
    yield at_least(
        "append at the port: one event with its rows",
        "x raw sqlite3",
        median(one / other for _, one, other in rounds),
        0.6,
        events_per_s=round(inserted),
        **more,
    )
    yield at_least(
        "append: snapshot, fold and write of one event",
        "x raw sqlite3 that only writes",
        median(one / other for one, _, other in rounds),
        0.6,
        events_per_s=round(appended),
        **more,
    )


def _crowd(app: App) -> Result:
    chunks = _chunks(app, "crowd")

    def alone(_: int) -> float:
        chunk = next(chunks)
        return rate(len(chunk), lambda: [app.log.append([fact]) for fact in chunk])

    # A server keeps its threads, and each of them its connection.
    with ThreadPoolExecutor(64) as threads:

        def crowd(_: int) -> float:
            chunk = next(chunks)
            return rate(
                len(chunk), lambda: list(threads.map(lambda fact: app.log.append([fact]), chunk))
            )

        crowd(0)
        many, single, gain = in_turns(ROUNDS, crowd, alone)
    return at_least(
        "append: snapshot, fold and write, 64 callers",
        "x one caller",
        gain,
        1.4,
        events_per_s=round(many),
        one_caller_events_per_s=round(single),
    )


def _at_the_port(app: App) -> Iterator[Result]:
    """Compare commits that share a disk write with commits that come one by one."""
    numbers = iter(range(1_000_000))
    store = app.log.store

    def writes(count: int) -> list[Write]:
        return [make.write(lead=f"port-{next(numbers)}") for _ in range(count)]

    def insert(each: Write) -> None:
        store.insert_events(each.events, commit=each.commit)

    def one_by_one(_: int) -> float:
        each = writes(250)
        return rate(len(each), lambda: list(map(insert, each)))

    def batches(_: int) -> float:
        parts = [writes(100) for _ in range(5)]
        return rate(500, lambda: [store.insert_many(part) for part in parts])

    with ThreadPoolExecutor(64) as threads:

        def crowd(_: int) -> float:
            each = writes(1000)
            return rate(len(each), lambda: list(threads.map(insert, each)))

        crowd(0)
        many, one, gain = in_turns(ROUNDS, crowd, one_by_one)
    rates = {"commits_per_s": round(many), "one_by_one_per_s": round(one)}
    yield at_least("append at the port: 64 callers", "x one by one", gain, 1.4, **rates)
    many, one, gain = in_turns(ROUNDS, batches, one_by_one)
    rates = {"commits_per_s": round(many), "one_by_one_per_s": round(one)}
    yield at_least("append at the port: batches of 100", "x one by one", gain, 3.0, **rates)


def _chunks(app: App, prefix: str) -> Iterator[list[NewEvent]]:
    """Yield facts as they come in: of many leads, one after the other."""
    number = 0
    while True:
        pool = facts(app, leads=200, prefix=f"{prefix}-{number}-")
        Random(number).shuffle(pool)
        for start in range(0, len(pool) - SIZE, SIZE):
            yield pool[start : start + SIZE]
        number += 1


class _Commits:
    """What the log writes, so that the peer writes the same."""

    def __init__(self, app: App) -> None:
        self._store: Any = app.log.store
        self.seen: list[tuple[Sequence[StoredEvent], Commit]] = []
        self._rows: list[int] = []

    def __enter__(self) -> None:
        insert = self._store.insert_events

        def recorded(events: Sequence[StoredEvent], *, commit: Commit, **more: Any) -> Any:
            self.seen.append((events, commit))
            self._rows.append(2 * len(events) + len(commit.puts) + 1)
            return insert(events, commit=commit, **more)

        self._store.insert_events = recorded

    def __exit__(self, *_: object) -> None:
        del self._store.insert_events

    def clear(self) -> None:
        self.seen.clear()

    def rows_each(self) -> float:
        return round(sum(self._rows) / len(self._rows), 1)


class _RawStore:
    """The peer: the same tables and indexes, and nothing but the statements that write the rows."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.factory().close()
        self._connection = sqlite3.connect(file, isolation_level=None)
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute("PRAGMA wal_autocheckpoint=4000")

    def factory(self) -> Factory:
        return Factory({"LEADS_DB": str(self._file)})

    def write_all(self, commits: list[Prepared]) -> None:
        execute, executemany = self._connection.execute, self._connection.executemany
        for each in commits:
            execute("BEGIN IMMEDIATE")
            executemany(_PUT_IDENTITY, each.commit.identities)
            executemany(_PUT_RECEIPT, each.commit.receipts)
            executemany(_PUT_EVENT, each.events)
            executemany(PUT_ROW, each.rows)
            execute(_PUT_HEAD, each.head)
            execute("COMMIT")


_PUT_HEAD = _PUT_FIRST_HEAD.replace("INSERT", "INSERT OR REPLACE")

"""Appending on SQLite, against raw sqlite3 writing the same rows in one durable transaction."""

import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from eventsourcing.persistence import StoredEvent

from adapters.sqlite.committing import (
    _PUT_EVENT,
    _PUT_FIRST_HEAD,
    _PUT_IDENTITY,
    _PUT_RECEIPT,
    PUT_ROW,
)
from adapters.sqlite.preparing import Prepared, measured
from domain.event import NewEvent
from domain.records import Commit
from handlers.bootstrap import App, build
from handlers.settings import read_settings
from tests.bench.measuring import Result, at_least, in_turns, rate
from tests.bench.stories import an_app, facts
from tests.support import make

ROUNDS = 7
SIZE = 250


def run() -> Iterator[Result]:
    with an_app() as app:
        yield _single_caller(app)
        yield _crowd(app)
        yield _batches_at_the_port(app)


def _single_caller(app: App) -> Result:
    chunks = _chunks(app, "alone")
    raw = _RawStore(app.settings.db.with_name("raw.db"))
    commits = _Commits(app)

    def ours(_: int) -> float:
        chunk = next(chunks)
        commits.clear()
        return rate(len(chunk), lambda: [app.log.append([fact]) for fact in chunk])

    def peer(_: int) -> float:
        written = [measured(*each) for each in commits.seen]
        return rate(len(written), lambda: raw.write_all(written))

    with commits:
        own, other, ratio = in_turns(ROUNDS, ours, peer)
    return at_least(
        "append: one event with its rows",
        "x raw sqlite3",
        ratio,
        0.6,
        events_per_s=round(own),
        raw_transactions_per_s=round(other),
        rows_each=round(commits.rows_each(), 1),
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
        "append: 64 callers beside each other",
        "x one caller",
        gain,
        1.4,
        events_per_s=round(many),
        one_caller_events_per_s=round(single),
    )


def _batches_at_the_port(app: App) -> Result:
    numbers = iter(range(1_000_000))

    def batches(_: int) -> float:
        parts = [[make.write(lead=f"many-{next(numbers)}") for _ in range(100)] for _ in range(5)]
        return rate(500, lambda: [app.log.store.insert_many(part) for part in parts])

    def single(_: int) -> float:
        writes = [make.write(lead=f"one-{next(numbers)}") for _ in range(250)]
        return rate(
            250,
            lambda: [
                app.log.store.insert_events(each.events, commit=each.commit) for each in writes
            ],
        )

    many, one, gain = in_turns(ROUNDS, batches, single)
    return at_least(
        "append: batches of 100 at the port",
        "x one by one",
        gain,
        3.0,
        commits_per_s=round(many),
        one_by_one_per_s=round(one),
    )


def _chunks(app: App, prefix: str) -> Iterator[list[NewEvent]]:
    number = 0
    while True:
        pool = facts(app, leads=80, prefix=f"{prefix}-{number}-")
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
        return sum(self._rows) / len(self._rows)


class _RawStore:
    """The peer: the same tables and indexes, and nothing but the statements that write the rows."""

    def __init__(self, file: Path) -> None:
        build(read_settings({}, file=file.with_name("none.toml"), db=file)).close()
        self._connection = sqlite3.connect(file, isolation_level=None)
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute("PRAGMA wal_autocheckpoint=4000")

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

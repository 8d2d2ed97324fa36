"""The one writing connection: whoever writes together pays for the disk together.

A caller leaves its work in a queue and waits for its turn to write. Whoever gets the turn does
everything that waits, in one transaction with one commit, so most find their work done when
their own turn comes. Alone, a caller does its own work and wakes nobody.
"""

import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

from adapters.sqlite.outcomes import failed
from domain.errors import LeadError, Unavailable, Uncertain

T = TypeVar("T")

Work = Callable[[sqlite3.Connection], T]
"""Writes in a transaction that somebody else ends. If it raises, it has undone what it wrote."""

_MOST_CALLS: Final = 256
"""In one transaction, so that nobody's answer waits for an endless queue."""

_OF_ONE_WORK: Final = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.DataError)
"""What SQLite raises about one statement; any other error is about the file."""


class _Call(Generic[T]):
    __slots__ = ("answers", "done", "error", "works")

    def __init__(self, works: Sequence[Work[T]]) -> None:
        self.works = works
        self.answers: list[T | Exception] = []
        self.error: LeadError | None = None
        self.done = False


class Writer:
    """Runs works in transactions of a connection, which it owns."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._turn = threading.Lock()
        self._waiting: deque[_Call[Any]] = deque()
        self._closed = False

    def run(self, works: Sequence[Work[T]]) -> list[T | Exception]:
        """Do works in their order, in one transaction; each is answered for itself.

        Returns:
            What each work returned or raised, once all of them are durable.

        Raises:
            Unavailable: nothing of any of them was written.
            Uncertain: the process is being interrupted.
        """
        call = _Call(works)
        self._waiting.append(call)
        with self._turn:
            while not call.done:
                self._write_waiting()
        if call.error is not None:
            raise call.error
        return call.answers

    def close(self) -> None:
        """Let what is being written be finished, then close the connection."""
        with self._turn:
            self._closed = True
            self._connection.close()

    def _write_waiting(self) -> None:
        calls = [self._waiting.popleft() for _ in range(min(_MOST_CALLS, len(self._waiting)))]
        error: LeadError | None = Uncertain(
            "The process was interrupted while it wrote.", hint="Receipts tell what was written."
        )
        try:
            error = self._write(calls)
        finally:
            for call in calls:
                call.error = error
                call.done = True

    def _write(self, calls: Sequence[_Call[Any]]) -> LeadError | None:
        """Write the calls in one transaction; return why nothing of it was written."""
        if self._closed:
            return Unavailable("The database is closed.")
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            for call in calls:
                call.answers = [_answer(connection, work) for work in call.works]
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            return failed(error)
        finally:
            # Of a COMMIT that went through nothing is left to roll back.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        return None


def _answer(connection: sqlite3.Connection, work: Work[T]) -> T | Exception:
    try:
        return work(connection)
    except _OF_ONE_WORK as error:
        return error
    except sqlite3.Error:
        raise
    except Exception as error:  # noqa: BLE001 - it is handed to whoever gave the work
        return error

"""The one writing connection: whoever writes together pays for the disk together.

A caller leaves its work in a queue. If nobody leads, it leads: it does everything that waits, in
one transaction with one commit. Whoever comes meanwhile waits to be woken, either with its work
done or to lead next: once, so that many callers do not crowd around one lock. Alone, a caller does
its own work and wakes nobody.
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
    __slots__ = ("answers", "done", "error", "leads", "woken", "works")

    def __init__(self, works: Sequence[Work[T]]) -> None:
        self.works = works
        self.answers: list[T | Exception] = []
        self.error: LeadError | None = None
        self.done = False
        self.leads = False
        self.woken = threading.Lock()
        self.woken.acquire()


class Writer:
    """Runs works in transactions of a connection, which it owns."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._gate = threading.Lock()
        """Held for moments, around what follows; never while something is written."""
        self._waiting: deque[_Call[Any]] = deque()
        self._is_led = False
        self._is_closed = False

    def run(self, works: Sequence[Work[T]]) -> list[T | Exception]:
        """Do works in their order, in one transaction; each is answered for itself.

        Returns:
            What each work returned or raised, once all of them are durable.

        Raises:
            Unavailable: nothing of any of them was written.
            Uncertain: the process is being interrupted.
        """
        call = _Call(works)
        if not self._joins(call):
            raise Unavailable("The database is closed.")
        self._finish(call)
        if call.error is not None:
            raise call.error
        return call.answers

    def close(self) -> None:
        """Let what waits be written, then close the connection."""
        last: _Call[None] = _Call(())
        if self._joins(last, closes=True):
            self._finish(last)
            self._connection.close()

    def _joins(self, call: _Call[Any], *, closes: bool = False) -> bool:
        """Put a call into the queue, in the lead if nobody has it; False if it is closed."""
        with self._gate:
            if self._is_closed:
                return False
            self._is_closed = closes
            self._waiting.append(call)
            call.leads = not self._is_led
            self._is_led = True
            return True

    def _finish(self, call: _Call[Any]) -> None:
        """Return when a call is done, by others or by leading."""
        try:
            if not call.leads:
                call.woken.acquire()
            if not call.done:
                self._lead()
        except BaseException:
            self._leave(call)
            raise

    def _lead(self) -> None:
        """Write what waits, and hand the lead on."""
        calls: list[_Call[Any]] = []
        error: LeadError | None = Uncertain(
            "The process was interrupted while it wrote.", hint="Receipts tell what was written."
        )
        try:
            with self._gate:
                while self._waiting and len(calls) < _MOST_CALLS:
                    calls.append(self._waiting.popleft())
            error = self._write(calls)
        finally:
            self._hand_on()
            for call in calls:
                call.error = error
                call.done = True
                call.woken.release()

    def _hand_on(self) -> None:
        with self._gate:
            following = self._waiting[0] if self._waiting else None
            self._is_led = following is not None
            if following is not None:
                following.leads = True
                following.woken.release()

    def _leave(self, call: _Call[Any]) -> None:
        """Give up a call whose caller was interrupted, and the lead if it has it."""
        with self._gate:
            waits = call in self._waiting
            if waits:
                self._waiting.remove(call)
        if waits and call.leads:
            self._hand_on()

    def _write(self, calls: Sequence[_Call[Any]]) -> LeadError | None:
        """Write the calls in one transaction; return why nothing of it was written."""
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

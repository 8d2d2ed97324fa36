"""One file: its connections, and how they are set.

Readers see the last commit and never wait for a writer (WAL); each borrows a connection for the
time it reads. All writes of this process go through one connection (`writer`).
"""

import sqlite3
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from adapters.sqlite.outcomes import failed, unopened
from adapters.sqlite.schema import prepare
from adapters.sqlite.writer import Writer
from domain.errors import Unavailable

PRIVATE: Final = ":memory:"
"""Names a store that nobody else sees and that is gone when it is closed."""

_WAL_PAGES: Final = 4000
"""After how many pages of WAL they are copied into the file; pages written often are copied once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a file is used. With `synchronous` NORMAL a power cut may take the last commits."""

    path: str
    synchronous: Literal["FULL", "NORMAL"] = "FULL"
    busy_ms: int = 5000
    """How long to wait for another process that writes."""
    connection: type[sqlite3.Connection] = sqlite3.Connection
    """The class of connections."""


class Database:
    """The file, open.

    Raises:
        Rejected: the file is none of ours, or cannot be opened.
        Unavailable: another process keeps it locked.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._path, self._synchronous = settings.path, str(settings.synchronous)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if settings.path == PRIVATE:
            self._folder = tempfile.TemporaryDirectory(prefix="leads-")
            self._path, self._synchronous = str(Path(self._folder.name) / "leads.db"), "OFF"
        self._idle: deque[sqlite3.Connection] = deque()
        self._closed = False
        self.planning = threading.Lock()
        self.writer = Writer(self._opened())

    @contextmanager
    def reading(self, *, at_one_moment: bool = False) -> Iterator[sqlite3.Connection]:
        """Lend a connection; with `at_one_moment` all that is read on it is of one commit.

        Raises:
            Unavailable: the store cannot answer.
        """
        if self._closed:
            raise Unavailable("The database is closed.")
        try:
            connection = self._borrowed()
            try:
                if at_one_moment:
                    connection.execute("BEGIN")
                yield connection
            finally:
                self._give_back(connection)
        except sqlite3.Error as error:
            raise failed(error) from error

    def close(self) -> None:
        """Finish what is being written and close every connection."""
        if self._closed:
            return
        self._closed = True
        self.writer.close()
        self._close_idle()
        if self._folder is not None:
            self._folder.cleanup()

    def _opened(self) -> sqlite3.Connection:
        try:
            connection = self._connect()
            with _closed_if_it_fails(connection):
                prepare(connection, wait_s=self._settings.busy_ms / 1000)
                connection.execute(f"PRAGMA synchronous = {self._synchronous}")
                connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
        except sqlite3.Error as error:
            raise unopened(error) from error
        return connection

    def _borrowed(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect("PRAGMA query_only = 1")

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            with _closed_if_it_fails(connection):
                connection.execute("COMMIT")
        self._idle.append(connection)
        if self._closed:
            # It was lent when the database closed.
            self._close_idle()

    def _close_idle(self) -> None:
        with suppress(IndexError):
            while True:
                self._idle.pop().close()

    def _connect(self, *setting_up: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path,
            timeout=self._settings.busy_ms / 1000,
            isolation_level=None,
            check_same_thread=False,
            factory=self._settings.connection,
        )
        with _closed_if_it_fails(connection):
            # What a savepoint may have to undo stays in memory.
            for statement in ("PRAGMA temp_store = MEMORY", *setting_up):
                connection.execute(statement)
        return connection


@contextmanager
def _closed_if_it_fails(connection: sqlite3.Connection) -> Iterator[None]:
    """Close a connection that nobody will have, rather than leave it to the garbage collector."""
    try:
        yield
    except BaseException:
        connection.close()
        raise

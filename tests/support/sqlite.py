"""The SQLite adapter on a file of a test's own, and what a disk may do to it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eventsourcing.persistence import InfrastructureFactory

from adapters.sqlite import Factory


@contextmanager
def on_sqlite(path: Path | str, **env: str) -> Iterator[Factory]:
    """Lend a factory on a file, found as the service finds it."""
    factory = InfrastructureFactory.construct(
        {"PERSISTENCE_MODULE": "adapters.sqlite", "LEADS_DB": str(path), **env}
    )
    assert isinstance(factory, Factory)
    try:
        yield factory
    finally:
        factory.close()


@contextmanager
def on_a_faulty_disk(path: Path | str, **env: str) -> Iterator["tuple[Factory, Disk]"]:
    """Lend a factory on a file, and the disk under it."""
    disk = Disk()

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            disk.turn(sql)
            return super().execute(sql, *parameters)

        def executemany(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            disk.turn(sql)
            return super().executemany(sql, *parameters)

    class OnIt(Factory):
        connection = Connection

    factory = OnIt({"LEADS_DB": str(path), **env})
    try:
        yield factory, disk
    finally:
        disk.mend()
        factory.close()


class Disk:
    """Fails statements as SQLite does when its file cannot be read or written."""

    def __init__(self) -> None:
        self._code = 0
        self._verb = ""

    def fail(self, verb: str = "", *, code: int = sqlite3.SQLITE_IOERR) -> None:
        """From now on, fail every statement that begins so."""
        self._verb, self._code = verb, code

    def mend(self) -> None:
        """From now on, all is well."""
        self._code = 0

    def turn(self, sql: str) -> None:
        """Take one turn: fail the statement, or let it be."""
        # What undoes a transaction writes nothing, so it goes through.
        if self._code and sql.startswith(self._verb) and not sql.startswith("ROLLBACK"):
            error = sqlite3.OperationalError("made to fail")
            error.sqlite_errorcode = self._code
            error.sqlite_errorname = "SQLITE_MADE_TO_FAIL"
            raise error

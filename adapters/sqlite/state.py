"""The state table in the same file as the log."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from adapters.actions import check_row, check_rows
from adapters.sqlite import reading
from adapters.sqlite.committing import DELETE_ROW, PUT_ROW, holds
from adapters.sqlite.database import Database
from adapters.sqlite.forms import values_of_row
from adapters.sqlite.writer import Work
from domain import limits
from domain.keys import Key
from domain.records import Condition, Page, Row


class SqliteStateTable:
    """View rows, records and locks. Writes share transactions with the log's commits."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: Key) -> Row | None:
        """Read one row.

        Raises:
            errors.LimitExceeded: DynamoDB would refuse the key.
        """
        limits.check_key(*key)
        with self._database.reading() as connection:
            return reading.row_at(connection, key)

    def query(
        self,
        pk: str,
        *,
        prefix: str = "",
        desc: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Row]:
        """List rows from one range of the primary key."""
        with self._database.reading() as connection:
            return reading.rows_of(
                connection, pk, prefix=prefix, desc=desc, limit=limit, cursor=cursor
            )

    def query_index(
        self, pk: str, *, desc: bool = False, limit: int = 100, cursor: str | None = None
    ) -> Page[Row]:
        """List rows from one range of the index, which never lags here."""
        with self._database.reading() as connection:
            return reading.indexed_rows_of(connection, pk, desc=desc, limit=limit, cursor=cursor)

    def put(self, row: Row, condition: Condition | None = None) -> bool:
        """Write a row; returns when it is on disk.

        Raises:
            errors.LimitExceeded: DynamoDB would refuse the row.
        """
        check_row(row)

        def work(connection: sqlite3.Connection) -> bool:
            if not _permits(connection, row.key, condition):
                return False
            connection.execute(PUT_ROW, values_of_row(row))
            return True

        return self._write(work)

    def write(self, puts: Sequence[tuple[Row, Condition | None]]) -> bool:
        """Write rows in one transaction; returns when they are on disk."""
        check_rows([row for row, _ in puts])
        prepared = [values_of_row(row) for row, _ in puts]

        def work(connection: sqlite3.Connection) -> bool:
            if not all(_permits(connection, row.key, condition) for row, condition in puts):
                return False
            with _all_or_nothing(connection):
                connection.executemany(PUT_ROW, prepared)
            return True

        return self._write(work)

    def delete(self, key: Key, condition: Condition | None = None) -> bool:
        """Delete a row; returns when that is on disk."""

        def work(connection: sqlite3.Connection) -> bool:
            if not _permits(connection, key, condition):
                return False
            connection.execute(DELETE_ROW, key)
            return True

        return self._write(work)

    def _write(self, work: Work[bool]) -> bool:
        (answer,) = self._database.writer.run([work])
        if isinstance(answer, Exception):
            raise answer
        return answer


@contextmanager
def _all_or_nothing(connection: sqlite3.Connection) -> Iterator[None]:
    """Undo what was written if it cannot be written to its end; others share the transaction."""
    connection.execute("SAVEPOINT rows")
    try:
        yield
    except BaseException:
        # Some errors of the file end the whole transaction, and the savepoint with it.
        if connection.in_transaction:
            connection.execute("ROLLBACK TO rows")
            connection.execute("RELEASE rows")
        raise
    connection.execute("RELEASE rows")


def _permits(connection: sqlite3.Connection, key: Key, condition: Condition | None) -> bool:
    return condition is None or holds(condition, reading.row_at(connection, key))

"""The tables of the one file, and how a file is opened, made or refused.

Rowid tables: rows that arrive in the order of their keys append, and a `WITHOUT ROWID` table of
wide rows would rewrite its pages. Columns stand before what is large, so that reading them does
not walk the overflow pages behind it.
"""

import sqlite3
import time
from typing import Final

from domain.errors import Rejected

VERSION: Final = 1
"""Of the tables. Raise it with a step in `_STEPS` that turns the version before into it."""

_APPLICATION_ID: Final = 0x4C454144
"""Says in the file's own header whose it is ("LEAD"; PRAGMA application_id)."""

_TABLES: Final = (
    # Ids are never used again: AUTOINCREMENT would only guard against deletes, which are refused.
    """
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        lead TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        event_type TEXT NOT NULL,
        event_id TEXT,
        organization_id TEXT,
        occurred_at TEXT,
        received_at TEXT,
        source_type TEXT,
        source TEXT,
        schema_version INTEGER,
        external_event_id TEXT,
        object_id TEXT,
        object_id_ref TEXT,
        correlation_id TEXT,
        causation_id TEXT,
        key_id TEXT,
        payload BLOB NOT NULL,
        raw_payload BLOB,
        UNIQUE (lead, sequence),
        UNIQUE (lead, occurred_at, event_id)
    )
    """,
    "CREATE INDEX events_by_type ON events (lead, event_type, occurred_at, event_id)",
    """
    CREATE TABLE receipts (
        key TEXT NOT NULL PRIMARY KEY,
        lead TEXT NOT NULL,
        event_id TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        nonce TEXT NOT NULL,
        fingerprint TEXT NOT NULL
    )
    """,
    "CREATE TABLE identities (key TEXT NOT NULL PRIMARY KEY, lead TEXT NOT NULL)",
    """
    CREATE TABLE heads (
        lead TEXT NOT NULL PRIMARY KEY,
        organization_id TEXT NOT NULL,
        version INTEGER NOT NULL,
        projected INTEGER NOT NULL,
        fold_version INTEGER NOT NULL,
        rev INTEGER NOT NULL,
        goal INTEGER,
        unknown BLOB NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX heads_by_organization ON heads (organization_id, lead)",
    """
    CREATE TABLE rows (
        pk TEXT NOT NULL,
        sk TEXT NOT NULL,
        gsi1pk TEXT,
        gsi1sk TEXT,
        ttl INTEGER,
        attributes BLOB NOT NULL,
        PRIMARY KEY (pk, sk)
    )
    """,
    "CREATE INDEX rows_by_gsi1 ON rows (gsi1pk, gsi1sk, pk, sk) WHERE gsi1pk IS NOT NULL",
    *(
        f"""
        CREATE TRIGGER {table}_are_never_{verb}d BEFORE {verb.upper()} ON {table}
        BEGIN SELECT RAISE(ABORT, '{table} are never {verb}d'); END
        """
        for table in ("events", "receipts", "identities")
        for verb in ("update", "delete")
    ),
)

_STEPS: Final = {0: _TABLES}
"""What turns a file of a version into one of the next."""

_RETRY_SECONDS: Final = 0.01


def prepare(connection: sqlite3.Connection, *, wait_s: float) -> None:
    """Make the file a database of the current version: WAL, with every table.

    Args:
        connection: to the file, in autocommit mode.
        wait_s: how long to wait for other processes that open the same new file.

    Raises:
        Rejected: the file is somebody else's, or of a newer version of this service.
    """
    # Before the first write: switching to WAL is one.
    if _checked_version(connection) == VERSION:
        return
    _use_wal(connection, wait_s)
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Asked again: another process may have been here first.
        for version in range(_checked_version(connection), VERSION):
            for statement in _STEPS[version]:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _use_wal(connection: sqlite3.Connection, wait_s: float) -> None:
    """Switch to WAL. SQLite does not wait for a lock here, however long its busy timeout is."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _checked_version(connection: sqlite3.Connection) -> int:
    """Return the version of the file, 0 if nothing is in it; one statement, so one moment."""
    version, application, tables = connection.execute(
        "SELECT (SELECT user_version FROM pragma_user_version),"
        " (SELECT application_id FROM pragma_application_id),"
        " (SELECT count(*) FROM sqlite_master)"
    ).fetchone()
    if application != _APPLICATION_ID and (application, version, tables) != (0, 0, 0):
        raise Rejected(
            "The database file belongs to another application.",
            hint="Name another file in LEADS_DB; this one was not touched.",
        )
    if version > VERSION:
        raise Rejected(
            "The database file was written by a newer version of this service.",
            hint="Run that version, or name another file in LEADS_DB.",
        )
    return int(version)

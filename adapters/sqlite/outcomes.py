"""What an error of SQLite means to the caller."""

import sqlite3
from typing import Final

from domain.errors import LeadError, Outage, Rejected

_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def failed(error: sqlite3.Error) -> LeadError:
    """Return what an error of a read or of a transaction means; nothing was written.

    The text of SQLite's own errors may quote a value, so none of it is passed on.
    """
    code = _code(error)
    if code in _BUSY:
        return Outage("Another process keeps the database file locked.")
    if code == sqlite3.SQLITE_FULL:
        return Outage("The disk is full.", hint="Make room, then send the same request again.")
    if code in _DAMAGED:
        return Outage(
            "The database file is damaged.", hint="Restore it from a backup.", retry_after_s=60
        )
    return Outage(f"The database file cannot be used ({_name(error)}).")


def unopened(error: sqlite3.Error) -> LeadError:
    """Return what an error means that came while the file was opened."""
    code = _code(error)
    if code == sqlite3.SQLITE_NOTADB:
        return Rejected(
            "The file named by LEADS_DB is not a database.",
            hint="Name another file in LEADS_DB; this one was not touched.",
        )
    if code in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}:
        return Rejected(
            "The file named by LEADS_DB cannot be opened for writing.",
            hint="Make its folder, and let this user write there.",
        )
    return failed(error)


def _code(error: sqlite3.Error) -> int:
    """Return the primary code; 0 for an error of Python's own module, which has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", type(error).__name__)

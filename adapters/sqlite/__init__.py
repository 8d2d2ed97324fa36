"""The log and the state table in one SQLite file: `PERSISTENCE_MODULE=adapters.sqlite`."""

import sqlite3
from typing import Any, Final, Literal, NoReturn

from eventsourcing.persistence import (
    InfrastructureFactory,
    NotSupportedError,
    TrackingRecorder,
)

from adapters.sqlite.database import PRIVATE, Database, Settings
from adapters.sqlite.recorder import SqliteApplicationRecorder, SqliteRecorder
from adapters.sqlite.state import SqliteStateTable
from domain.errors import Rejected

__all__ = ["PRIVATE", "Factory"]

_BUSY_MS: Final = "5000"
_MOST_BUSY_MS: Final = 2**31 - 1
_NOTHING_TRACKED: Final = (
    "Nothing is tracked on SQLite: a lead's head says how far its views have come."
)


class Factory(InfrastructureFactory[TrackingRecorder]):
    """Gives recorders and the state table over one open file.

    Read from the environment:
        LEADS_DB: the file; `:memory:` is a store of this factory alone, gone when it is closed.
        LEADS_SQLITE_SYNCHRONOUS: FULL (each commit is on disk before its answer) or NORMAL (a power
            cut may take the last commits).
        LEADS_SQLITE_BUSY_MS: how long to wait for another process that writes.

    Raises:
        Rejected: a setting is wrong, or the file cannot be used.
        Unavailable: another process keeps the file locked.
    """

    connection: type[sqlite3.Connection] = sqlite3.Connection
    """The class of its connections."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._database = Database(
            Settings(
                path=self._path(),
                synchronous=self._synchronous(),
                busy_ms=self._busy_ms(),
                connection=self.connection,
            )
        )
        self._recorder = SqliteApplicationRecorder(self._database)
        self._state_table = SqliteStateTable(self._database)

    def state_table(self) -> SqliteStateTable:
        """Return the state table."""
        return self._state_table

    def aggregate_recorder(self, purpose: str = "events") -> SqliteRecorder:
        """Return the log. Snapshots of aggregates are not kept: a head and its rows are one."""
        if purpose != "events":
            message = "The library's snapshots are not kept on SQLite; view rows are."
            raise NotSupportedError(message)
        return SqliteRecorder(self._database)

    def application_recorder(self) -> SqliteApplicationRecorder:
        """Return the log, with its order across leads."""
        return self._recorder

    def tracking_recorder(self, tracking_recorder_class: Any = None) -> NoReturn:
        """Refuse: a head says how far its lead's views have come, so nothing is tracked."""
        del tracking_recorder_class
        raise NotSupportedError(_NOTHING_TRACKED)

    def process_recorder(self) -> NoReturn:
        """Refuse: a head says how far its lead's views have come, so nothing is tracked."""
        raise NotSupportedError(_NOTHING_TRACKED)

    def close(self) -> None:
        """Finish what is being written and close the file."""
        self._database.close()

    def _path(self) -> str:
        path = self.env.get("LEADS_DB", "")
        if not path:
            raise Rejected("LEADS_DB is not set.", hint="Name the database file in it.")
        return path

    def _synchronous(self) -> Literal["FULL", "NORMAL"]:
        match self.env.get("LEADS_SQLITE_SYNCHRONOUS", "").upper():
            case "" | "FULL":
                return "FULL"
            case "NORMAL":
                return "NORMAL"
            case _:
                raise Rejected(
                    "LEADS_SQLITE_SYNCHRONOUS is none of FULL and NORMAL.", hint="Use FULL."
                )

    def _busy_ms(self) -> int:
        text = self.env.get("LEADS_SQLITE_BUSY_MS") or _BUSY_MS
        if not (text.isascii() and text.isdigit() and int(text) <= _MOST_BUSY_MS):
            raise Rejected(
                "LEADS_SQLITE_BUSY_MS is not a number of milliseconds.", hint="Use 5000."
            )
        return int(text)

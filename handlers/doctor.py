"""The doctor: whether a deployment can do its work, and what to do where it cannot."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from domain import instants, keys
from domain.errors import LeadError, Unavailable, Uncertain
from domain.ports.effects import Clock
from domain.ports.storage import StateTable
from domain.records import Row
from handlers.maintenance import Maintenance
from handlers.quarantine import Quarantine
from handlers.settings import Settings

State = Literal["ok", "warning", "wrong", "unavailable"]

_LAGGING_SHOWN: Final = 20
_COUNTED: Final = 10_000
"""Of what is in quarantine; more is told as this many and more."""

_LITTLE_SPACE: Final = 1024**3
_KEPT_S: Final = 3600
_PRIVATE: Final = ":memory:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one look found. `wrong` needs somebody; `warning` may be meant so."""

    check: str
    state: State
    detail: str
    hint: str = ""


def examine_settings(settings: Settings) -> Iterator[Finding]:
    """Look at the settings alone; nothing is opened."""
    for sentence in settings.unknown():
        yield Finding(check="settings", state="warning", detail=sentence, hint="Correct its name.")
    if settings.auth == "open":
        yield Finding(
            check="settings",
            state="warning",
            detail="LEADS_AUTH is open: the API asks nobody for a key.",
            hint="Set it to required anywhere but on your own desk.",
        )
    if not settings.unknown():
        yield Finding(check="settings", state="ok", detail=f"valid; the store is {settings.store}")


def examine_disk(settings: Settings) -> Iterator[Finding]:
    """Look at the file of a SQLite store and the space around it."""
    if settings.store != "sqlite" or str(settings.db) == _PRIVATE:
        return
    folder = settings.db.resolve().parent
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    little = free < _LITTLE_SPACE
    yield Finding(
        check="disk",
        state="warning" if little else "ok",
        detail=f"{_told(free)} free; the file has {_told(_size(settings.db))}",
        hint="Make room: a full disk refuses every event." if little else "",
    )


@dataclass(frozen=True, slots=True)
class Doctor:
    """Looks at the store of one deployment. Writes and takes away one row, nothing else."""

    maintenance: Maintenance
    table: StateTable
    quarantine: Quarantine
    now: Clock
    new_id: Callable[[], str]

    def examine(self, organization_id: str) -> Iterator[Finding]:
        """Look at the store; where it does not answer, the rest is left out."""
        for look in (self._store, self._lagging, lambda: self._quarantine(organization_id)):
            try:
                yield from look()
            except (Unavailable, Uncertain) as error:
                yield Finding(
                    check="store", state="unavailable", detail=error.detail, hint=error.hint
                )
                return
            except LeadError as error:
                yield Finding(check="store", state="wrong", detail=error.detail, hint=error.hint)

    def _store(self) -> Iterator[Finding]:
        self.maintenance.ping()
        now = self.now()
        key = keys.diagnosis(self.new_id())
        # Should this process die before it takes the row away, the store does.
        ttl = int(instants.to_datetime(now).timestamp()) + _KEPT_S
        self.table.put(Row(key, {"writtenAt": now}, ttl=ttl))
        found = self.table.get(key)
        self.table.delete(key)
        fold_version = self.maintenance.log.edition.fold_version
        yield Finding(
            check="store",
            state="ok" if found is not None else "wrong",
            detail=f"answers and takes writes; views are of edition {fold_version}"
            if found is not None
            else "a row that was just written is not there",
            hint="" if found is not None else "Look at the store itself before anything else.",
        )

    def _lagging(self) -> Iterator[Finding]:
        count = 0
        for _, lead in self.maintenance.lagging():
            count += 1
            if count <= _LAGGING_SHOWN:
                yield self._lag(lead)
        if count > _LAGGING_SHOWN:
            yield Finding(
                check="views",
                state="warning",
                detail=f"{count} leads lag; {_LAGGING_SHOWN} of them were looked at.",
                hint="Run `leads rebuild --all`, which names each that cannot be rebuilt.",
            )
        elif not count:
            yield Finding(check="views", state="ok", detail="no lead lags behind its events")

    def _lag(self, lead: str) -> Finding:
        """Say why a lead lags: what a verify of it, which changes nothing, runs into."""
        found = self.maintenance.verify(lead)
        if found.state in {"broken", "corrupt"}:
            return Finding(
                check="views",
                state="wrong",
                detail=f"Lead {lead} lags, its events are safe: {found.detail}",
                hint=f"`leads rebuild --lead {lead}` after the fix.",
            )
        return Finding(
            check="views",
            state="warning",
            detail=f"Lead {lead} lags: its views reflect {found.projected} of {found.version} events.",
            hint="`leads serve` catches up by itself; `leads rebuild` does it now.",
        )

    def _quarantine(self, organization_id: str) -> Iterator[Finding]:
        count, cursor = 0, None
        while count < _COUNTED:
            page = self.quarantine.list(organization_id, now=self.now(), limit=500, cursor=cursor)
            count += len(page.items)
            cursor = page.cursor
            if cursor is None:
                break
        more = " and more" if cursor is not None else ""
        yield Finding(
            check="quarantine",
            state="warning" if count else "ok",
            detail=f"{count}{more} in quarantine" if count else "empty",
            hint="`leads quarantine list` says why." if count else "",
        )


def _size(file: Path) -> int:
    beside = (file, file.with_name(f"{file.name}-wal"))
    return sum(each.stat().st_size for each in beside if each.exists())


def _told(size: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:,.0f} {unit}"
        size /= 1024
    return f"{size:,.1f} GiB"

"""Which operators may be told today that somebody waits (seed 000's `operator_availability`)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from domain import canonical, keys
from domain.errors import Unavailable
from domain.instants import shift, to_datetime
from domain.ports.effects import Clock
from domain.ports.storage import StateTable
from domain.records import Absent, Condition, Equal, Row

_CONFIG: Final = "operator_availability"
_ROUNDS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """A map of operator to the instant they said so, as one record with an etag.

    It counts on the same local day and for `ttl`; nothing is trusted to have been deleted.
    """

    table: StateTable
    now: Clock
    timezone: str
    ttl: timedelta

    def set(self, organization_id: str, operator: str, *, available: bool) -> None:
        """Note that an operator is there, or is not.

        Raises:
            Unavailable: others changed the record every time.
        """

        def change(known: dict[str, str]) -> None:
            known.pop(operator, None)
            if available:
                known[operator] = self.now()

        self._change(organization_id, change)

    def available(self, organization_id: str) -> list[str]:
        """Return the operators who may be told now, in the order they said so."""
        known = self._read(self.table.get(keys.config(organization_id, _CONFIG)))
        return [who for who, since in sorted(known.items(), key=_since) if self._counts(since)]

    def _counts(self, since: str) -> bool:
        zone, now = ZoneInfo(self.timezone), self.now()
        same_day = to_datetime(since).astimezone(zone).date() == (
            to_datetime(now).astimezone(zone).date()
        )
        return same_day and now <= shift(since, self.ttl)

    def _change(self, organization_id: str, change: Callable[[dict[str, str]], None]) -> None:
        key = keys.config(organization_id, _CONFIG)
        for _ in range(_ROUNDS):
            row = self.table.get(key)
            known = {who: at for who, at in self._read(row).items() if self._counts(at)}
            change(known)
            etag = int(row.attributes["etag"]) if row else 0
            put = Row(
                key,
                {
                    "value": canonical.dumps(known).decode(),
                    "etag": etag + 1,
                    "updated_at": self.now(),
                },
            )
            condition: Condition = Equal("etag", etag) if row else Absent()
            if self.table.put(put, condition):
                return
        message = "The availability of operators was changed by others every time."
        raise Unavailable(message)

    def _read(self, row: Row | None) -> dict[str, str]:
        known: dict[str, str] = canonical.loads(str(row.attributes["value"])) if row else {}
        return known


def _since(item: tuple[str, str]) -> tuple[str, str]:
    return item[1], item[0]

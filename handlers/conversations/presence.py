"""Whether some process works on an organization's leads, so that a terminal does so only if none does."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from domain import keys
from domain.instants import shift, to_datetime
from domain.ports.effects import Clock
from domain.ports.storage import StateTable
from domain.records import Equal, Row

_COUNTS_FOR: Final = timedelta(seconds=10)
_EVERY: Final = timedelta(seconds=3)


@dataclass(slots=True, kw_only=True)
class Presence:
    """A row that expires, written again and again. A hint: two that work do no harm."""

    table: StateTable
    now: Clock
    name: str
    _due: str = field(default="", init=False)

    def beat(self, organizations: Sequence[str]) -> None:
        """Say for ten seconds that this process works, unless it just did."""
        now = self.now()
        if now < self._due:
            return
        until = shift(now, _COUNTS_FOR)
        expires = int(to_datetime(until).timestamp())
        for each in organizations:
            row = Row(keys.served(each), {"loop": self.name, "expires_at": until}, ttl=expires)
            self.table.put(row)
        self._due = shift(now, _EVERY)

    def leave(self, organizations: Sequence[str]) -> None:
        """Take back what this process said."""
        self._due = ""
        for each in organizations:
            self.table.delete(keys.served(each), Equal("loop", self.name))

    def is_served(self, organization_id: str) -> bool:
        """Tell whether some process works on the organization's leads."""
        row = self.table.get(keys.served(organization_id))
        return row is not None and str(row.attributes["expires_at"]) >= self.now()

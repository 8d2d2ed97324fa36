"""Counting how often one item failed, so that it cannot be delivered to us forever."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from domain import canonical, keys
from domain.instants import shift, to_datetime
from domain.ports.effects import Clock
from domain.ports.storage import StateTable
from domain.records import Absent, Equal, Row

MAX_TRIES: Final = 5
_KEPT_FOR: Final = timedelta(days=8)
"""Channels deliver again for seven days (research/whatsapp.md §1.5)."""

_ROUNDS: Final = 4


@dataclass(frozen=True, slots=True)
class Poison:
    """Tries of items that fail for a reason nobody foresaw. Ephemeral rows."""

    table: StateTable
    now: Clock

    def is_poison(self, organization_id: str, source: str, external_event_id: str) -> bool:
        """Count one more failure, and tell whether it is one too many."""
        key = keys.failing_item(organization_id, canonical.digest(source, external_event_id))
        for _ in range(_ROUNDS):
            row = self.table.get(key)
            tries = int(row.attributes["tries"]) + 1 if row else 1
            expires = int(to_datetime(shift(self.now(), _KEPT_FOR)).timestamp())
            condition = Absent() if row is None else Equal("tries", tries - 1)
            if self.table.put(Row(key, {"tries": tries}, ttl=expires), condition):
                return tries >= MAX_TRIES
        return False

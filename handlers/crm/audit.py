"""What operators did to an account as a whole, which belongs to no lead's stream (seed 000's audit)."""

from dataclasses import dataclass

from domain import keys
from domain.ports.effects import Clock, IdFactory
from domain.ports.storage import StateTable
from domain.records import Absent, Page, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Records of acts, by when they were done. They are never changed."""

    table: StateTable
    now: Clock
    new_id: IdFactory

    def record(self, organization_id: str, *, operator: str, action: str, reason: str) -> None:
        """Note an act that is about to be done: one that then fails was at least tried."""
        at = self.now()
        key = keys.audit(organization_id, at, self.new_id())
        said = {"operator": operator, "action": action, "reason": reason, "created_at": at}
        self.table.put(Row(key, said), Absent())

    def list_recent(self, organization_id: str, limit: int = 50) -> Page[Row]:
        """Return the newest acts first."""
        return self.table.query(keys.audits(organization_id), desc=True, limit=limit)

"""The CRM mirror: one row a session, a fold of the conversation and of what the CRM answered."""

from collections.abc import Iterable
from typing import Any, Final

from domain import keys
from domain.crm import sync as mirror
from domain.crm.sync import CrmSync
from domain.event import LeadEvent
from domain.keys import Key
from domain.records import Row
from projections.crm.codec import decode, encode
from projections.projection import Rows

__all__ = ["CRM", "CrmMirror"]


class CrmMirror:
    """The projection of the mirror. Its rows lie outside the lead's partitions, one a session."""

    name = "crm"
    handles = mirror.HANDLES | {"conversation_started"}

    def partitions(self, lead: str) -> tuple[str, ...]:  # noqa: ARG002 - the protocol's
        """Return nothing: a mirror is found by its session."""
        return ()

    def owns(self, key: Key) -> bool:
        """Tell whether the row is a mirror; the lease beside it is not."""
        return key.pk.startswith(keys.CRM_SYNC) and key.sk == "META"

    def keys(self, event: LeadEvent) -> Iterable[Key]:
        """Return the mirror of the session an event names."""
        return [keys.crm_sync(event.payload["sessionId"])] if _is_ours(event) else ()

    def foreign_keys(self, event: LeadEvent) -> Iterable[Key]:
        """Return the mirror an event begins."""
        begins = event.event_type == "conversation_started" and _is_ours(event)
        return [keys.crm_sync(event.payload["sessionId"])] if begins else ()

    def evolve(self, rows: Rows, event: LeadEvent) -> None:
        """Apply one event; what others report changes no mirror."""
        if not _is_ours(event):
            return
        key = keys.crm_sync(event.payload["sessionId"])
        if event.event_type == "conversation_started":
            rows.put(key, mirror.initial(event))
            return
        sync: CrmSync | None = rows.get(key)
        if sync is None:
            return
        mirror.evolve(sync, event)
        rows.put(key, sync)

    def decode(self, row: Row) -> Any:
        """Return the state of a row."""
        return decode(row.attributes)

    def encode(self, lead: str, key: Key, state: CrmSync) -> Row:
        """Return the row of a state, in the list of its status while something is due."""
        due_at = state.due_at
        index = None
        if due_at is not None:
            listed = keys.crm_statuses(state.organization_id, state.status)
            index = (listed, f"{due_at}#{state.session_id}")
        return Row(key, {**encode(state), "leadOrganizationId": lead}, index)


def _is_ours(event: LeadEvent) -> bool:
    return "sessionId" in event.payload


CRM: Final = CrmMirror()

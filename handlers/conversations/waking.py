"""Wake-ups that come from a queue of other processes: what they say, and whom they wake."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import structlog

from domain.addresses import address, identity_keys
from domain.errors import InvalidEvent
from domain.ports.effects import ReadyLead
from handlers.conversations.ground import Conversations
from handlers.conversations.looping import Works


@runtime_checkable
class Postpones(Protocol):
    """A queue that can be told when a message is to come again."""

    def postpone(self, receipt: str, after_s: int) -> None:
        """Let a message that is being worked on come again after some seconds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Waking:
    """Works on the lead that a wake-up names."""

    conversations: Conversations
    worker: Works
    organizations: Sequence[str]

    def work(self, body: str) -> int:
        """Do what is due for the lead of a wake-up; return how many steps were done.

        One that nobody can read is let go: it is a hint, and what waits stands in the lead's row.

        Raises:
            Unavailable, Uncertain: see `Worker.work`.
        """
        ready = self._named(_document(body))
        if ready is None:
            structlog.get_logger().warning("wake_up_unreadable", bytes=len(body))
            return 0
        return self.worker.work(ready.organization_id, ready.lead)

    def _named(self, document: dict[str, Any]) -> ReadyLead | None:
        lead, organization_id = document.get("leadOrganizationId"), document.get("organizationId")
        if _is_name(lead) and _is_name(organization_id):
            return ReadyLead(str(organization_id), str(lead))
        phone = document.get("phone_number")
        return self._found(str(phone)) if _is_name(phone) else None

    def _found(self, phone: str) -> ReadyLead | None:
        """Return the lead of a phone: seed 002's deployment has one organization, and names none."""
        try:
            stated = address("whatsapp", phone)
        except InvalidEvent:
            return None
        for organization_id in self.organizations:
            named = identity_keys(organization_id, stated)
            leads = self.conversations.log.store.resolve(named)
            for key in named:
                if key in leads:
                    return ReadyLead(organization_id, leads[key])
        return None


def _document(body: str) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)

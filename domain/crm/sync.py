"""The state of one session's mirror: what is desired, what is confirmed, and what is known of it there."""

from dataclasses import dataclass, field
from typing import Any, Final

from domain import canonical
from domain.conversation.states import HUMANS, TERMINAL, State
from domain.crm.desired import desired_projection, revision
from domain.crm.standing import Standing
from domain.event import LeadEvent

PENDING: Final = "PENDING"
SYNCED: Final = "SYNCED"
BLOCKED: Final = "BLOCKED"
UNCERTAIN: Final = "UNCERTAIN"
STATUSES: Final = (PENDING, SYNCED, BLOCKED, UNCERTAIN)

NEVER: Final = "9998-12-31T23:59:59.999999Z"
"""When a row is due that only a person moves: behind every row that is due by itself."""

_HEALED_BY_CONTENT: Final = ("validation", "stage_")
"""Reasons for being blocked that new content may have removed."""

_MAX_NOTES: Final = 2_000


@dataclass(slots=True, kw_only=True)
class CrmSync(Standing):
    """One row of the mirror, with the names of seed 001.

    Without a status nothing was published yet: a session in NEW has no deal. `creation_started` is
    the marker that a deal may exist; it stands before the request goes out and goes only when it is
    known what became of it. `remote` is what was asserted last, by `contact.…` and `deal.…`: what we
    wrote, found as it should be, or left to people who hold it otherwise.
    """

    organization_id: str
    state: State
    outcome: str | None = None
    contact: dict[str, str] = field(default_factory=dict)
    deal: dict[str, str] = field(default_factory=dict)
    collected: dict[str, str] = field(default_factory=dict)
    updated_at: str = ""
    last_error: dict[str, Any] = field(default_factory=dict)
    creation_token: str = ""
    key_suffix: int = 1
    quarantined: dict[str, str] = field(default_factory=dict)
    remote: dict[str, str] = field(default_factory=dict)

    @property
    def desired(self) -> dict[str, Any]:
        """What the CRM should show now; `revision` is its digest once it is published."""
        deal = {**self.deal, "notes": _notes(self.collected)}
        return desired_projection(self.state, self.outcome, self.contact, deal)

    @property
    def due_at(self) -> str | None:
        """When the worker is to look at it; None if it is in no list of work."""
        if self.status in {PENDING, UNCERTAIN, BLOCKED}:
            return self.next_attempt_at or NEVER
        return self.verify_after or None if self.status == SYNCED else None


def initial(event: LeadEvent) -> CrmSync:
    """Return the row that a `conversation_started` of ours begins; nothing is published by it."""
    stated = event.payload
    phone, name = stated.get("replyTo", ""), stated.get("contactName", "")
    return CrmSync(
        session_id=stated["sessionId"],
        organization_id=event.organization_id,
        state=State.NEW,
        # A phone is digits; a channel's own user id is none.
        contact={"phone": phone if phone.isdigit() else "", "name": name},
        updated_at=event.received_at,
    )


def evolve(sync: CrmSync, event: LeadEvent) -> None:
    """Apply one event of the session or of its mirror, in place. Total."""
    apply = _EVOLVE.get(event.event_type)
    if apply is not None:
        apply(sync, event)
        sync.updated_at = max(sync.updated_at, event.received_at)


def refresh(sync: CrmSync, event: LeadEvent) -> None:
    """Publish what is desired now, if it is new. Equal content makes no new revision."""
    if sync.state == State.NEW and not sync.deal_id and not sync.status:
        return
    named = revision(sync.desired)
    if named == sync.revision:
        return
    sync.revision = named
    if sync.status in {"", SYNCED, PENDING}:
        _pend(sync, event.received_at)
    elif sync.status == BLOCKED and sync.blocked_reason.startswith(_HEALED_BY_CONTENT):
        sync.blocked_reason = ""
        _pend(sync, event.received_at)


def _pend(sync: CrmSync, at: str) -> None:
    if sync.status != PENDING:
        sync.pending_since = at
    sync.status, sync.next_attempt_at = PENDING, at


def _turned(sync: CrmSync, event: LeadEvent) -> None:
    stated = event.payload
    after = State(stated["stateAfter"])
    if after not in HUMANS and after not in TERMINAL:
        sync.state = after
    for name in ("segment", "intent"):
        if name in stated:
            sync.deal[name] = stated[name]
    for name in ("qualificationData", "cadastralData"):
        sync.collected.update(_texts(stated.get(name)))
    sync.collected = dict(sorted(sync.collected.items())[:60])
    refresh(sync, event)


def _moves(state: State) -> Any:
    def moved(sync: CrmSync, event: LeadEvent) -> None:
        if sync.state not in TERMINAL:
            sync.state = state
            refresh(sync, event)

    return moved


def _ended(sync: CrmSync, event: LeadEvent) -> None:
    if sync.state in TERMINAL:
        return
    sync.outcome = event.payload.get("outcome")
    sync.state = State.ABANDONED if sync.outcome == "abandoned" else State.COMPLETED
    refresh(sync, event)


def _contact_linked(sync: CrmSync, event: LeadEvent) -> None:
    sync.contact_id = event.payload["contactId"]


def _creation_started(sync: CrmSync, event: LeadEvent) -> None:
    stated = event.payload
    sync.creation_started = event.received_at
    sync.creation_token, sync.create_key = stated["token"], stated["createKey"]
    sync.creation_mode = stated["mode"]


def _deal_linked(sync: CrmSync, event: LeadEvent) -> None:
    sync.deal_id = event.payload["dealId"]
    _clear_marker(sync)
    sync.uncertain_since = ""
    if sync.status in {UNCERTAIN, BLOCKED}:
        sync.blocked_reason = ""
        _pend(sync, event.received_at)


def _confirmed(sync: CrmSync, event: LeadEvent) -> None:
    stated = event.payload
    sync.confirmed_revision = stated["revision"]
    sync.remote = _texts(stated.get("written")) or sync.remote
    sync.quarantined = _texts(stated.get("quarantined"))
    sync.verify_after = stated.get("verifyAfter", "")
    sync.attempts, sync.last_error = 0, {}
    sync.blocked_reason = ""
    if sync.confirmed_revision == sync.revision:
        sync.status, sync.next_attempt_at, sync.pending_since = SYNCED, "", ""
    else:
        _pend(sync, event.received_at)


def _deferred(sync: CrmSync, event: LeadEvent) -> None:
    stated = event.payload
    sync.attempts += stated["counted"] == "yes"
    sync.next_attempt_at = stated["retryAt"]
    if sync.status not in {PENDING, UNCERTAIN}:
        sync.status, sync.pending_since = PENDING, event.received_at
    _note(sync, event)
    if stated["marker"] == "cleared":
        _clear_marker(sync)


def _blocked(sync: CrmSync, event: LeadEvent) -> None:
    sync.status, sync.next_attempt_at = BLOCKED, ""
    sync.blocked_reason = event.payload["reason"]
    _note(sync, event)
    if event.payload["marker"] == "cleared":
        _clear_marker(sync)


def _uncertain(sync: CrmSync, event: LeadEvent) -> None:
    sync.uncertain_since = sync.uncertain_since or event.received_at
    sync.attempts += 1
    sync.status, sync.next_attempt_at = UNCERTAIN, event.payload.get("retryAt", "")
    _note(sync, event)


def _reconciled(sync: CrmSync, event: LeadEvent) -> None:
    if event.payload["how"] == "absent" and not sync.deal_id:
        sync.uncertain_since = ""
        _clear_marker(sync)
        _pend(sync, event.received_at)


def _acted(sync: CrmSync, event: LeadEvent) -> None:
    stated, action = event.payload, event.payload["action"]
    sync.contact_id = stated.get("contactId", sync.contact_id)
    if action == "adopt":
        _adopted(sync, stated)
    if action in {"recreate", "unlink"}:
        sync.deal_id, sync.remote, sync.create_key = "", {}, ""
        sync.key_suffix += 1
    if action in {"release", "adopt", "recreate", "unlink"}:
        _clear_marker(sync)
        sync.uncertain_since = ""
    sync.attempts, sync.blocked_reason = 0, ""
    if action == "reconcile" and sync.status == UNCERTAIN:
        sync.next_attempt_at = event.received_at
    elif sync.status:
        _pend(sync, event.received_at)


def _adopted(sync: CrmSync, stated: dict[str, Any]) -> None:
    if (deal_id := stated.get("dealId", sync.deal_id)) != sync.deal_id:
        sync.deal_id, sync.remote = deal_id, {}
    if "createKey" in stated:
        sync.create_key = stated["createKey"]
        sync.key_suffix += 1


def _note(sync: CrmSync, event: LeadEvent) -> None:
    stated = event.payload
    error = {
        "class": stated.get("errorClass") or stated.get("reason", ""),
        "status": str(stated.get("httpStatus", "")),
        "category": stated.get("category", ""),
        "correlation": stated.get("correlation", ""),
        "detail": stated.get("detail", ""),
        "at": event.received_at,
    }
    sync.last_error = {name: value for name, value in error.items() if value}
    if "verifyAfter" in stated:
        sync.verify_after = stated["verifyAfter"]


def _clear_marker(sync: CrmSync) -> None:
    sync.creation_started = sync.creation_token = ""


def _notes(collected: dict[str, str]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in sorted(collected.items()))[:_MAX_NOTES]


def _texts(text: Any) -> dict[str, str]:
    """Return the members of an object in JSON text, each as text; what is none says nothing."""
    try:
        value = canonical.loads(text) if isinstance(text, str) else None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        return {}
    return {name: str(each)[:500] for name, each in value.items() if each is not None}


_EVOLVE: Final = {
    "agent_turn_completed": _turned,
    "handoff_requested": _moves(State.HANDOFF_PENDING),
    "handoff_claimed": _moves(State.HUMAN),
    "handoff_released": _moves(State.HANDOFF_PENDING),
    "handoff_returned": _moves(State.TRIAGE),
    "conversation_ended": _ended,
    "crm_contact_linked": _contact_linked,
    "crm_deal_creation_started": _creation_started,
    "crm_deal_linked": _deal_linked,
    "crm_revision_confirmed": _confirmed,
    "crm_sync_deferred": _deferred,
    "crm_sync_blocked": _blocked,
    "crm_sync_uncertain": _uncertain,
    "crm_sync_reconciled": _reconciled,
    "crm_operator_action": _acted,
}

HANDLES: Final = frozenset(_EVOLVE)
"""Event types that change a row that stands."""

"""What people see of the mirror: what is not confirmed, one row, what became of it. No content."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from domain import keys
from domain.crm.operating import Stands, stands_of
from domain.crm.standing import Status
from domain.crm.sync import BLOCKED, PENDING, STATUSES, SYNCED, UNCERTAIN, CrmSync
from domain.errors import FieldError, NotFound, Rejected
from domain.event import MAX_ID_CHARACTERS, LeadEvent
from domain.records import Page, Row, every
from handlers.crm.control import AccountControl, Rest
from projections.crm import CRM
from projections.lead_log import LeadLog

PROBLEMS: Final[tuple[Status, ...]] = (PENDING, UNCERTAIN, BLOCKED)
"""What is not confirmed (seed 001)."""

_PAGE: Final = 200

_TOLD: Final = (
    *("action", "operator"),
    *("reason", "errorClass", "httpStatus", "category", "correlation", "detail"),
    *("retryAt", "counted", "marker", "verifyAfter", "how", "mode", "createKey", "contactId"),
    *("dealId", "releasedDealId", "keptByPeople", "evidence", "revision"),
)
"""Members of events that a timeline shows: ids, words, instants, and what operators wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of a list, which may be older than what stands.

    `since` is when it began to wait, `error` the class of what went wrong last.
    """

    session_id: str
    lead: str
    status: str
    blocked_reason: str
    since: str
    due_at: str
    attempts: int
    error: str
    deal_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """How many rows stand how, and how long.

    `counts` has the seed's three problems, and `VERIFYING`: confirmed rows that are looked at once
    more. Other confirmed rows are in no list. `oldest_since` is of all problems, `oldest_pending`
    of what is worked on without a person; "" if there are none.
    """

    counts: dict[str, int]
    reasons: dict[str, int]
    oldest_since: str
    oldest_pending: str
    rest: Rest | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One fact of a row's history."""

    sequence: int
    received_at: str
    event_type: str
    told: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One row, consistently read, with its history. `last_error` is that of the last attempt."""

    lead: str
    stands: Stands
    last_error: dict[str, Any]
    quarantined: tuple[str, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """Reads the rows of one deployment."""

    log: LeadLog
    control: AccountControl

    def list_status(self, organization_id: str, status: str) -> Iterator[Entry]:
        """Yield the rows of a status, in the order they are due; SYNCED ones while to be verified.

        Raises:
            Rejected: there is no such status.
        """
        named = next((each for each in STATUSES if each == status), None)
        if named is None:
            raise Rejected(
                "There is no such status.",
                hint=f"Give one of {', '.join(STATUSES)}.",
                fields=[FieldError("/status", "is no status")],
            )
        partition = keys.crm_statuses(organization_id, named)
        return map(_entry, every(partial(self._page, partition)))

    def problems(self, organization_id: str) -> list[Entry]:
        """Return what is not confirmed, what waits the longest first."""
        found = [each for status in PROBLEMS for each in self.list_status(organization_id, status)]
        return sorted(found, key=lambda each: (each.since, each.session_id))

    def overview(self, organization_id: str) -> Overview:
        """Count what is in the lists."""
        problems = self.problems(organization_id)
        counted = Counter(each.status for each in problems)
        verifying = sum(1 for _ in self.list_status(organization_id, SYNCED))
        reasons = Counter(each.blocked_reason for each in problems if each.status == BLOCKED)
        pending = [each.since for each in problems if each.status == PENDING]
        return Overview(
            counts={**{status: counted[status] for status in PROBLEMS}, "VERIFYING": verifying},
            reasons=dict(reasons.most_common()),
            oldest_since=problems[0].since if problems else "",
            oldest_pending=min(pending, default=""),
            rest=self.control.rest(organization_id),
        )

    def find(self, organization_id: str, session_id: str) -> tuple[str, CrmSync]:
        """Return the lead of a session and its row, read consistently.

        Raises:
            NotFound: there is none, or it is another organization's.
            ViewBroken, Unavailable: see `Reader.ground`.
        """
        key = keys.crm_sync(session_id)
        row = self.log.table.get(key) if _is_id(session_id) else None
        lead = "" if row is None else str(row.attributes["leadOrganizationId"])
        sync: CrmSync | None = None
        if lead:
            sync = self.log.reader.ground(lead, [CRM], [key]).fold.states(CRM).get(key)
        if sync is None or sync.organization_id != organization_id:
            message = "The mirror has no such session."
            hint = "Check the id; `leads crm status` lists what waits."
            raise NotFound(message, hint=hint)
        return lead, sync

    def show(self, organization_id: str, session_id: str) -> Shown:
        """Return a row with everything that became of it, the oldest first.

        Raises:
            NotFound, ViewBroken, Unavailable: see `find`.
        """
        lead, sync = self.find(organization_id, session_id)
        reader = self.log.reader
        events = reader.events(lead, lte=reader.head(lead, organization_id).version)
        return Shown(
            lead=lead,
            stands=stands_of(sync),
            last_error=sync.last_error,
            quarantined=tuple(sorted(sync.quarantined)),
            steps=tuple(_step(each) for each in events if _concerns(each, session_id)),
        )

    def _page(self, partition: str, cursor: str | None) -> Page[Row]:
        return self.log.table.query_index(partition, limit=_PAGE, cursor=cursor)


def _is_id(session_id: str) -> bool:
    # What is no id was never stored, and DynamoDB refuses to look for some of it.
    return 0 < len(session_id) <= MAX_ID_CHARACTERS


def _entry(row: Row) -> Entry:
    sync: CrmSync = CRM.decode(row)
    return Entry(
        session_id=sync.session_id,
        lead=str(row.attributes["leadOrganizationId"]),
        status=sync.status,
        blocked_reason=sync.blocked_reason,
        since=sync.pending_since or sync.uncertain_since or sync.updated_at,
        due_at=sync.next_attempt_at or sync.verify_after,
        attempts=sync.attempts,
        error=str(sync.last_error.get("class", "")),
        deal_id=sync.deal_id,
    )


def _concerns(event: LeadEvent, session_id: str) -> bool:
    return event.event_type.startswith("crm_") and event.payload.get("sessionId") == session_id


def _step(event: LeadEvent) -> Step:
    stated = event.payload
    return Step(
        sequence=event.sequence,
        received_at=event.received_at,
        event_type=event.event_type,
        told={name: stated[name] for name in _TOLD if name in stated},
    )

"""The worker: brings rows that are due into the account, the oldest first, each apart from the others.

Lists are hints. Each row is decided on as it stands, under a lease; what one row meets stops no
other, except that the account rests.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

import structlog

from domain import keys
from domain.crm.replies import Kind, Reply
from domain.crm.sync import PENDING, SYNCED, UNCERTAIN, CrmSync
from domain.crm.visit import Configuration
from domain.errors import LeadError, Outage
from domain.instants import to_datetime
from domain.ports.effects import Clock, Crm, IdFactory
from domain.records import Page, Row, every
from handlers.crm import leases
from handlers.crm.account import Account
from handlers.crm.control import AccountControl, Rest
from handlers.crm.visiting import LeaseLost, Visited, Visits
from handlers.crm_settings import CrmSettings
from projections.lead_log import LeadLog

BUDGET_S: Final = 70.0
"""After which no row is begun: one that is takes at most 50 s more, and a Lambda has 120 (seed 001)."""

WORKED_ON: Final = (PENDING, UNCERTAIN, SYNCED)
"""Lists that are looked through. A confirmed row is in its list only while it is to be verified."""

_PAGE: Final = 50

_LATER: Final = frozenset((Kind.TRANSIENT, Kind.NOT_SENT, Kind.AMBIGUOUS))


class Due(NamedTuple):
    """A row of a list, which may be older than what stands."""

    sort_key: str
    organization_id: str
    lead: str
    session_id: str


@dataclass(slots=True, kw_only=True)
class RunReport:
    """What a run did.

    `endings` counts what became of rows: synced, deferred, blocked, uncertain, paused, breaker,
    nothing (no work in it after all), held (another worker is at it), overtaken, lease_lost, failed.
    `events` counts what was recorded, by type. `stopped` says why the run ended before the lists
    did: disabled, budget, account (it rests), store; "" if it did not. `waits_s` is how long each row
    that was confirmed had been pending, `requests_each` how many requests it took. `answers` and
    `resolved` are those of `Visited`. `failures` counts rows by the code of what they failed with.
    """

    stopped: str = ""
    endings: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    resolved: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    kept_by_people: int = 0
    quarantined: int = 0
    took_s: float = 0.0
    waits_s: list[float] = field(default_factory=list)
    requests_each: list[int] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many rows were looked at."""
        return self.endings.total()


class CrmSyncProcessor:
    """The worker of one account of the CRM.

    Args:
        settings: `hubspot_enabled`, the stages and the environment are read.
        organizations: whose rows it works on.
        monotonic: seconds from any beginning, for the budget of a run.
    """

    def __init__(  # noqa: PLR0913 - the parts of a deployment it is made of
        self,
        log: LeadLog,
        crm: Crm,
        settings: CrmSettings,
        *,
        organizations: Sequence[str],
        now: Clock,
        new_id: IdFactory,
        monotonic: Callable[[], float],
    ) -> None:
        self._log = log
        self._enabled = settings.hubspot_enabled
        self._organizations = tuple(organizations)
        self._now = now
        self._new_id = new_id
        self._monotonic = monotonic
        self._visits = Visits(log=log, crm=crm, now=now, new_id=new_id)
        self._account = Account(
            crm=crm,
            stages=settings.stages,
            environment=settings.crm_environment,
            monotonic=monotonic,
        )
        self.control = AccountControl(table=log.table, now=now)

    def run(self, max_seconds: float = BUDGET_S) -> RunReport:
        """Work on what is due; no row is begun after the budget, or while the account rests.

        Raises:
            Unavailable: the lists cannot be read.
        """
        began, report = self._monotonic(), RunReport()
        report.stopped = "" if self._enabled else "disabled"
        seen: set[str] = set()
        for due in self._due() if self._enabled else ():
            if due.session_id in seen:
                continue
            if self._monotonic() - began >= max_seconds:
                report.stopped = "budget"
                break
            config = self._configuration(due.organization_id)
            if config is None:
                report.stopped = "account"
                break
            seen.add(due.session_id)
            if not self._apart(due, config, report):
                break
        report.took_s = self._monotonic() - began
        return report

    def sync_one(self, organization_id: str, lead: str, session_id: str) -> str:
        """Work on one row now, due or not; return what became of it, as `RunReport.endings` says.

        Raises:
            LeadError: what a run would have counted as failed.
        """
        if not self._enabled:
            return "disabled"
        config = self._configuration(organization_id)
        if config is None:
            return "account"
        due = Due("", organization_id, lead, session_id)
        return self._work(due, config, RunReport(), until=None)

    def due(self, organization_id: str, until: str) -> Iterator[Due]:
        """Yield an organization's rows that were due by then, the oldest first, as lists have them."""
        lists = [
            self._listed(organization_id, keys.crm_statuses(organization_id, status), until)
            for status in WORKED_ON
        ]
        return heapq.merge(*lists)

    def _due(self) -> Iterator[Due]:
        until = self._now()
        return heapq.merge(*(self.due(each, until) for each in self._organizations))

    def _listed(self, organization_id: str, partition: str, until: str) -> Iterator[Due]:
        for row in every(partial(self._page, partition)):
            sort_key = row.gsi1[1] if row.gsi1 else ""
            due_at, _, session_id = sort_key.partition("#")
            if due_at > until:
                return
            lead = str(row.attributes["leadOrganizationId"])
            yield Due(sort_key, organization_id, lead, session_id)

    def _page(self, partition: str, cursor: str | None) -> Page[Row]:
        return self._log.table.query_index(partition, limit=_PAGE, cursor=cursor)

    def _configuration(self, organization_id: str) -> Configuration | None:
        """Return what rows are worked on with; None while the account rests, or does not answer."""
        rest = self.control.rest(organization_id)
        if rest is not None and not self._tried_again(organization_id, rest):
            return None
        config = self._account.configuration()
        if isinstance(config, Configuration):
            return config
        self._refused(organization_id, config)
        return None

    def _tried_again(self, organization_id: str, rest: Rest) -> bool:
        """Try an account once that has rested long enough; tell whether it works again."""
        if not rest.is_over(self._now()):
            return False
        probing = self.control.claim_probe(organization_id, rest)
        if probing is None:
            return False
        reply = self._visits.crm.pipeline().reply
        if reply is None or reply.kind == Kind.ABSENT:
            return self.control.lift(organization_id, probing)
        self._refused(organization_id, reply)
        return False

    def _refused(self, organization_id: str, reply: Reply) -> None:
        # What is only late is tried again by the next run.
        if reply.kind not in _LATER:
            rest = self.control.refused(organization_id, reply)
            structlog.get_logger().warning("crm_account_rests", kind=rest.why, code=rest.reason)

    def _apart(self, due: Due, config: Configuration, report: RunReport) -> bool:
        """Work on a row so that its failure is its own; tell whether the run may go on."""
        ending = "failed"
        try:
            ending = self._work(due, config, report, until=self._now())
        except Outage as error:
            report.stopped = "store"
            report.failures[error.code] += 1
            _failed(due.lead, error.code)
        except LeadError as error:
            report.failures[error.code] += 1
            _failed(due.lead, error.code)
        except Exception:  # noqa: BLE001 - one row's bug must not end the work on the others
            report.failures["internal-error"] += 1
            structlog.get_logger().exception("crm_sync_worker_failed", lead=due.lead)
        report.endings[ending] += 1
        if ending in {"paused", "breaker"}:
            report.stopped = "account"
        return not report.stopped

    def _work(self, due: Due, config: Configuration, report: RunReport, until: str | None) -> str:
        lease = leases.take(self._log.table, due.session_id, token=self._new_id(), now=self._now())
        if lease is None:
            return "held"
        sync = self._visits.load(due.organization_id, due.lead, due.session_id)
        if sync is None or not _has_work(sync, until):
            leases.give_back(self._log.table, lease, settled=False)
            return "nothing"
        try:
            visited = self._visits.visit(due.lead, sync, lease, config)
        except LeaseLost:
            structlog.get_logger().warning("crm_lease_lost", lead=due.lead)
            return "lease_lost"
        if visited.reply is not None:
            self._refused(due.organization_id, visited.reply)
        self._count(visited, report)
        return visited.ending

    def _count(self, visited: Visited, report: RunReport) -> None:
        report.requests += visited.requests
        report.answers.update(visited.answers)
        report.events.update(visited.events)
        report.resolved.update(visited.resolved)
        report.kept_by_people += visited.kept
        report.quarantined += visited.quarantined
        if visited.ending == "synced" and visited.waited_since:
            waited = to_datetime(self._now()) - to_datetime(visited.waited_since)
            report.waits_s.append(waited.total_seconds())
            report.requests_each.append(visited.requests)


def _has_work(sync: CrmSync, until: str | None) -> bool:
    """Tell whether a row is the worker's, and due by then; None is whenever."""
    due_at = sync.due_at
    if sync.status not in WORKED_ON or due_at is None:
        return False
    return until is None or due_at <= until


def _failed(lead: str, code: str) -> None:
    structlog.get_logger().warning("crm_sync_worker_failed", lead=lead, code=code)

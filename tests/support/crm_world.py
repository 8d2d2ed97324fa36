"""Sessions, an account of a CRM and workers between them, on one store and one clock."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from domain import keys
from domain.conversation.facts import AGENTS, OPERATORS, Facts
from domain.crm.sync import CrmSync
from domain.event import LeadEvent, NewEvent
from domain.instants import shift
from domain.ports.effects import Crm
from handlers.crm.worker import CrmSyncProcessor, RunReport
from handlers.crm_settings import CrmSettings
from projections import ALL, FOLD_VERSION
from projections.committing import Edition
from projections.crm import CRM
from projections.decision import Decision
from tests.support.backends import Backend
from tests.support.crm_account import STAGES, Account
from tests.support.stepping import SteppedLog

NOW = "2026-03-20T12:00:00.000000Z"
ORGANIZATION = "default"
PHONE = "5511955550142"
SETTINGS = {f"hubspot_stage_{name}": stage_id for name, stage_id in STAGES.items()}


@dataclass
class Worker:
    """One process with a worker. `steps` of its log are where it can be stopped."""

    log: SteppedLog
    crm: CrmSyncProcessor

    def run(self, max_seconds: float = 70.0) -> RunReport:
        return self.crm.run(max_seconds)


class CrmWorld:
    """A store, a clock and an account. Each session has a lead of its own, unless one is named."""

    def __init__(
        self, backend: Backend, *, edition: Edition | None = None, organization: str = ORGANIZATION
    ) -> None:
        self._backend = backend
        self._edition = edition or Edition(ALL, FOLD_VERSION)
        self._ids = itertools.count(1)
        self.organization = organization
        self.now = NOW
        self.seconds = 0.0
        self.account = Account(lambda: self.now)
        self.log = self.new_log()

    def new_log(self) -> SteppedLog:
        """Open the store once more, as another process does."""
        return SteppedLog(
            self._backend.factory,
            self._backend.recorder,
            self._backend.table,
            edition=self._edition,
            new_id=self.new_id,
            send=lambda events, commit: self._backend.recorder.insert_events(events, commit=commit),
        )

    def worker(self, crm: Crm | None = None, **settings: Any) -> Worker:
        """Start a worker."""
        log = self.new_log()
        chosen = CrmSettings(**{**SETTINGS, "crm_environment": "test", **settings})
        processor = CrmSyncProcessor(
            log,
            crm or self.account,
            chosen,
            organizations=[self.organization],
            now=lambda: self.now,
            new_id=self.new_id,
            monotonic=lambda: self.seconds,
        )
        return Worker(log, processor)

    def new_id(self) -> str:
        return f"019d0c4e-7a10-7000-8000-{next(self._ids):012x}"

    def pass_time(self, **amount: float) -> None:
        """Let time pass; what was under way arrives."""
        self.now = shift(self.now, timedelta(**amount))
        self.account.arrive()

    def start(self, session: str = "s-1", *, phone: str = PHONE, name: str = "Ana Lima") -> None:
        """Let a lead write for the first time."""
        self.record(
            session,
            lambda facts: [
                facts.session_started(session, "whatsapp", "1", reply_to=phone, contact_name=name)
            ],
        )

    def turn(self, session: str = "s-1", state: str = "TRIAGE", **said: Any) -> None:
        """Let an agent answer."""
        self.record(
            session,
            lambda facts: [
                facts.fact(
                    "agent_turn_completed",
                    AGENTS,
                    f"{session}:turn:{self.new_id()}",
                    session_id=session,
                    covered_message_ids=["wamid.1"],
                    agent="triagem",
                    code="CONTINUE",
                    state_after=state,
                    **said,
                )
            ],
        )

    def ask_for_people(self, session: str = "s-1") -> None:
        """Hand the session to people."""
        self.say(session, "handoff_requested", reason="operator")

    def give_back(self, session: str = "s-1") -> None:
        """Let people give the session back to agents."""
        self.say(session, "handoff_returned", operator="ana")

    def end(self, session: str = "s-1", outcome: str = "resolved") -> None:
        """End the session."""
        self.record(
            session,
            lambda facts: [
                facts.session_ended(session, "whatsapp", outcome, messages=2, seconds=60)
            ],
        )

    def act(self, session: str, action: str, **said: Any) -> None:
        """Let an operator set the mirror of a session right."""
        self.say(session, "crm_operator_action", action=action, operator="ana", reason="x", **said)

    def say(self, session: str, event_type: str, **said: Any) -> None:
        """Record a fact of a session."""
        name = f"{session}:{event_type}:{self.new_id()}"
        self.record(
            session,
            lambda facts: [facts.fact(event_type, OPERATORS, name, session_id=session, **said)],
        )

    def record(self, session: str, make: Callable[[Facts], Sequence[NewEvent]]) -> None:
        """Record facts of a session's lead."""
        facts = make(Facts(organization_id=self.organization, now=self.now, new_id=self.new_id))
        self.log.record(
            Decision(
                organization_id=self.organization,
                lead=self.lead(session),
                decide=lambda _: facts,
                stands_on=[],
            )
        )

    def lead(self, session: str = "s-1") -> str:
        return f"lead-of-{session}"

    def row(self, session: str = "s-1") -> CrmSync:
        """Return the row of a session, read consistently."""
        key = keys.crm_sync(session)
        ground = self.log.reader.ground(self.lead(session), [CRM], [key])
        sync: CrmSync | None = ground.fold.states(CRM).get(key)
        assert sync is not None, "there is no such row"
        return sync

    def events(self, session: str = "s-1", *types: str) -> list[LeadEvent]:
        """Return the lead's events of these types, or all that the worker recorded."""
        head = self.log.reader.head(self.lead(session))
        found = self.log.reader.events(self.lead(session), lte=head.version)
        return [
            each
            for each in found
            if (each.event_type in types if types else each.source == "crm_sync")
        ]

    def lease(self, session: str = "s-1") -> Any:
        """Return the stored lease of a session; None if there is none."""
        return self._backend.table.get(keys.crm_lease(session))

    def give_lease_to_another(self, session: str = "s-1") -> None:
        """Let another worker have the lease, whoever has it now."""
        row = self.lease(session)
        assert row is not None
        stolen = {**row.attributes, "token": "another", "version": "another.0"}
        self._backend.table.put(replace(row, attributes=stolen))

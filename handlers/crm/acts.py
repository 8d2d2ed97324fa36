"""One act of a person on one row: what would become of it, or what did, under the row's lease."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from domain import keys
from domain.conversation.facts import CRM as SOURCE
from domain.conversation.facts import Facts
from domain.crm import sync as mirror
from domain.crm.operating import Act, Action, Stands, etag_of, stands_of
from domain.crm.sync import CrmSync
from domain.crm.visit import Fact
from domain.errors import Conflict, FieldError, Rejected
from domain.event import MAX_ID_CHARACTERS, LeadEvent, NewEvent
from domain.ports.effects import Clock, IdFactory
from domain.records import Identity
from handlers.crm import leases
from handlers.crm.leases import Lease
from handlers.crm.showing import Showing
from projections.crm import CRM
from projections.decision import ClaimTaken, Decision, Recorded
from projections.folding import identities_of
from projections.lead_log import LeadLog
from projections.reading import Ground

Decide = Callable[[CrmSync, Act], Fact]
"""The row as it stands, and what is asked for → what is recorded; raises what refuses it."""

_NOBODY: Final = "nobody"
"""Who acts where nothing is applied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """How an act is asked for.

    Args:
        operator: who acts; needed where it is applied, as is the reason.
        apply: do it; else only say what would happen.
        etag: of the row that was seen; the row as it stands now unless given.
    """

    operator: str = ""
    reason: str = ""
    apply: bool = False
    etag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    """What became of an act, or would: the row before and after it.

    `then` says what was done beyond the row, in a word: what the worker made of it, or whether the
    deal has its key.
    """

    action: Action
    session_id: str
    applied: bool
    before: Stands
    after: Stands
    then: str = ""


class AtWork(Conflict):
    """A worker has the row right now; nothing was recorded."""

    code = "crm_row_at_work"
    title = "A worker is at this session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Acts:
    """Does one act at a time."""

    log: LeadLog
    showing: Showing
    now: Clock
    new_id: IdFactory

    def act(
        self,
        organization_id: str,
        session_id: str,
        ask: Ask,
        decide: Decide,
    ) -> Acted:
        """Tell what would become of a row, or do it; exactly one event is recorded of it.

        What that event claims and releases is claimed and released with it.

        Raises:
            NotFound, ActRefused, ClaimTaken, AtWork, Rejected, Unavailable: see `CrmOperators`.
        """
        operator, reason = named(ask) if ask.apply else (_NOBODY, ask.reason.strip() or _NOBODY)
        lead, sync = self.showing.find(organization_id, session_id)
        act = Act(
            operator=operator,
            reason=reason,
            command_id=self.new_id(),
            etag=etag_of(sync) if ask.etag is None else ask.etag,
        )
        fact = decide(sync, act)
        event = self._event(sync, act, fact).numbered(lead, 0)
        claims = identities_of(event)
        self._check_unclaimed(claims)
        acted = Acted(
            action=fact.payload["action"],
            session_id=session_id,
            applied=ask.apply,
            before=stands_of(sync),
            after=_after(sync, event),
        )
        if ask.apply:
            self._apply(lead, sync, act, decide, claims)
            acted = replace(acted, after=self.stands(organization_id, session_id))
        return acted

    def stands(self, organization_id: str, session_id: str) -> Stands:
        """Return a row, consistently read."""
        _, sync = self.showing.find(organization_id, session_id)
        return stands_of(sync)

    def _check_unclaimed(self, claims: Sequence[Identity]) -> None:
        claimed = self.log.reader.recorder.resolve([each.key for each in claims]) if claims else {}
        if any(claimed.get(each.key, each.lead) != each.lead for each in claims):
            raise ClaimTaken.by_another()

    def _apply(
        self, lead: str, sync: CrmSync, act: Act, decide: Decide, claims: Sequence[Identity]
    ) -> Recorded:
        table, session_id = self.log.table, sync.session_id
        lease = leases.take(table, session_id, token=act.command_id, now=self.now())
        if lease is None:
            message = "A worker is at this session right now."
            raise AtWork(message, hint="Nothing was recorded. Try again in a few seconds.")
        try:
            return self._record(lead, sync, act, decide, (lease, claims))
        finally:
            leases.give_back(table, lease, settled=False)

    def _record(
        self,
        lead: str,
        sync: CrmSync,
        act: Act,
        decide: Decide,
        held: tuple[Lease, Sequence[Identity]],
    ) -> Recorded:
        key = keys.crm_sync(sync.session_id)

        def decided(ground: Ground) -> Sequence[NewEvent]:
            standing: CrmSync | None = ground.fold.states(CRM).get(key)
            now = sync if standing is None else standing
            return [self._event(now, act, decide(now, act))]

        lease, claims = held
        return self.log.record(
            Decision(
                organization_id=sync.organization_id,
                lead=lead,
                decide=decided,
                stands_on=[CRM],
                keys=[key],
                checks=[lease.held],
                claims=claims,
            )
        )

    def _event(self, sync: CrmSync, act: Act, fact: Fact) -> NewEvent:
        facts = Facts(organization_id=sync.organization_id, now=self.now(), new_id=self.new_id)
        name = f"{sync.session_id}:{fact.payload['action']}:{act.command_id}"
        return facts.fact(fact.event_type, SOURCE, name, session_id=sync.session_id, **fact.payload)


def named(ask: Ask) -> tuple[str, str]:
    """Return who acts and why.

    Raises:
        Rejected: one of them is missing, or cannot be kept.
    """
    operator, reason = ask.operator.strip(), ask.reason.strip()
    missing = [name for name, value in (("operator", operator), ("reason", reason)) if not value]
    if missing or len(operator) > MAX_ID_CHARACTERS:
        raise Rejected(
            "Who acts, and why, is not said.",
            hint="Give --reason, and --operator a name.",
            fields=[FieldError(f"/{name}", "is needed") for name in missing],
        )
    return operator, reason


def _after(sync: CrmSync, event: LeadEvent) -> Stands:
    """Return what would stand after an event."""
    after = copy.deepcopy(sync)
    mirror.evolve(after, event)
    return stands_of(after)

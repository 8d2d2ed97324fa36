"""What operators set right about the mirror, by whatever way they come.

Nothing happens unless it is applied: each act first tells what would become of the row. An act
that is applied holds the row's lease, so no worker is at it, and records exactly one event.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from domain.crm import operating
from domain.crm.choosing import Candidate, candidates
from domain.crm.claims import Claimed
from domain.crm.operating import Act, Action, Adopted
from domain.crm.replies import Kind
from domain.crm.sync import BLOCKED, UNCERTAIN, CrmSync
from domain.crm.visit import UNIQUE, Configuration, Fact, key_of
from domain.errors import LeadError
from domain.ports.effects import Clock
from handlers.crm.acts import Acted, Acts, Ask, named
from handlers.crm.audit import Audit
from handlers.crm.claims import claimed
from handlers.crm.control import AccountControl, Rest
from handlers.crm.looking import Looking
from handlers.crm.showing import Showing
from handlers.crm.worker import CrmSyncProcessor


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An act of several that could not be done; the others could."""

    action: Action
    session_id: str
    error: LeadError


@dataclass(frozen=True, slots=True, kw_only=True)
class CrmOperators:
    """Acts of operators on the mirror of one deployment.

    Every act on a session raises `NotFound` for one that the mirror does not have, `ActRefused`
    where the row is not what the act is for or was not seen as it is, `AtWork` while a worker has
    it, `Rejected` where it is to be applied without an operator or a reason, `Unavailable` where the
    store or the account cannot answer. In all of these nothing was recorded.
    """

    acts: Acts
    showing: Showing
    looking: Looking
    control: AccountControl
    audit: Audit
    processor: CrmSyncProcessor | None
    now: Clock
    sends: bool = True
    """Whether anything may be written to the account (`HUBSPOT_ENABLED`)."""

    def retry(self, organization_id: str, session_id: str, ask: Ask) -> Acted:
        """Let a row be worked on now, as if it had never failed."""
        return self.acts.act(organization_id, session_id, ask, operating.retry)

    def retry_many(
        self, organization_id: str, session_ids: Iterable[str], ask: Ask
    ) -> Iterator[Acted | Refused]:
        """Retry several, each apart from the others."""
        for each in session_ids:
            yield self._apart("retry", each, lambda name: self.retry(organization_id, name, ask))

    def blocked(self, organization_id: str, reason: str) -> list[str]:
        """Return the sessions that are blocked for a reason, as lists have them."""
        listed = self.showing.list_status(organization_id, BLOCKED)
        return [each.session_id for each in listed if each.blocked_reason == reason]

    def uncertain(self, organization_id: str) -> list[str]:
        """Return the sessions that are in doubt, as lists have them."""
        return [each.session_id for each in self.showing.list_status(organization_id, UNCERTAIN)]

    def reconcile(self, organization_id: str, session_id: str, ask: Ask) -> Acted:
        """Look up what became of a creation, and go on from there, now.

        Without a unique key nothing can be looked up: the refusal names what a person may choose
        from, the deals of the contact that no session is.
        """
        _, sync = self.showing.find(organization_id, session_id)
        found = self._candidates(sync)

        def decide(sync: CrmSync, act: Act) -> Fact:
            return operating.reconcile(sync, act, found=found)

        acted = self.acts.act(organization_id, session_id, ask, decide)
        if not acted.applied or self.processor is None:
            return acted
        lead, _ = self.showing.find(organization_id, session_id)
        ending = self.processor.sync_one(organization_id, lead, session_id)
        return replace(acted, then=ending, after=self.acts.stands(organization_id, session_id))

    def reconcile_many(
        self, organization_id: str, session_ids: Iterable[str], ask: Ask
    ) -> Iterator[Acted | Refused]:
        """Reconcile several, each apart from the others."""
        for each in session_ids:
            yield self._apart(
                "reconcile", each, lambda name: self.reconcile(organization_id, name, ask)
            )

    def release(self, organization_id: str, session_id: str, ask: Ask, *, evidence: str) -> Acted:
        """Let a deal be created that a person says was not; `evidence` is what was checked."""
        _, sync = self.showing.find(organization_id, session_id)
        looked = self.looking.by_key(sync, self.looking.configuration())
        now = self.now()

        def decide(sync: CrmSync, act: Act) -> Fact:
            return operating.release(sync, act, looked=looked, evidence=evidence, now=now)

        return self.acts.act(organization_id, session_id, ask, decide)

    def adopt(
        self,
        organization_id: str,
        session_id: str,
        ask: Ask,
        *,
        deal_id: str,
        contact_id: str | None = None,
    ) -> Acted:
        """Make a deal that stands in the account the session's own, and give it the session's key.

        Raises:
            ClaimTaken: another session is this deal; nothing was recorded.
        """
        _, sync = self.showing.find(organization_id, session_id)
        config, deal = self.looking.configuration(), self.looking.deal(deal_id)
        looked = self.looking.by_key(sync, config)
        adopted = Adopted(deal, self._claimed(organization_id, deal.id), self._own(sync))

        def decide(sync: CrmSync, act: Act) -> Fact:
            return operating.adopt(
                sync, act, adopted=adopted, looked=looked, config=config, contact_id=contact_id
            )

        acted = self.acts.act(organization_id, session_id, ask, decide)
        if not acted.applied:
            return acted
        has = deal.properties.get("key", "")
        return replace(acted, then=self._keyed(organization_id, session_id, has, config))

    def recreate(self, organization_id: str, session_id: str, ask: Ask) -> Acted:
        """Let another deal be created in place of one that people took away."""
        _, sync = self.showing.find(organization_id, session_id)
        standing = self.looking.gone(sync, self.looking.configuration())
        given_up = self._own(sync)

        def decide(sync: CrmSync, act: Act) -> Fact:
            return operating.recreate(sync, act, standing=standing, given_up=given_up)

        return self.acts.act(organization_id, session_id, ask, decide)

    def unlink(self, organization_id: str, session_id: str, ask: Ask) -> Acted:
        """Let a session no longer be its deal: another one is created, unless it has ended.

        Any session may `adopt` the deal from now on, this one too.
        """
        _, sync = self.showing.find(organization_id, session_id)
        given_up = self._own(sync)

        def decide(sync: CrmSync, act: Act) -> Fact:
            return operating.unlink(sync, act, given_up=given_up)

        return self.acts.act(organization_id, session_id, ask, decide)

    def pause(self, organization_id: str, ask: Ask) -> Rest | None:
        """Let the account rest until a person says otherwise; return why it rests now."""
        if ask.apply:
            operator, reason = self._noted(organization_id, "crm_pause", ask)
            return self.control.pause(organization_id, operator=operator, reason=reason)
        return self.control.rest(organization_id)

    def resume(self, organization_id: str, ask: Ask) -> bool:
        """Use the account again, whyever it rests; tell whether it did rest."""
        if ask.apply:
            self._noted(organization_id, "crm_resume", ask)
            return self.control.resume(organization_id)
        return self.control.rest(organization_id) is not None

    def _candidates(self, sync: CrmSync) -> tuple[Candidate, ...] | None:
        """Return what a person may choose from; None where nobody looked, or it is not needed."""
        if sync.status != UNCERTAIN or sync.creation_mode == UNIQUE:
            return None
        deals = self.looking.of_contact(sync)
        if deals is None:
            return None
        return candidates(
            sync,
            [each for each in deals if not self._claimed(sync.organization_id, each.id).holder],
        )

    def _own(self, sync: CrmSync) -> Claimed:
        """Return what is claimed of the deal that a session is; of none nothing is."""
        return self._claimed(sync.organization_id, sync.deal_id)

    def _claimed(self, organization_id: str, deal_id: str) -> Claimed:
        return claimed(self.acts.log.reader.recorder, organization_id, deal_id)

    def _noted(self, organization_id: str, action: str, ask: Ask) -> tuple[str, str]:
        operator, reason = named(ask)
        self.audit.record(organization_id, operator=operator, action=action, reason=reason)
        return operator, reason

    def _keyed(self, organization_id: str, session_id: str, has: str, config: Configuration) -> str:
        """Give an adopted deal its key; what fails here the worker does later, or is blocked by."""
        _, sync = self.showing.find(organization_id, session_id)
        wanted = key_of(sync, config)
        if config.mode != UNIQUE:
            return "unkeyed"
        if has == wanted:
            return "key_stands"
        if not self.sends:
            return "key_later"
        reply = self.looking.crm.update_deal(sync.deal_id, {"key": wanted})
        return "key_written" if reply.kind == Kind.DONE else "key_later"

    def _apart(
        self, action: Action, session_id: str, do: Callable[[str], Acted]
    ) -> Acted | Refused:
        try:
            return do(session_id)
        except LeadError as error:
            return Refused(action=action, session_id=session_id, error=error)

"""Whose lead an address is: found by any of its forms, made if it is nobody's, claimed in a commit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from domain import canonical, keys
from domain.addresses import identity_keys
from domain.event import OUR_SOURCE, Address, NewEvent
from domain.ports.storage import LeadRecorder
from domain.records import Identity

_KEPT_IDENTITIES = 50_000


class KnownIdentities:
    """Addresses whose lead was looked up before: a claim is never rewritten, so it stays right."""

    def __init__(self) -> None:
        self._leads: dict[str, str] = {}

    def resolve(self, recorder: LeadRecorder, names: Sequence[str]) -> dict[str, str]:
        """Return the lead of each name that is claimed, asking the log unless all are known."""
        known = {name: self._leads[name] for name in names if name in self._leads}
        if len(known) == len(names):
            return known
        claimed = recorder.resolve(names)
        if len(self._leads) > _KEPT_IDENTITIES:
            self._leads.clear()
        self._leads.update(claimed)
        return claimed


@dataclass(frozen=True, slots=True)
class Found:
    """The lead of an address, the claims still to make for it, and forms that are another lead's."""

    lead: str
    claims: tuple[Identity, ...] = ()
    elsewhere: tuple[Identity, ...] = ()


class Addressee:
    """The lead of one address, looked up before each try; a new one keeps its id across tries."""

    def __init__(
        self,
        organization_id: str,
        address: Address,
        new_id: Callable[[], str],
        known: KnownIdentities,
    ) -> None:
        self._organization_id = organization_id
        self._address = address
        self._new_id = new_id
        self._known = known
        self._fresh_lead = ""

    def find(self, recorder: LeadRecorder) -> Found:
        """Resolve the address, sticky to the first form found."""
        names = identity_keys(self._organization_id, self._address)
        claimed = self._known.resolve(recorder, names)
        lead = next((claimed[name] for name in names if name in claimed), "")
        if not lead:
            lead = self._fresh_lead = self._fresh_lead or self._new_id()
        return Found(
            lead,
            tuple(Identity(name, lead) for name in names if name not in claimed),
            tuple(
                Identity(name, claimed[name])
                for name in names
                if name in claimed and claimed[name] != lead
            ),
        )

    def facts(self, fact: NewEvent, found: Found) -> list[NewEvent]:
        """Return what is to be recorded of the address itself, behind the fact that brought it.

        That claims were made is a fact, so that a rebuild can make them again; so is every form
        that another lead has.
        """
        facts = []
        if found.claims:
            facts.append(self._fact(fact, found, "identity_linked", found.claims))
        for other in sorted({claim.lead for claim in found.elsewhere}):
            claims = tuple(claim for claim in found.elsewhere if claim.lead == other)
            facts.append(self._fact(fact, found, "identity_conflict_detected", claims, other))
        return facts

    def _fact(
        self,
        fact: NewEvent,
        found: Found,
        event_type: str,
        claims: tuple[Identity, ...],
        other: str = "",
    ) -> NewEvent:
        names = canonical.digest(*sorted(claim.key for claim in claims))
        step = "conflict" if other else "linked"
        taken = {claim.key for claim in found.elsewhere} if not other else set()
        payload = {
            "channel": self._address.channel,
            "identifier": self._address.identifier,
            "aliases": [each for each in self._address.aliases if self._name(each) not in taken],
        }
        if other:
            payload["otherLeadOrganizationId"] = other
        return NewEvent(
            event_id=self._new_id(),
            organization_id=self._organization_id,
            event_type=event_type,
            source_type="INTERNAL",
            source=OUR_SOURCE,
            external_event_id=f"{names}:{step}",
            occurred_at=fact.received_at,
            received_at=fact.received_at,
            payload=payload,
            lead=found.lead,
            causation_id=fact.event_id,
        )

    def _name(self, form: str) -> str:
        return keys.identity(self._organization_id, self._address.channel, form)

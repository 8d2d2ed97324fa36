"""A log of leads in dicts: what appends and conditions must answer. No rows, no rounds, no faults."""

from collections import defaultdict
from collections.abc import Sequence

from domain import keys
from domain.errors import IdempotencyConflict, NotFound
from domain.event import LeadEvent, NewEvent
from domain.outcomes import Appended, Duplicate, Failed, Outcome
from domain.records import Absent, AbsentOrBelow, Condition, Equal, Row


class Proof:
    """What is known of a taken key."""

    def __init__(self, fingerprint: str, event: LeadEvent) -> None:
        self.fingerprint = fingerprint
        self.lead, self.event_id, self.sequence = event.lead, event.event_id, event.sequence


class LogModel:
    """Events by lead, in order; `identity_linked` is counted among them."""

    def __init__(self) -> None:
        self.proofs: dict[str, Proof] = {}
        self.owners: dict[str, str] = {}
        self.streams: dict[str, list[LeadEvent]] = defaultdict(list)
        self.versions: dict[str, int] = defaultdict(int)
        self.claims: dict[str, str] = {}

    def append(self, facts: Sequence[NewEvent], answered: Sequence[Outcome]) -> list[Outcome]:
        """Append, and return what must be answered.

        An address nobody knew belongs to the lead that `answered` names: ids are not the model's.
        """
        groups: dict[object, list[int]] = {}
        for index, fact in enumerate(facts):
            home = fact.organization_id, fact.lead or fact.address
            groups.setdefault(home, []).append(index)
        answers: dict[int, Outcome] = {}
        for members in groups.values():
            first = facts[members[0]]
            lead, unclaimed = self._resolve(first, [answered[index] for index in members])
            if self.owners.get(lead, first.organization_id) != first.organization_id:
                answers.update((index, Failed(NotFound(""))) for index in members)
                continue
            before = self.versions[lead]
            answers.update((index, self._one(facts[index], lead)) for index in members)
            if unclaimed and self.versions[lead] > before:
                self.versions[lead] += 1
                self.claims.update(dict.fromkeys(unclaimed, lead))
        return [answers[index] for index in range(len(facts))]

    def record(self, event: LeadEvent, fingerprint: str) -> None:
        """Record an event that must be the next of its lead."""
        self.versions[event.lead] += 1
        assert event.sequence == self.versions[event.lead]
        self.owners[event.lead] = event.organization_id
        self.streams[event.lead].append(event)
        key = keys.receipt(event.organization_id, event.source, event.external_event_id)
        assert key not in self.proofs
        self.proofs[key] = Proof(fingerprint, event)

    def _one(self, fact: NewEvent, lead: str) -> Outcome:
        proof = self.proofs.get(
            keys.receipt(fact.organization_id, fact.source, fact.external_event_id)
        )
        if proof is None:
            event = fact.numbered(lead, self.versions[lead] + 1)
            self.record(event, fact.fingerprint)
            return Appended(lead, event.event_id, event.sequence)
        if proof.fingerprint == fact.fingerprint:
            return Duplicate(proof.lead, proof.event_id, proof.sequence)
        return Failed(
            IdempotencyConflict(event_id=proof.event_id, lead=proof.lead, sequence=proof.sequence)
        )

    def _resolve(self, fact: NewEvent, answered: Sequence[Outcome]) -> tuple[str, list[str]]:
        if fact.address is None:
            return str(fact.lead), []
        claims = [
            keys.identity(fact.organization_id, fact.address.channel, name)
            for name in (fact.address.identifier, *fact.address.aliases)
        ]
        unclaimed = [claim for claim in claims if claim not in self.claims]
        found = next((self.claims[claim] for claim in claims if claim in self.claims), None)
        if found is not None:
            return found, unclaimed
        made = {each.lead for each in answered if isinstance(each, Appended)}
        assert len(made) <= 1
        assert made.isdisjoint(self.owners), "a lead nobody knew has a new id"
        return made.pop() if made else "nobody", unclaimed


def holds(condition: Condition | None, row: Row | None) -> bool:
    """Whether a condition on a row holds."""
    match condition:
        case Absent():
            return row is None
        case Equal(attribute, value):
            return row is not None and row.attributes.get(attribute) == value
        case AbsentOrBelow(attribute, bound):
            stored = None if row is None else row.attributes.get(attribute)
            below = isinstance(stored, int) and isinstance(bound, int) and stored < bound
            return row is None or below
        case None:
            return True

"""An account of a CRM in this process: the port `Crm`, unique keys and all, and a network that loses things.

A request may be lost, be done without anybody hearing of it, or be done late: a chaos says so, by a
seed. Time is the test's.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal

from domain.crm.identity import same_phone
from domain.crm.replies import Kind, Pipeline, Remote, Reply
from domain.instants import shift
from domain.ports.effects import ContactKey, DealKey
from tests.support.stepping import Steps

STAGES = {
    "novo_lead": "s-new",
    "em_triagem": "s-triage",
    "atendimento_humano": "s-human",
    "finalizado": "s-done",
    "perdido": "s-lost",
}
Fate = Literal["done", "never", "lost", "late", "paused", "locked"]
LATEST = timedelta(seconds=120)
SEARCH_LAG = timedelta(seconds=6)


@dataclass
class Chaos:
    """What becomes of requests while `rate` is above zero: the share of them that goes wrong."""

    random: random.Random
    rate: float = 0.0

    def of_a_read(self) -> Fate:
        if self.random.random() >= self.rate / 2:
            return "done"
        return self.random.choice(("never", "lost", "paused"))

    def of_a_write(self) -> Fate:
        if self.random.random() >= self.rate:
            return "done"
        return self.random.choice(("never", "lost", "late", "late", "late", "paused", "locked"))

    def drops(self) -> bool:
        """Tell whether a deal is created without its contact, silently."""
        return self.random.random() < self.rate / 4


@dataclass
class Account:
    """One account. `deals` and `contacts` are all there ever were, archived ones too."""

    now: Callable[[], str]
    chaos: Chaos = field(default_factory=lambda: Chaos(random.Random(0)))
    reserves: bool = True
    """Whether an archived deal keeps its unique key from others."""
    deal_key: bool = True
    contact_key: bool = True
    stages: tuple[str, ...] = tuple(STAGES.values())
    contacts: dict[str, Remote] = field(default_factory=dict)
    deals: dict[str, Remote] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    script: list[Reply | Fate] = field(default_factory=list)
    """What happens to the next writes instead."""
    reads: list[Reply] = field(default_factory=list)
    """What the next reads answer instead."""
    steps: Steps = field(default_factory=Steps)
    journal: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    conflicts: int = 0
    """How often a second record was refused for its unique value."""
    _late: list[tuple[str, Callable[[], Reply]]] = field(default_factory=list)
    _born: dict[str, str] = field(default_factory=dict)
    _ids: int = 100

    def find_contact(self, *, by: ContactKey, value: str) -> Reply:
        return self._read("find_contact", lambda: self._one(self.contacts, by, value))

    def search_contacts(self, phones: Sequence[str]) -> Reply:
        def search() -> Reply:
            seen = shift(self.now(), -SEARCH_LAG)
            found = [
                each
                for each in self.contacts.values()
                if self._born[each.id] <= seen and same_phone(phones[0].removeprefix("+"), each)
            ]
            return Reply(kind=Kind.DONE, records=tuple(found))

        return self._read("search_contacts", search)

    def create_contact(self, properties: Mapping[str, str]) -> Reply:
        sent = dict(properties)
        assert self.contact_key or "phone_key" not in sent, "the account has no such property"
        return self._write(
            "create_contact",
            sent,
            lambda: self._create(self.contacts, sent, ("phone_key", "email")),
        )

    def update_contact(self, contact_id: str, properties: Mapping[str, str]) -> Reply:
        sent = dict(properties)
        return self._write(
            "update_contact",
            sent,
            lambda: self._update(self.contacts, contact_id, sent, ("phone_key", "email")),
        )

    def find_deal(self, *, by: DealKey, value: str, archived: bool = False) -> Reply:
        return self._read("find_deal", lambda: self._one(self.deals, by, value, archived=archived))

    def find_deals(self, keys: Sequence[str], *, archived: bool = False) -> Reply:
        found = [
            each
            for each in self.deals.values()
            if each.properties.get("key") in keys and each.archived == archived
        ]
        return self._read("find_deals", lambda: Reply(kind=Kind.DONE, records=tuple(found)))

    def search_deals(self, contact_id: str) -> Reply:
        found = [each for each in self.live() if contact_id in each.contact_ids]
        return self._read("search_deals", lambda: Reply(kind=Kind.DONE, records=tuple(found)))

    def create_deal(self, properties: Mapping[str, str], contact_id: str) -> Reply:
        sent = dict(properties)
        assert self.deal_key or "key" not in sent, "the account has no such property"

        def create() -> Reply:
            if contact_id not in self._live(self.contacts):
                return Reply(kind=Kind.ABSENT, reason="association_target_missing")
            contacts = () if self.chaos.drops() else (contact_id,)
            return self._create(self.deals, sent, ("key",), contacts)

        return self._write("create_deal", sent, create)

    def update_deal(self, deal_id: str, properties: Mapping[str, str]) -> Reply:
        sent = dict(properties)
        return self._write(
            "update_deal", sent, lambda: self._update(self.deals, deal_id, sent, ("key",))
        )

    def associate(self, deal_id: str, contact_id: str) -> Reply:
        def associate() -> Reply:
            deal = self.deals.get(deal_id)
            if deal is None or deal.archived or contact_id not in self._live(self.contacts):
                return Reply(kind=Kind.ABSENT)
            contacts = dict.fromkeys((*deal.contact_ids, contact_id))
            self.deals[deal_id] = replace(deal, contact_ids=tuple(contacts))
            return Reply(kind=Kind.DONE)

        return self._write("associate", {}, associate)

    def pipeline(self) -> Pipeline:
        reply = self._read("pipeline", lambda: Reply(kind=Kind.DONE))
        return Pipeline(stage_ids=self.stages) if reply.kind == Kind.DONE else Pipeline(reply=reply)

    def has_unique_key(self, of: Literal["deal", "contact"]) -> bool | Reply:
        reply = self._read("has_unique_key", lambda: Reply(kind=Kind.DONE))
        if reply.kind != Kind.DONE:
            return reply
        return self.deal_key if of == "deal" else self.contact_key

    def arrive(self) -> None:
        """Let every late request arrive whose time has come."""
        due = [each for each in self._late if each[0] <= self.now()]
        self._late = [each for each in self._late if each[0] > self.now()]
        for _, do in sorted(due, key=lambda each: each[0]):
            do()

    def requests(self, *verbs: str) -> int:
        """Return how many requests there were, of these verbs or of all."""
        return sum(not verbs or verb in verbs for verb, _ in self.journal)

    def live(self) -> list[Remote]:
        """Return the deals that are not archived."""
        return list(self._live(self.deals).values())

    def edit(self, record_id: str, **properties: str) -> None:
        """Edit a record by hand."""
        records = self.deals if record_id in self.deals else self.contacts
        before = records[record_id]
        records[record_id] = replace(before, properties={**before.properties, **properties})

    def archive(self, record_id: str) -> None:
        """Archive a record by hand."""
        records = self.deals if record_id in self.deals else self.contacts
        records[record_id] = replace(records[record_id], archived=True)

    def merge(self, deal_id: str) -> str:
        """Merge a deal into a new one by hand, which keeps its values; return the new id."""
        self._ids += 1
        survivor = str(self._ids)
        self.deals[survivor] = replace(self.deals.pop(deal_id), id=survivor)
        self.moved[deal_id] = survivor
        return survivor

    def _read(self, verb: str, find: Callable[[], Reply]) -> Reply:
        def answer() -> Reply:
            self.journal.append((verb, {}))
            self.arrive()
            if self.reads:
                return self.reads.pop(0)
            return _UNDONE.get(self.chaos.of_a_read()) or find()

        return self.steps.run(verb, answer)

    def _write(self, verb: str, sent: dict[str, str], do: Callable[[], Reply]) -> Reply:
        def answer() -> Reply:
            self.journal.append((verb, sent))
            self.arrive()
            fate = self.script.pop(0) if self.script else self.chaos.of_a_write()
            if isinstance(fate, Reply):
                return fate
            if fate == "late":
                late_s = self.chaos.random.randint(1, int(LATEST.total_seconds()))
                self._late.append((shift(self.now(), timedelta(seconds=late_s)), do))
            if fate in {"done", "lost"}:
                reply = do()
                if fate == "done":
                    return reply
            return _UNHEARD.get(fate) or Reply(kind=Kind.AMBIGUOUS, reason="timeout")

        return self.steps.run(verb, answer)

    def _one(
        self, records: dict[str, Remote], by: str, value: str, *, archived: bool = False
    ) -> Reply:
        value = self.moved.get(value, value)
        for each in records.values():
            named = each.id if by == "id" else each.properties.get(by)
            if named == value and each.archived == archived:
                return Reply(kind=Kind.DONE, record=each)
        return Reply(kind=Kind.ABSENT)

    def _create(
        self,
        records: dict[str, Remote],
        sent: dict[str, str],
        unique: tuple[str, ...],
        contacts: tuple[str, ...] = (),
    ) -> Reply:
        holder = self._holder(records, sent, unique)
        if holder is not None:
            self.conflicts += 1
            return Reply(kind=Kind.CONFLICT, reason="unique_value", holder_id=holder)
        self._ids += 1
        made = Remote(id=str(self._ids), properties=sent, contact_ids=contacts)
        records[made.id] = made
        self._born[made.id] = self.now()
        # As HubSpot does: the answer to a creation tells nothing of associations.
        return Reply(kind=Kind.DONE, record=replace(made, contact_ids=()))

    def _update(
        self,
        records: dict[str, Remote],
        record_id: str,
        sent: dict[str, str],
        unique: tuple[str, ...],
    ) -> Reply:
        record_id = self.moved.get(record_id, record_id)
        before = records.get(record_id)
        if before is None or before.archived:
            return Reply(kind=Kind.ABSENT)
        holder = self._holder(records, sent, unique)
        if holder not in {None, record_id}:
            return Reply(kind=Kind.CONFLICT, reason="unique_value", holder_id=holder)
        records[record_id] = replace(before, properties={**before.properties, **sent})
        return Reply(kind=Kind.DONE, record=replace(records[record_id], contact_ids=()))

    def _holder(
        self, records: dict[str, Remote], sent: dict[str, str], unique: tuple[str, ...]
    ) -> str | None:
        for each in records.values():
            taken = any(
                sent.get(name) and each.properties.get(name) == sent[name] for name in unique
            )
            if taken and (self.reserves or not each.archived):
                return each.id
        return None

    @staticmethod
    def _live(records: dict[str, Remote]) -> dict[str, Remote]:
        return {each.id: each for each in records.values() if not each.archived}


_UNHEARD: dict[str, Reply] = {
    "never": Reply(kind=Kind.NOT_SENT),
    "paused": Reply(kind=Kind.PAUSED, reason="limit_burst", wait_s=10, status=429),
    "locked": Reply(kind=Kind.TRANSIENT, reason="locked", status=423),
}
_UNDONE: dict[str, Reply] = {
    "never": Reply(kind=Kind.NOT_SENT),
    "lost": Reply(kind=Kind.TRANSIENT, reason="timeout"),
    "paused": _UNHEARD["paused"],
}

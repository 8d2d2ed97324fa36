"""Lives of a few sessions in a bad world, by a seed: whatever happens, the CRM shows them once and right.

For half an hour or more of its own time requests are lost, late or never sent, workers overlap, are
slow or die, and people write on. Then it is quiet, and everything has to come right by itself.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from domain.crm.content import compare
from domain.crm.desired import RANKS
from domain.crm.sync import CrmSync
from domain.instants import shift, to_datetime
from domain.ports.effects import Crm
from projections import FOLD_VERSION
from projections.committing import Edition
from projections.crm import CRM
from tests.support.actors import Actor, Stopped
from tests.support.backends import Backend
from tests.support.crm_account import STAGES
from tests.support.crm_world import CrmWorld, Worker

EDITION: Final = Edition((CRM,), FOLD_VERSION)
_CALLS: Final = ("insert_events", "snapshot", "get", "put", "delete", "query_index", "resolve")
_YEAR: Final = timedelta(days=365)
_PHONES: Final = ("5511955550142", "551155550143", "5511955550144")


@dataclass
class Life:
    """One run. `archives` lets people archive deals by hand; `edits` lets them rename them."""

    backend: Backend
    seed: int
    archives: bool = False
    edits: bool = False
    rate: float = 0.5
    died: int = 0
    renamed: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.world = CrmWorld(
            self.backend, edition=EDITION, organization=f"org-{self.seed}-{id(self)}"
        )
        self.account: Any = self.world.account
        self.crm: Crm = self.world.account
        self.stages: dict[str, str] = STAGES
        self.account.chaos.random = self.random
        self.account.reserves = self.random.random() < 0.5
        count = self.random.choice((1, 1, 2, 3))
        self.sessions = [f"{self.world.organization}-{number}" for number in range(count)]
        self.actors: list[Actor] = []
        self.ended: set[str] = set()
        self.turns = 0

    def run(self) -> str:
        """Live through it; return what became of it: `converged`, or what is wrong."""
        same_phone = self.random.random() < 0.3
        for number, session in enumerate(self.sessions):
            phone = _PHONES[0] if same_phone else _PHONES[number]
            self.world.start(session, phone=phone, name=f"Ana {'' if same_phone else number}")
        self.account.chaos.rate = self.rate
        # Short lives too: what goes wrong last is not set right by what somebody writes next.
        for _ in range(self.random.choice((4, 6, 8, 12, 40))):
            self._moment()
            if twice := self._duplicated():
                return twice
        self._calm()
        return self._verdict()

    def _moment(self) -> None:
        draw = self.random
        self.world.pass_time(seconds=draw.choice((1, 2, 5, 10, 20, 40, 60, 60, 150)))
        if draw.random() < 0.5:
            self._somebody_writes(draw.choice(self.sessions))
        if draw.random() < 0.15:
            self._somebody_works_in_the_crm()
        if len(self.actors) < 2 and draw.random() < 0.7:
            self.actors.append(self._worker())
        for actor in list(self.actors):
            self._goes_on(actor)

    def _goes_on(self, actor: Actor) -> None:
        """Let a worker make a few calls; now and then it dies."""
        for _ in range(self.random.choice((1, 3, 8, 30))):
            actor.step()
        if not actor.done and self.random.random() < 0.08:
            actor.kill()
            self.died += 1
        if actor.done:
            self.actors.remove(actor)
        if actor.error is not None:
            raise actor.error

    def _worker(self) -> Actor:
        """Start a worker in a process of its own, as slow as the test likes."""
        worker: Worker

        def run() -> object:
            return worker.run()

        def stop(answer: object) -> object:
            return actor.stop_here(answer)

        actor = Actor(run)
        worker = self._new_worker(Stopped(self.crm, stop))
        for call in _CALLS:
            worker.log.steps.change(call, stop)
        return actor

    def _new_worker(self, crm: Any) -> Worker:
        chosen = {f"hubspot_stage_{name}": stage_id for name, stage_id in self.stages.items()}
        return self.world.worker(crm, **chosen)

    def _somebody_writes(self, session: str) -> None:
        if session in self.ended:
            return
        draw = self.random
        self.turns += 1
        data = f'{{"pedido":"amostra {self.turns}"}}'
        acts: list[Callable[[], None]] = [
            lambda: self.world.turn(session, qualification_data=data),
            lambda: self.world.turn(session, "QUALIFYING", segment=f"S{self.turns % 3}"),
            lambda: self.world.turn(session, intent=f"I{self.turns % 4}"),
            lambda: self.world.ask_for_people(session),
            lambda: self.world.give_back(session),
        ]
        if draw.random() < 0.1:
            self.ended.add(session)
            self.world.end(session, draw.choice(("resolved", "abandoned")))
        else:
            draw.choice(acts)()

    def _somebody_works_in_the_crm(self) -> None:
        live = self.account.live()
        if not live:
            return
        deal = self.random.choice(live)
        if self.edits:
            name = f"Conta {self.world.new_id()}"
            self.account.edit(deal.id, name=name)
            self.renamed[deal.id] = name
        elif self.archives and self.random.random() < 0.3:
            self.account.archive(deal.id)

    def _calm(self) -> None:
        self.account.chaos.rate = 0.0
        for actor in self.actors:
            (actor.finish if self.random.random() < 0.5 else actor.kill)()
        for _ in range(80):
            due_at = self._next_due()
            if due_at is None:
                break
            ahead = to_datetime(due_at) - to_datetime(self.world.now)
            self.world.pass_time(seconds=max(60.0, ahead.total_seconds()))
            self._new_worker(self.crm).run()
        # What was under way to the very end arrives too.
        self.world.pass_time(seconds=300)

    def _next_due(self) -> str | None:
        later = shift(self.world.now, _YEAR)
        worker = self._new_worker(self.crm)
        listed = list(worker.crm.due(self.world.organization, later))
        return min((each.sort_key.partition("#")[0] for each in listed), default=None)

    def _verdict(self) -> str:
        if twice := self._duplicated():
            return twice
        wrong = [each for session in self.sessions if (each := self._wrong(session))]
        return wrong[0] if wrong else "converged"

    def _duplicated(self) -> str:
        keys = Counter(deal.properties["key"] for deal in self.account.live())
        if any(count > 1 for count in keys.values()):
            return "duplicate deal"
        archived = {deal.properties["key"] for deal in self.account.deals.values() if deal.archived}
        if archived & keys.keys():
            return "re-created deal"
        phones = Counter(each.properties["phone_key"] for each in self.account.contacts.values())
        return "duplicate contact" if any(count > 1 for count in phones.values()) else ""

    def _wrong(self, session: str) -> str:
        sync, key = self.world.row(session), f"test:{session}"
        deal = next((d for d in self.account.deals.values() if d.properties["key"] == key), None)
        if deal is not None and deal.archived:
            told = sync.status == "BLOCKED" and sync.blocked_reason == "deal_archived"
            return "" if told or sync.deal_id else f"archived while {sync.status}"
        if sync.status not in {"", "SYNCED"}:
            return f"stuck {sync.status} {sync.blocked_reason}"
        if deal is None:
            return "" if sync.desired["terminal"] or not sync.status else "no deal"
        return self._stale(sync) if deal.id == sync.deal_id else "linked to another deal"

    def _stale(self, sync: CrmSync) -> str:
        deal = self.account.deals[sync.deal_id]
        contact = self.account.contacts.get(sync.contact_id)
        if contact is None or contact.id not in deal.contact_ids:
            return "not associated"
        desired = {"name": "", **sync.desired["deal"]}
        desired["name"] = self.renamed.get(deal.id) or sync.desired["contact"]["name"]
        stage_of = {stage_id: name for name, stage_id in self.stages.items()}
        stage = stage_of[deal.properties["stage"]]
        if RANKS[stage] < RANKS[sync.desired["stage"]]:
            return "stale stage"
        held = {name: deal.properties.get(name, "") for name in desired}
        if any(" ".join(held[name].split()) != " ".join(desired[name].split()) for name in held):
            return f"stale {sorted(name for name in held if held[name] != desired[name])}"
        change = compare("contact", sync.desired["contact"], contact.properties, {}, ())
        return "stale contact" if change.write or change.kept else ""

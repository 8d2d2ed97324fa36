"""The lives of `crm_lives` over real sockets: HubSpot's adapter, and the HubSpot that fits on a laptop."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from adapters.hubspot import properties
from adapters.hubspot.client import HubSpotClient
from adapters.hubspot.crm import HubSpotCrm
from adapters.hubspot.pacing import Pacer
from adapters.hubspot.wire import ObjectKind
from domain.crm.desired import STAGES as LOGICAL
from domain.crm.replies import Remote
from handlers.simulators.hubspot import DEALS, PRESETS, STAGES, Chaos, HubSpot, Setup
from handlers.simulators.hubspot.records import Record
from tests.support.crm_lives import Life
from tests.support.crm_world import NOW, CrmWorld

_STAGES: Final = {name: STAGES[name] for name in LOGICAL}


class Seen:
    """What stands in a simulated account, as the checks of a life look at it."""

    def __init__(self, hubspot: HubSpot, random: Random) -> None:
        self._hubspot = hubspot
        self.chaos = self
        self.random = random
        self.reserves = True

    @property
    def rate(self) -> float:
        """Return the share of requests that go wrong."""
        return 1.0 if self._hubspot.setup.faults != Chaos() else 0.0

    @rate.setter
    def rate(self, rate: float) -> None:
        # None of them is told to be left alone for longer than a life lasts.
        faults = replace(PRESETS["many"], late=0.25) if rate else Chaos()
        self._hubspot.configure(faults=faults)

    @property
    def deals(self) -> dict[str, Remote]:
        """Return all deals there ever were."""
        return self._all("deal")

    @property
    def contacts(self) -> dict[str, Remote]:
        """Return all contacts there ever were."""
        return self._all("contact")

    def live(self) -> list[Remote]:
        """Return the deals that are not archived."""
        return [deal for deal in self.deals.values() if not deal.archived]

    def archive(self, record_id: str) -> None:
        """Archive a deal by hand."""
        self._hubspot.people.archive(DEALS, record_id)

    def edit(self, record_id: str, *, name: str) -> None:
        """Rename a deal by hand."""
        self._hubspot.people.edit(DEALS, record_id, dealname=name)

    def requests(self) -> int:
        """Return how many requests there were."""
        return len(self._hubspot.journal)

    def _all(self, kind: ObjectKind) -> dict[str, Remote]:
        list_all = self._hubspot.deals if kind == "deal" else self._hubspot.contacts
        records = [*list_all(archived=False), *list_all(archived=True)]
        return {record.id: self._remote(kind, record) for record in records}

    def _remote(self, kind: ObjectKind, record: Record) -> Remote:
        archived = record.archived_at is not None
        linked = kind == "deal" and not archived
        return Remote(
            id=record.id,
            properties=properties.read(kind, dict(record.values)),
            archived=archived,
            contact_ids=tuple(self._hubspot.contacts_of(record.id)) if linked else (),
        )


class Now:
    """The clock of whatever world is lived in."""

    world: CrmWorld | None = None

    def __call__(self) -> str:
        return self.world.now if self.world else NOW


@dataclass
class Played:
    """One simulator for many lives, and the adapter that asks it."""

    hubspot: HubSpot
    crm: HubSpotCrm
    now: Now


@contextmanager
def played() -> Iterator[Played]:
    """Lend a simulator that listens, whose time is that of the newest life."""
    now = Now()
    setup = Setup(burst=10**6, searches=10**6)
    with HubSpot(setup, random=Random(0), now=now) as hubspot:
        client = HubSpotClient(
            hubspot.token,
            base_url=hubspot.url,
            read_s=5,
            pacer=Pacer(lambda: 0.0, lambda _: None),
        )
        crm = HubSpotCrm(client)
        try:
            yield Played(hubspot, crm, now)
        finally:
            crm.close()


def over_http(life: Life, played: Played) -> Life:
    """Let a life be lived over real sockets, with an empty account of its own."""
    life.world.account.chaos.rate = 0.0
    played.now.world = life.world
    reserved = life.world.account.reserves
    setup = Setup(burst=10**6, searches=10**6, reserved=reserved, journal=100_000)
    played.hubspot.reset(Random(life.seed), setup)
    account: Any = Seen(played.hubspot, life.random)
    life.account, life.crm, life.stages = account, played.crm, _STAGES
    return life

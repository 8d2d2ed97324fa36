"""A deployment's mirror as it is wired, on a SQLite file and over real sockets to a simulated HubSpot."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any

from adapters.hubspot.client import HubSpotClient
from adapters.hubspot.crm import HubSpotCrm
from adapters.hubspot.pacing import Pacer
from domain.crm.desired import STAGES as LOGICAL
from handlers.bootstrap import App, build
from handlers.bootstrap.crm import build_crm
from handlers.bootstrap.crm_operators import build_diagnosing, build_operators
from handlers.crm.diagnosing import Report
from handlers.crm.operating import CrmOperators
from handlers.crm.worker import RunReport
from handlers.crm_settings import CrmSettings
from handlers.mirror import Mirror
from handlers.settings import read_settings
from handlers.simulators.hubspot import (
    CONTACTS,
    DEALS,
    SESSION_KEY,
    STAGES,
    Entry,
    HubSpot,
    Record,
    Setup,
)
from tests.support.backends import Backend, sqlite_backend
from tests.support.crm_world import CrmWorld

DEALS_PATH = "/crm/objects/*/deals"
CONTACTS_PATH = "/crm/objects/*/contacts"
STAGE_SETTINGS = {f"hubspot_stage_{name}": STAGES[name] for name in LOGICAL}


class Deployment(CrmWorld):
    """Conversations of one process, and in another the application that mirrors them."""

    def __init__(self, backend: Backend, folder: Path, closing: ExitStack, setup: Setup) -> None:
        super().__init__(backend)
        self._closing = closing
        self._mirror: Mirror | None = None
        self.hubspot = closing.enter_context(HubSpot(setup, random=Random(7), now=lambda: self.now))
        settings = read_settings({}, file=folder / "none.toml", db=folder / "leads.db")
        self.app: App = build(settings, now=lambda: self.now, ids=self.new_id, pause=lambda _: None)
        closing.callback(self.app.close)

    def settings(self, **changes: Any) -> CrmSettings:
        """What the deployment is told."""
        told = {
            "hubspot_token": self.hubspot.token,
            "hubspot_url": self.hubspot.url,
            "crm_environment": "test",
        }
        return CrmSettings(**{**STAGE_SETTINGS, **told, **changes})

    def mirror(self, crm: HubSpotCrm | None = None, **changes: Any) -> Mirror:
        """Start another process with a worker."""
        mirror = build_crm(self.app, self.settings(**changes), crm=crm)
        self._closing.callback(mirror.close)
        return mirror

    def adapter(self, pacer: Pacer | None = None) -> HubSpotCrm:
        """Open the adapter beside the one the settings name; without a pacer nobody waits."""
        hasty = Pacer(lambda: 0.0, lambda _: None)
        client = HubSpotClient(
            self.hubspot.token, base_url=self.hubspot.url, read_s=5, pacer=pacer or hasty
        )
        crm = HubSpotCrm(client)
        self._closing.callback(crm.close)
        return crm

    def run(self, mirror: Mirror | None = None) -> RunReport:
        """Work on what is due; always in the same process, unless another one is named."""
        if mirror is None:
            mirror = self._mirror = self._mirror or self.mirror()
        assert mirror.processor is not None
        return mirror.processor.run()

    def operators(self) -> CrmOperators:
        """What operators of the deployment do."""
        return build_operators(self.app, self.mirror())

    def diagnosed(self) -> Report:
        """Compare the rows with the account, over a way out that only reads."""
        diagnosing = build_diagnosing(self.app, self.settings(), remote=True)
        try:
            return diagnosing.remote(self.organization)
        finally:
            diagnosing.close()

    def synced(self, *sessions: str, **said: Any) -> None:
        """Let sessions be answered and mirrored; what that took is forgotten."""
        for number, session in enumerate(sessions or ("s-1",)):
            self.start(session, phone=f"551195555{142 + number:04d}")
            self.turn(session, **said)
        report = self.run()
        assert set(report.endings) == {"synced"}, report
        self.hubspot.journal.clear()

    def deal(self, session: str = "s-1") -> Record:
        """Return the one living deal with the key of a session."""
        [found] = [
            each
            for each in self.hubspot.deals()
            if each.values.get(SESSION_KEY) == f"test:{session}"
        ]
        return found

    def statuses(self, *sessions: str) -> list[str]:
        """Return how rows stand, in order."""
        return [self.row(each).status for each in sessions]

    def edit(self, session: str = "s-1", **values: str) -> None:
        """Let a person change the deal of a session."""
        self.hubspot.people.edit(DEALS, self.deal(session).id, **values)

    def contact(self) -> Record:
        """Return the only living contact."""
        [found] = self.hubspot.contacts()
        return found

    def asked(self, method: str | None = None, path: str = "*") -> list[Entry]:
        """Return the requests about contacts and deals, but not about the account itself."""
        return [
            each
            for each in self.hubspot.journal.of(method, path)
            if each.path.startswith("/crm/objects/")
        ]

    def creations(self, kind: str = DEALS) -> list[Entry]:
        """Return the requests that asked for another contact or deal."""
        return self.asked("POST", DEALS_PATH if kind == DEALS else CONTACTS_PATH)


@contextmanager
def deployed(folder: Path, **setup: Any) -> Iterator[Deployment]:
    """Lend a deployment on an empty store, and an account that makes nobody wait."""
    told = Setup(**{"burst": 10**6, "searches": 10**6, **setup})
    with sqlite_backend(folder) as backend, ExitStack() as closing:
        yield Deployment(backend, folder, closing, told)


def human_contact(world: Deployment, **values: str) -> str:
    """Let a person make a contact, long enough ago for a search to see it; return its id."""
    made = world.hubspot.people.create(CONTACTS, **{"firstname": "Ana", **values})
    world.pass_time(minutes=1)
    return made

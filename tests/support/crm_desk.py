"""Sessions in a database, a HubSpot of this machine, and the command line between them."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import httpx2

from adapters.clock import utc_now
from domain import keys
from domain.conversation.facts import AGENTS, CRM, Facts
from domain.crm.sync import CrmSync
from domain.event import LeadEvent, NewEvent
from domain.instants import shift
from handlers.bootstrap import App
from handlers.simulators.hubspot import DEALS, SESSION_KEY, STAGES, HubSpot, Setup
from projections.crm import CRM as MIRROR
from projections.decision import Decision
from tests.support.cli import Answer, CommandLine

ORGANIZATION = "default"
PHONE = "5511955550142"
NAME = "Ana Canário Lima"
NOTE = "cadastro-canario@example.com"
APPLY = ("--apply", "--reason", "Conferido no CRM", "--operator", "ana")
STAGE_SETTINGS = {
    f"HUBSPOT_STAGE_{name.upper()}": STAGES[name]
    for name in ("novo_lead", "em_triagem", "atendimento_humano", "finalizado", "perdido")
}
_HISTORY = "dealname,dealstage,description,lead_session_id"


@dataclass
class Desk:
    """Commands run on the database of `leads` and on `account`."""

    leads: CommandLine
    account: HubSpot
    env: dict[str, str]

    def __call__(self, *arguments: object, **env: str) -> Answer:
        return self.leads("crm", *arguments, env={**self.env, **env})

    def json(self, *arguments: object, **env: str) -> Any:
        answer = self(*arguments, "--json", **env)
        assert answer.out, answer.err
        return json.loads(answer.out)

    @contextmanager
    def app(self) -> Iterator[App]:
        app = self.leads.app()
        try:
            yield app
        finally:
            app.close()

    def session(self, session: str = "s-1", *, phone: str = PHONE, name: str = NAME) -> None:
        """A lead that wrote and was answered: its mirror is PENDING."""
        self.record(
            session,
            lambda facts: [
                facts.session_started(session, "whatsapp", "1", reply_to=phone, contact_name=name)
            ],
        )
        self.turn(session)

    def turn(self, session: str = "s-1", state: str = "TRIAGE", **said: Any) -> None:
        self.record(
            session,
            lambda facts: [
                facts.fact(
                    "agent_turn_completed",
                    AGENTS,
                    f"{session}:turn:{facts.new_id()}",
                    session_id=session,
                    covered_message_ids=["wamid.1"],
                    agent="triagem",
                    code="CONTINUE",
                    state_after=state,
                    **said,
                )
            ],
        )

    def mirror(self, session: str, event_type: str, *, ago: timedelta, **said: Any) -> None:
        """Record what a worker would have recorded some time ago."""
        self.record(
            session,
            lambda facts: [
                facts.fact(
                    event_type, CRM, f"{session}:x:{facts.new_id()}", session_id=session, **said
                )
            ],
            ago=ago,
        )

    def in_doubt(
        self, session: str = "s-1", *, mode: str = "unique_property", minutes: float = 30
    ) -> None:
        """A creation that nobody heard of. Without a unique key it waits for a person."""
        ago = timedelta(minutes=minutes)
        self.mirror(
            session,
            "crm_deal_creation_started",
            ago=ago,
            revision=self.row(session).revision,
            token=f"t-{session}",
            create_key=f"prod:{session}",
            mode=mode,
        )
        later = {"retry_at": shift(utc_now(), timedelta(hours=1))} if mode != "conservative" else {}
        self.mirror(
            session,
            "crm_sync_uncertain",
            ago=ago,
            revision=self.row(session).revision,
            reason="creation_result_unknown",
            **later,
        )

    def blocked(self, session: str = "s-1", reason: str = "validation") -> None:
        self.mirror(
            session,
            "crm_sync_blocked",
            ago=timedelta(minutes=5),
            revision=self.row(session).revision,
            reason=reason,
            marker="kept",
            http_status=400,
            category="VALIDATION_ERROR",
            correlation="3d9f1c1e",
        )

    def record(
        self,
        session: str,
        make: Callable[[Facts], Sequence[NewEvent]],
        ago: timedelta = timedelta(),
    ) -> None:
        with self.app() as app:
            now = shift(app.now(), -ago)
            facts = make(Facts(organization_id=ORGANIZATION, now=now, new_id=app.new_id))
            app.log.record(
                Decision(
                    organization_id=ORGANIZATION,
                    lead=f"lead-of-{session}",
                    decide=lambda _: facts,
                    stands_on=[],
                )
            )

    def row(self, session: str = "s-1") -> CrmSync:
        """The row, consistently read."""
        key = keys.crm_sync(session)
        with self.app() as app:
            ground = app.log.reader.ground(f"lead-of-{session}", [MIRROR], [key])
        sync: CrmSync | None = ground.fold.states(MIRROR).get(key)
        assert sync is not None
        return sync

    def acts(self, session: str = "s-1") -> list[LeadEvent]:
        """What operators did to a session."""
        lead = f"lead-of-{session}"
        with self.app() as app:
            events = app.log.reader.events(lead, lte=app.log.reader.head(lead).version)
        return [each for each in events if each.event_type == "crm_operator_action"]

    def tamper(self, session: str = "s-1", **changes: Any) -> None:
        """Change a stored row behind the log's back; `gsi1` its place in the index."""
        with self.app() as app:
            row = app.table.get(keys.crm_sync(session))
            assert row is not None
            gsi1 = changes.pop("gsi1", row.gsi1)
            attributes = {**row.attributes, **changes}
            kept = {name: each for name, each in attributes.items() if each is not None}
            app.table.put(replace(row, attributes=kept, gsi1=gsi1))

    def deal_of(self, session: str = "s-1") -> Any:
        """The account's deal with the session's key."""
        [found] = [
            each
            for each in self.account.deals()
            if each.values.get(SESSION_KEY) == f"prod:{session}"
        ]
        return found

    def snapshot(self, path: Path, *, archived: bool = True) -> Path:
        """Write a file of all deals, as HubSpot's API lists them."""
        lines = [{"takenAt": "2026-03-20T12:00:00Z"}]
        for gone in ("false", "true") if archived else ("false",):
            answer = httpx2.get(
                f"{self.account.url}/crm/objects/2026-09/deals",
                headers={"Authorization": f"Bearer {self.account.token}"},
                params={
                    "limit": "50",
                    "archived": gone,
                    "associations": "contacts",
                    "properties": f"{_HISTORY},hs_merged_object_ids",
                    "propertiesWithHistory": _HISTORY,
                },
                trust_env=False,
            )
            assert answer.status_code == 200, answer.text
            lines += answer.json()["results"]
        path.write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")
        return path


@contextmanager
def crm_desk(leads: CommandLine, **setup: Any) -> Iterator[Desk]:
    """An empty database and an account that never makes anybody wait."""
    told = Setup(**{"burst": 10**6, "searches": 10**6, "lag_s": (0.0, 0.0), **setup})
    with HubSpot(told, random=Random(7), now=utc_now) as account:
        env = {
            **STAGE_SETTINGS,
            "HUBSPOT_URL": account.url,
            "HUBSPOT_TOKEN": account.token,
            "HUBSPOT_ENABLED": "true",
        }
        leads.app().close()
        yield Desk(leads, account, env)


def human_deal(account: HubSpot, **values: str) -> str:
    """A deal that a person made by hand; return its id."""
    usual = {"dealname": "Feito à mão", "dealstage": STAGES["em_triagem"], "pipeline": "default"}
    return account.people.create(DEALS, **{**usual, **values})

"""What WhatsApp posts, made by hand and signed, and a service with conversations to post it to."""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from adapters.clock import new_id
from adapters.scripted import ScriptedModel
from domain import keys
from domain.instants import to_datetime
from handlers.bootstrap import App, build, build_talks
from handlers.settings import read_conversation_settings, read_settings
from handlers.talks import Talks
from projections.deciding import Decision, Recorded
from projections.lead_log import LeadLog
from tests.support.service import NOW, serving
from tests.support.talks import Phone
from tests.support.webhook import APP_SECRET, VERIFY_TOKEN

ACCOUNT = "109876543210987"
ANA = "5511955550142"
ROUTE = "/v1/channels/whatsapp"
EMPTY = b'{"object":"whatsapp_business_account","entry":[]}'

SETTINGS = {
    "LEADS_WHATSAPP_NUMBERS": ACCOUNT,
    "LEADS_WHATSAPP_APP_SECRET": APP_SECRET,
    "LEADS_WHATSAPP_VERIFY_TOKEN": VERIFY_TOKEN,
}


def signature(body: bytes, secret: str = APP_SECRET) -> str:
    """Sign as Meta does."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def signed(body: bytes, secret: str = APP_SECRET) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "X-Hub-Signature-256": signature(body, secret),
    }


def stamp(now: str) -> str:
    """The moment as WhatsApp writes it, in seconds."""
    return str(int(to_datetime(now).timestamp()))


def text(message_id: str, said: str = "Oi", sender: str = ANA, **more: Any) -> dict[str, Any]:
    return {
        "from": sender,
        "id": message_id,
        "timestamp": "1774008000",
        "type": "text",
        "text": {"body": said},
        **more,
    }


def status(message_id: str, name: str, to: str = ANA) -> dict[str, Any]:
    return {"id": message_id, "status": name, "timestamp": "1774008001", "recipient_id": to}


def delivery(*messages: Any, account: str = ACCOUNT, **slots: Any) -> bytes:
    """One envelope of one change."""
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "5511955550100", "phone_number_id": account},
        **({"messages": list(messages)} if messages else {}),
        **slots,
    }
    change = {"field": "messages", "value": value}
    entry = [{"id": "102030405060708", "changes": [change]}]
    return json.dumps({"object": "whatsapp_business_account", "entry": entry}).encode()


@dataclass
class Talking:
    """A service with conversations, on a SQLite file of its own, over HTTP on loopback."""

    app: App
    talks: Talks
    http: httpx2.Client
    phone: Phone
    model: ScriptedModel = field(default_factory=ScriptedModel)

    def post(self, body: bytes, **headers: str) -> httpx2.Response:
        return self.http.post(ROUTE, content=body, headers=signed(body) | headers)

    def drain(self) -> None:
        """Do what is due for every lead."""
        self.talks.loop.look()
        while self.talks.loop.step():
            pass

    def leads(self, organization_id: str = "default") -> list[str]:
        return list(self.app.maintenance.leads(organization_id))

    def types(self, lead: str | None = None) -> list[str]:
        """The types of the events of a lead, of the only one unless named."""
        if lead is None:
            [lead] = self.leads()
        version = self.app.log.reader.head(lead).version
        return [each.event_type for each in self.app.log.reader.events(lead, lte=version)]

    def quarantined(self, organization_id: str = "default") -> list[Any]:
        return list(self.app.quarantine.list(organization_id, now=NOW, limit=100).items)


class FailingLog(LeadLog):
    """A log that fails on messages by their ids: with what `fails` says, as long as it does."""

    fails: dict[str, Exception]

    def record(self, decision: Decision) -> Recorded:
        for message_id, error in self.fails.items():
            key = keys.receipt(decision.organization_id, "whatsapp", message_id)
            if decision.command is not None and decision.command.key == key:
                raise error
        return super().record(decision)


def failing_log(folder: Path, fails: dict[str, Exception]) -> FailingLog:
    settings = read_settings({}, file=folder / "none.toml", db=folder / "leads.db")
    environment = {"PERSISTENCE_MODULE": "adapters.sqlite", **settings.variables()}
    log = FailingLog(environment, new_id=new_id, pause=lambda _: None)
    log.fails = fails
    return log


@contextmanager
def talking(
    folder: Path,
    now: Callable[[], str] = lambda: NOW,
    log: LeadLog | None = None,
    **settings: str,
) -> Iterator[Talking]:
    """Serve a deployment; `settings` are variables beside those of `SETTINGS`."""
    nowhere = folder / "none.toml"
    app = build(
        read_settings({}, file=nowhere, db=folder / "leads.db"),
        now=now,
        ids=new_id,
        pause=lambda _: None,
        log=log,
    )
    phone, model = Phone(), ScriptedModel()
    talks = build_talks(
        app,
        read_conversation_settings({**SETTINGS, **settings}, file=nowhere),
        channels={"whatsapp": phone},
        model=model,
    )
    try:
        with (
            serving(app, talks) as url,
            httpx2.Client(base_url=url, timeout=30, trust_env=False) as http,
        ):
            yield Talking(app, talks, http, phone, model)
    finally:
        talks.close()
        app.close()

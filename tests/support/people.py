"""Conversations with people in them, on a SQLite file of a test's own, with a clock moved by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from adapters.clock import new_id
from domain.addresses import address
from domain.conversation.handling import OperatorMessage
from domain.conversation.inbound import InboundMessage, MessageEcho
from domain.event import LeadEvent
from domain.instants import shift
from handlers.bootstrap import App, build, build_talks
from handlers.settings import read_conversation_settings, read_settings
from handlers.talks import Talks
from tests.support.backends import sqlite_backend
from tests.support.stepping import SteppedLog, Steps
from tests.support.talks import EDITION, NOW, ORGANIZATION, PHONE, Phone

ACCOUNT = "109876543210987"


@dataclass
class Desk:
    """A deployment, its leads' phone, and a clock that stands still until it is moved."""

    folder: Path
    settings: dict[str, Any]
    log: SteppedLog | None = None
    now: str = NOW
    phone: Phone = field(default_factory=Phone)
    _said: int = 0

    def __post_init__(self) -> None:
        nowhere = self.folder / "none.toml"
        self.app: App = build(
            read_settings({}, file=nowhere, db=self.folder / "leads.db"),
            now=lambda: self.now,
            ids=new_id,
            pause=lambda _: None,
            log=self.log,
        )
        self.talks: Talks = build_talks(
            self.app,
            read_conversation_settings({}, file=nowhere, **self.settings),
            channels={"whatsapp": self.phone},
        )

    @property
    def operators(self) -> Any:
        return self.talks.operators

    def pass_by(self, **span: float) -> None:
        self.now = shift(self.now, timedelta(**span))

    def says(
        self, text: str = "oi", *, phone: str = PHONE, work: bool = True, media_type: str = "text"
    ) -> str:
        """Let a lead write; return the lead."""
        self._said += 1
        item = InboundMessage(
            channel="whatsapp",
            source="whatsapp",
            external_event_id=f"wamid.IN{self._said:04d}",
            account=ACCOUNT,
            address=address("whatsapp", phone),
            occurred_at=self.now,
            raw=b"",
            reply_to=phone,
            media_type=media_type,
            text=text,
        )
        [received] = self.talks.receiving.receive(ORGANIZATION, [item])
        assert received.lead is not None
        if work:
            self.work()
        return received.lead

    def echoes(self, text: str, *, phone: str = PHONE) -> None:
        """Let somebody write to a lead on the business's own phone."""
        self._said += 1
        item = MessageEcho(
            channel="whatsapp",
            source="whatsapp_echo",
            external_event_id=f"wamid.ECHO{self._said:04d}",
            account=ACCOUNT,
            address=address("whatsapp", phone),
            occurred_at=self.now,
            raw=b"",
            media_type="text",
            text=text,
        )
        [received] = self.talks.receiving.receive(ORGANIZATION, [item])
        assert received.outcome == "recorded"

    def work(self) -> None:
        """Work on every lead for whom something is due now."""
        self.talks.loop.look()
        while self.talks.loop.step():
            pass

    def waiting(self, phone: str = PHONE) -> str:
        """Let a lead write whom no agent answers, so that it waits for a person."""
        return self.says("quero falar com um atendente", phone=phone)

    def claimed(self, operator: str = "ana", phone: str = PHONE) -> str:
        lead = self.waiting(phone)
        self.operators.claim(ORGANIZATION, lead, operator)
        return lead

    def events(self, lead: str, *types: str) -> list[LeadEvent]:
        reader = self.app.log.reader
        found = reader.events(lead, lte=reader.head(lead).version)
        return [event for event in found if not types or event.event_type in types]

    def thread(self, lead: str) -> Any:
        return self.talks.conversations.look(lead).thread

    def session(self, lead: str) -> Any:
        return self.talks.conversations.get_active(lead)

    def reply(self, lead: str, operator: str = "ana", text: str = "Bom dia", **more: Any) -> Any:
        message = OperatorMessage(**{"text": text, "client_message_id": new_id(), **more})
        return self.operators.reply(ORGANIZATION, lead, operator, message)


@contextmanager
def stepped_desk(folder: Path, **settings: Any) -> Iterator[tuple[Desk, Steps]]:
    """Lend a desk, and where its store can be stopped."""
    with sqlite_backend(folder) as backend:
        log = SteppedLog(
            backend.factory,
            backend.recorder,
            backend.table,
            edition=EDITION,
            new_id=new_id,
            send=lambda events, commit: backend.recorder.insert_events(events, commit=commit),
        )
        with desk(folder, log, **settings) as made:
            yield made, log.steps


@contextmanager
def desk(folder: Path, log: SteppedLog | None = None, **settings: Any) -> Iterator[Desk]:
    made = Desk(folder, settings, log)
    try:
        yield made
    finally:
        made.talks.close()
        made.app.close()

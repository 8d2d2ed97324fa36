"""Conversations on one store, as several processes see them, with a clock, a phone and a model.

A process may die at any call of a port (`Died`); another one goes on. What the phone got is what
the lead saw, whatever the service believes.
"""

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from adapters.scripted import ScriptedModel
from domain.addresses import address
from domain.conversation.delivery import Accepted, OutboundText, SendResult, Unknown
from domain.conversation.inbound import InboundMessage, MessageEcho, MessageStatus
from domain.conversation.messages import Message
from domain.conversation.model import ModelAnswer, ModelRequest
from domain.conversation.thread import Thread
from domain.instants import shift
from handlers.bootstrap import App, build, build_talks
from handlers.settings import read_conversation_settings, read_settings
from handlers.talks import Talks
from projections import ALL, FOLD_VERSION
from projections.committing import Edition
from tests.support.backends import Backend
from tests.support.stepping import Died, SteppedLog, Steps

NOW = "2026-03-20T12:00:00.000000Z"
PHONE = "5511955550142"
ORGANIZATION = "default"
EDITION = Edition(ALL, FOLD_VERSION)


@dataclass
class Phone:
    """The lead's phone, and the channel to it. `script` says what happens to the next sends."""

    texts: list[OutboundText] = field(default_factory=list)
    script: deque[Callable[[OutboundText], SendResult]] = field(default_factory=deque)
    steps: Steps = field(default_factory=Steps)

    def send(self, text: OutboundText) -> SendResult:
        """Deliver, or what the script says instead."""
        act = self.script.popleft() if self.script else self.deliver
        return self.steps.run("send", lambda: act(text))

    def typing(self, account: str, message_id: str) -> None:
        """Show nothing."""

    def deliver(self, text: OutboundText) -> SendResult:
        """Show the text, and say so."""
        self.texts.append(text)
        return Accepted(message_id=self.wamid(text, self.texts.count(text)))

    def lose_reply(self, text: OutboundText) -> SendResult:
        """Show the text; nobody hears of it."""
        self.texts.append(text)
        return Unknown(reason="read_timeout")

    def lose_request(self, text: OutboundText) -> SendResult:
        """Show nothing; nobody hears of it."""
        return Unknown(reason="read_timeout")

    @staticmethod
    def wamid(text: OutboundText, time: int = 1) -> str:
        """Return the id the channel gives a text; the same text has another each time."""
        return f"wamid.{text.outbound_id}" + (f".{time}" if time > 1 else "")

    def words(self) -> list[str]:
        """Return what the lead read, in order."""
        return [text.text for text in self.texts]


@dataclass
class SteppedModel:
    """The scripted model, at whose calls a process may die."""

    model: ScriptedModel
    steps: Steps = field(default_factory=Steps)

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """Answer as the scripted model does."""
        return self.steps.run("answer", lambda: self.model.answer(request))


@dataclass
class Process:
    """One process of the service. `steps` are those of its log and table."""

    app: App
    talks: Talks
    log: SteppedLog

    @property
    def steps(self) -> Steps:
        """Where it can be stopped."""
        return self.log.steps


class World:
    """A store, a clock, a phone and a model, and the processes on them."""

    def __init__(self, backend: Backend, folder: Path, *script: str, **settings: Any) -> None:
        self._backend = backend
        self._folder = folder
        self._settings = settings
        self._ids = itertools.count(1)
        self._messages = itertools.count(1)
        self.now = NOW
        self.phone = Phone()
        self.model = SteppedModel(ScriptedModel(script))

    def process(self) -> Process:
        """Start a process."""
        log = SteppedLog(
            self._backend.factory,
            self._backend.recorder,
            self._backend.table,
            edition=EDITION,
            new_id=self.new_id,
            send=lambda events, commit: self._backend.recorder.insert_events(events, commit=commit),
        )
        nowhere = self._folder / "none.toml"
        app = build(
            read_settings({}, file=nowhere, db=self._folder / "unused.db"),
            now=lambda: self.now,
            ids=self.new_id,
            log=log,
        )
        talks = build_talks(
            app,
            read_conversation_settings({}, file=nowhere, **self._settings),
            channels={"whatsapp": self.phone, "console": self.phone},
            model=self.model,
        )
        return Process(app, talks, log)

    def new_id(self) -> str:
        """Return an id in the form of ours, the next one later than all before."""
        return f"019d0c4e-7a10-7000-8000-{next(self._ids):012x}"

    def pass_time(self, **amount: float) -> None:
        """Let time pass."""
        self.now = shift(self.now, timedelta(**amount))

    def says(self, text: str, *, message_id: str = "", **changes: Any) -> InboundMessage:
        """Return a message of the lead, not received yet."""
        number = next(self._messages)
        said: dict[str, Any] = {
            "channel": "whatsapp",
            "source": "whatsapp",
            "external_event_id": message_id or f"wamid.IN{number:04d}",
            "account": "109876543210987",
            "address": address("whatsapp", PHONE),
            "occurred_at": self.now,
            "raw": b"{}",
            "reply_to": PHONE,
            "media_type": "text",
            "text": text,
        }
        return InboundMessage(**(said | changes))

    def status(
        self, text: OutboundText, status: str, *, time: int = 1, **changes: Any
    ) -> MessageStatus:
        """Return a status of a text the phone got, the first time or a later one."""
        wamid = self.phone.wamid(text, time)
        said: dict[str, Any] = {
            "channel": "whatsapp",
            "source": "whatsapp_status",
            "external_event_id": f"{wamid}:{status}",
            "account": text.account,
            "address": address("whatsapp", PHONE),
            "occurred_at": self.now,
            "raw": b"{}",
            "message_id": wamid,
            "status": status,
            "outbound_id": text.outbound_id,
        }
        return MessageStatus(**(said | changes))

    def echo(self, text: str, *, message_id: str = "wamid.ECHO1") -> MessageEcho:
        """Return what somebody wrote on the business's own phone."""
        return MessageEcho(
            channel="whatsapp",
            source="whatsapp_echo",
            external_event_id=message_id,
            account="109876543210987",
            address=address("whatsapp", PHONE),
            occurred_at=self.now,
            raw=b"{}",
            media_type="text",
            text=text,
        )

    def settle(self, *, hours: float = 1, step_s: float = 15) -> Process:
        """Let a sound process work until nothing is due, as time passes; return it."""
        process = self.process()
        until = shift(self.now, timedelta(hours=hours))
        while self.now < until:
            drain(process)
            if not any(thread.pending or list(thread.moving()) for thread in self.threads(process)):
                break
            self.pass_time(seconds=step_s)
        return process

    def threads(self, process: Process) -> Iterator[Thread]:
        """Yield the thread of every lead."""
        for lead in process.app.maintenance.leads(ORGANIZATION):
            thread = process.talks.conversations.look(lead).thread
            if thread is not None:
                yield thread


def drain(process: Process) -> None:
    """Work on every lead for whom something is due now."""
    process.talks.loop.look()
    while process.talks.loop.step():
        pass


def receive(process: Process, *items: Any) -> list[str]:
    """Receive items; return what became of each."""
    return [each.outcome for each in process.talks.receiving.receive(ORGANIZATION, items)]


def lead_of(process: Process) -> str:
    """Return the one lead there is."""
    [lead] = process.app.maintenance.leads(ORGANIZATION)
    return lead


def history(process: Process) -> list[Message]:
    """Return the messages of the one lead."""
    return process.talks.conversations.history(lead_of(process), limit=500)


def types(process: Process) -> list[str]:
    """Return the types of the lead's events, in their order."""
    lead = lead_of(process)
    version = process.log.reader.head(lead).version
    return [event.event_type for event in process.log.reader.events(lead, lte=version)]


def survives(act: Callable[[], Any]) -> bool:
    """Run something in a process that may die; tell whether it lived."""
    try:
        act()
    except Died:
        return False
    return True


def outbound_ids(texts: Iterable[OutboundText]) -> list[str]:
    """Return the ids of texts."""
    return [text.outbound_id for text in texts]

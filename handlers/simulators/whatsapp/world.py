"""What every part of one simulator shares."""

import base64
import hashlib
import math
import threading
from dataclasses import dataclass, field
from random import Random
from typing import Final

from domain import instants
from domain.ports.effects import Clock
from handlers.simulators.dice import Dice
from handlers.simulators.whatsapp.agenda import Agenda
from handlers.simulators.whatsapp.envelopes import Change
from handlers.simulators.whatsapp.faults import (
    Faults,
    Script,
    SendFault,
    StatusPlan,
    WebhookFault,
)
from handlers.simulators.whatsapp.people import Number, People, Person
from handlers.simulators.whatsapp.phones import Phones
from handlers.simulators.whatsapp.webhooks import Webhooks

# What real ids begin with: the kind of the id, then the phone, then the message.
_HEAD: Final = b"\x1c\x18\x0d"
_MIDDLE: Final = b"\x15\x02\x00\x12\x18\x14"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a simulator is told.

    Args:
        webhook: where the service takes webhooks; may be given later, to `Simulator.aim`.
        app_secret: signs the webhooks; empty leaves them unsigned.
        token: what the service must show to send.
        verify_token: what the handshake shows.
        numbers: the business's; the first one is meant where none is named.
        port: where to listen; 0 takes a free one.
        faults: what goes wrong by chance.
        speed: how much faster than real its seconds pass; infinite waits for nothing.
        posts_at_once: threads that post webhooks; with one their order is exact.
        timeout_s: how long a webhook's answer is waited for, in real seconds.
        enforce_window: refuse (131047) to write to who has not written for 24 hours.
    """

    webhook: str = ""
    app_secret: str
    token: str
    verify_token: str = ""
    numbers: tuple[Number, ...] = (Number(),)
    port: int = 0
    faults: Faults = field(default_factory=Faults)
    speed: float = math.inf
    posts_at_once: int = 1
    timeout_s: float = 10.0
    enforce_window: bool = False


class World:
    """One fictional WhatsApp: who is in it, what was said, what is on its way."""

    def __init__(self, setup: Setup, random: Random, now: Clock) -> None:
        self.setup = setup
        self.now = now
        self.dice = Dice(random)
        self.agenda = Agenda(speed=setup.speed, threads=setup.posts_at_once)
        self.webhooks = Webhooks(
            setup.webhook,
            secret=setup.app_secret,
            agenda=self.agenda,
            now=now,
            timeout_s=setup.timeout_s,
        )
        self.people = People()
        self.phones = Phones()
        self.webhook_script = Script[WebhookFault]()
        self.send_script = Script[SendFault]()
        self.status_script = Script[StatusPlan]()
        self._began = now()
        self._lock = threading.Lock()
        self._wrote: dict[tuple[str, str], str] = {}
        self._message_ids: set[str] = set()

    def seconds(self) -> int:
        """Return the time as webhooks tell it: whole seconds since 1970."""
        return int(instants.to_datetime(self.now()).timestamp())

    def message_id(self, address: str) -> str:
        """Return the id of the next message from or to an address.

        Another start makes other ids, whatever the seed: the service forgets none.
        """
        count = self.dice.count(f"message:{address}")
        what = f"{self.dice.base}:{self._began}:{address}:{count}"
        digest = hashlib.sha256(what.encode("utf-8", "surrogatepass")).digest()[:12]
        said = _HEAD + address.encode() + _MIDDLE + digest.hex().encode()
        return f"wamid.{base64.b64encode(said).decode()}"

    def bring(self, person: Person, *changes: Change) -> None:
        """Let a person's items go to the webhook, with the faults that are due."""
        addresses = (person.phone, person.user_id)
        items = []
        for change in changes:
            fault = self.webhook_script.take(*addresses)
            dice = self.dice.roll(f"webhook:{person.address}")
            items.append((change, fault or self.setup.faults.webhook(dice)))
        self.webhooks.bring(*items)

    def wrote(self, person: Person, number: Number, message_id: str) -> None:
        """Keep that a person wrote: it opens the window, and the message can be read."""
        with self._lock:
            self._wrote[person.address, number.phone_number_id] = self.now()
            self._message_ids.add(message_id)

    def wrote_at(self, person: Person, number: Number) -> str | None:
        """Return when a person last wrote to a number."""
        with self._lock:
            return self._wrote.get((person.address, number.phone_number_id))

    def is_message(self, message_id: str) -> bool:
        """Tell whether a person wrote this message."""
        with self._lock:
            return message_id in self._message_ids

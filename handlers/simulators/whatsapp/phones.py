"""What the fictional phones received, and what the business marked as read."""

import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from handlers.simulators.whatsapp.people import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A text that reached a phone. `outbound_id` is the sender's `biz_opaque_callback_data`."""

    to: str
    message_id: str
    outbound_id: str | None
    text: str
    at: str
    phone_number_id: str

    def as_json(self) -> JsonObject:
        """Return it as the control interface shows it."""
        return {
            "messageId": self.message_id,
            "outboundId": self.outbound_id,
            "text": self.text,
            "at": self.at,
            "to": self.to,
            "phoneNumberId": self.phone_number_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A message the business marked as read; `typing`: it said that it was answering."""

    message_id: str
    typing: bool


@dataclass(slots=True)
class Phones:
    """Keeps everything by the address it was sent to. Safe between threads."""

    listener: Callable[[Received], None] | None = None
    _received: dict[str, list[Received]] = field(default_factory=lambda: defaultdict(list))
    _reads: list[Read] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def receive(self, received: Received) -> None:
        """Keep a text, and tell whoever listens or waits."""
        with self._changed:
            self._received[received.to].append(received)
            self._changed.notify_all()
        if self.listener is not None:
            self.listener(received)

    def mark(self, read: Read) -> None:
        """Keep that a message was read."""
        with self._changed:
            self._reads.append(read)
            self._changed.notify_all()

    def received(self, *addresses: str | None) -> list[Received]:
        """Return what came to any of these addresses, those of one address in order."""
        with self._changed:
            return self._at(addresses)

    def wait_for(self, texts: int, timeout_s: float, *addresses: str | None) -> list[Received]:
        """Return what came once it is so many texts, or what there is when time is up."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._at(addresses)) >= texts, timeout_s)
            return self._at(addresses)

    @property
    def reads(self) -> list[Read]:
        """What was marked as read, in order."""
        with self._changed:
            return list(self._reads)

    @property
    def addresses(self) -> dict[str, int]:
        """How many texts came to each address."""
        with self._changed:
            return {address: len(texts) for address, texts in self._received.items()}

    def _at(self, addresses: tuple[str | None, ...]) -> list[Received]:
        found = (self._received.get(each, []) for each in addresses if each is not None)
        return [received for texts in found for received in texts]

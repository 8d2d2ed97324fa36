"""Who takes part: the business's numbers and the fictional people who write to them."""

import hashlib
import re
import threading
from dataclasses import dataclass, field
from typing import Any, Final

JsonObject = dict[str, Any]

USER_ID: Final = re.compile(r"[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}", re.ASCII)
"""A business-scoped user id. Source: research/whatsapp.md §1.1."""

_FIRST_NAMES: Final = ("Ana", "Bruno", "Carla", "Davi", "Elisa", "Fábio", "Gil", "Helena", "Íris")
_USER_ID_DIGITS: Final = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number of the business: its id at the Graph API, its digits, and the account it is in."""

    phone_number_id: str = "109876543210987"
    display_phone_number: str = "551155550100"
    account_id: str = "201234567890123"

    def metadata(self) -> JsonObject:
        """Return what every webhook says of the number it is about."""
        return {
            "display_phone_number": self.display_phone_number,
            "phone_number_id": self.phone_number_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A fictional person. Without a phone it is known by its user id alone; one of the two is set.

    Without a user id its webhooks have the shape from before April 2026.
    """

    phone: str | None
    user_id: str | None
    name: str

    @property
    def address(self) -> str:
        """Return what it is written to under: the phone if the business may see it."""
        return self.phone or self.user_id or ""

    def contact(self) -> JsonObject:
        """Return its entry in `contacts`."""
        ids = {"wa_id": self.phone, "user_id": self.user_id}
        return {"profile": {"name": self.name}, **_present(ids)}

    def sender(self) -> JsonObject:
        """Return how a message says that it is from this person."""
        return _present({"from": self.phone, "from_user_id": self.user_id})

    def recipient(self) -> JsonObject:
        """Return how a status says that it is of a message to this person."""
        return _present({"recipient_id": self.phone, "recipient_user_id": self.user_id})

    def target(self) -> JsonObject:
        """Return how an echo says that it was written to this person."""
        return _present({"to": self.phone, "to_user_id": self.user_id})


@dataclass(slots=True)
class People:
    """Everybody who is known, by phone and by user id. Safe between threads."""

    _known: dict[str, Person] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def find(self, address: str, name: str | None = None) -> Person:
        """Return who is reached at an address; somebody new if nobody is. A name renames."""
        with self._lock:
            found = self._known.get(address)
            if found is None:
                found = _somebody(address, name or _name(address))
            elif name is not None:
                found = Person(phone=found.phone, user_id=found.user_id, name=name)
            return self._keep(found)

    def known(self, address: str) -> Person | None:
        """Return who is reached at an address, if anybody is."""
        with self._lock:
            return self._known.get(address)

    def add(self, person: Person) -> Person:
        """Let a person be reached at the addresses it has."""
        with self._lock:
            return self._keep(person)

    def move(self, old: Person, new: Person) -> Person:
        """Let nobody be reached at the old addresses, and the person at the new ones."""
        with self._lock:
            for address in (old.phone, old.user_id):
                self._known.pop(address or "", None)
            return self._keep(new)

    def _keep(self, person: Person) -> Person:
        for address in (person.phone, person.user_id):
            if address:
                self._known[address] = person
        return person


def user_id_of(text: str) -> str:
    """Return a user id as Meta would make it; the same text has the same."""
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return f"BR.{number % 10**_USER_ID_DIGITS:0{_USER_ID_DIGITS}d}"


def _somebody(address: str, name: str) -> Person:
    if USER_ID.fullmatch(address):
        return Person(phone=None, user_id=address, name=name)
    return Person(phone=address, user_id=user_id_of(address), name=name)


def _name(address: str) -> str:
    which = hashlib.sha256(address.encode()).digest()[0]
    return f"{_FIRST_NAMES[which % len(_FIRST_NAMES)]} Exemplo"


def _present(fields: dict[str, str | None]) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}

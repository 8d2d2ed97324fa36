"""Who an item is about: every address of one person that stands in it or in its contact.

WhatsApp names people by phone, by a user id of this business (BSUID), by a user id of its parent
company, or by several of them. Since 2026 a phone may be missing, and a user id has been met in its
place, so each value is judged by its form, not by the name of its field.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from adapters.whatsapp.cleaning import MAX_NAME, id_of, text_of
from domain import addresses
from domain.errors import InvalidEvent
from domain.event import Address

CHANNEL: Final = "whatsapp"

Fields = Mapping[str, Any]

_OF_CONTACT: Final = ("wa_id", "user_id", "parent_user_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One person as an item and its contact name it. `phone` and `user_id` exactly as received."""

    address: Address | None = None
    phone: str | None = None
    user_id: str | None = None
    name: str | None = None

    @property
    def reply_to(self) -> str | None:
        """The address to write to: the phone if one is told, else the user id."""
        return self.phone or self.user_id


@dataclass(frozen=True, slots=True)
class Contacts:
    """The contacts of one change, found by any form of any address, never by their position."""

    by_form: Mapping[str, Fields] = field(default_factory=dict)

    def person(self, *stated: Any) -> Person:
        """Return who these addresses name, with what the contact adds that has one of them."""
        named = [each for each in map(id_of, stated) if each]
        contact = self._of(named)
        if contact is not None:
            more = [contact.get(name) for name in _OF_CONTACT]
            named = list(dict.fromkeys((*filter(None, map(id_of, more)), *named)))
        return person_of(named, name=_name(contact))

    def _of(self, named: Iterable[str]) -> Fields | None:
        for stated in named:
            for form in _forms(stated):
                if form in self.by_form:
                    return self.by_form[form]
        return None


def contacts_of(value: Any) -> Contacts:
    """Read the contacts of a change, if they are any."""
    found: dict[str, Fields] = {}
    for contact in value if isinstance(value, list) else ():
        if not isinstance(contact, dict):
            continue
        for name in _OF_CONTACT:
            found |= {form: contact for form in forms_of(contact.get(name)) if form not in found}
    return Contacts(found)


def person_of(named: Iterable[str], *, name: str | None = None) -> Person:
    """Return the one person that all of these addresses name.

    Its identifier is the first phone in canonical form if there is a phone, else the first user id.
    """
    phones: list[str] = []
    user_ids: list[str] = []
    forms: dict[str, None] = {}
    for stated in named:
        of_it = _forms(stated)
        forms |= dict.fromkeys(of_it)
        if of_it:
            (phones if of_it[0].isdigit() else user_ids).append(stated)
    if not forms:
        return Person(name=name)
    canonical = _forms((phones or user_ids)[0])[0]
    return Person(
        address=Address(
            channel=CHANNEL,
            identifier=canonical,
            aliases=tuple(form for form in forms if form != canonical),
        ),
        phone=phones[0] if phones else None,
        user_id=user_ids[0] if user_ids else None,
        name=name,
    )


def forms_of(stated: Any) -> tuple[str, ...]:
    """Return every normal form of a stated address, none if it cannot be used."""
    known = id_of(stated)
    return _forms(known) if known else ()


def _forms(stated: str) -> tuple[str, ...]:
    try:
        normal = addresses.address(CHANNEL, stated)
    except InvalidEvent:
        return ()
    return (normal.identifier, *normal.aliases)


def _name(contact: Fields | None) -> str | None:
    profile = contact.get("profile") if contact else None
    if not isinstance(profile, dict):
        return None
    names = (text_of(profile.get(name), MAX_NAME).strip() for name in ("name", "username"))
    return next(filter(None, names), None)

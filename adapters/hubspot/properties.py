"""What our logical properties are called at HubSpot, both ways."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from adapters.hubspot import description
from adapters.hubspot.wire import ObjectKind

UNIQUE: Final[dict[ObjectKind, str]] = {"contact": "lead_phone_e164", "deal": "lead_session_id"}
"""Properties whose value only one record may have. Source: research/crm.md §2."""

ID_PROPERTIES: Final = {"phone_key": UNIQUE["contact"], "email": "email", "key": UNIQUE["deal"]}
"""What a record is asked for by, beside its id."""

_FIRST, _LAST, _PIPELINE, _DESCRIPTION = "firstname", "lastname", "pipeline", "description"
_OURS: Final[dict[ObjectKind, dict[str, tuple[str, ...]]]] = {
    "contact": {
        "phone": ("phone",),
        UNIQUE["contact"]: ("phone_key",),
        "email": ("email",),
        _FIRST: ("name",),
        _LAST: ("name",),
    },
    "deal": {
        "dealname": ("name",),
        "dealstage": ("stage",),
        _PIPELINE: ("stage",),
        UNIQUE["deal"]: ("key",),
        _DESCRIPTION: description.PARTS,
    },
}
_SAME: Final[dict[ObjectKind, dict[str, str]]] = {
    "contact": {"phone_key": UNIQUE["contact"], "email": "email"},
    "deal": {"name": "dealname", "stage": "dealstage", "key": UNIQUE["deal"]},
}
"""What is there as it is here, by our names."""


def asked(kind: ObjectKind) -> tuple[str, ...]:
    """Return HubSpot's names of all that is read of a record; what an account lacks is ignored."""
    return tuple(_OURS[kind])


def are_known(kind: ObjectKind, properties: Iterable[str]) -> bool:
    """Tell whether all of these are logical properties of that kind."""
    return set(properties) <= {name for names in _OURS[kind].values() for name in names}


def written(kind: ObjectKind, properties: Mapping[str, str], pipeline: str) -> dict[str, str]:
    """Return logical properties as HubSpot takes them; "" clears one.

    A stage goes with its pipeline, and a name as first and last name.
    """
    same = _SAME[kind]
    sent = {same[name]: value for name, value in properties.items() if name in same}
    if kind == "contact":
        return sent | _person(properties)
    if "stage" in properties:
        sent[_PIPELINE] = pipeline
    if any(name in properties for name in description.PARTS):
        sent[_DESCRIPTION] = description.written(properties)
    return sent


def read(kind: ObjectKind, properties: Any) -> dict[str, str]:
    """Return what a record has of our logical properties; what is null or empty is missing."""
    texts = {
        name: value
        for name, value in (properties if isinstance(properties, dict) else {}).items()
        if isinstance(value, str) and value
    }
    found = {name: texts[theirs] for name, theirs in _SAME[kind].items() if theirs in texts}
    if kind == "deal":
        return found | description.read(texts.get(_DESCRIPTION, ""))
    names = " ".join(texts[part] for part in (_FIRST, _LAST) if part in texts)
    phone = texts.get("phone", "")
    # As channels give them: digits. What people typed in any other way stands as it is.
    digits = phone.removeprefix("+")
    shown = {"name": names, "phone": digits if digits.isdecimal() else phone}
    return found | {name: value for name, value in shown.items() if value}


def logical(kind: ObjectKind, names: Iterable[str]) -> tuple[str, ...]:
    """Return our names of HubSpot's properties; what is none of ours keeps its name."""
    return tuple(dict.fromkeys(ours for name in names for ours in _OURS[kind].get(name, (name,))))


def _person(properties: Mapping[str, str]) -> dict[str, str]:
    sent = {}
    if "phone" in properties:
        phone = properties["phone"]
        # Without the plus HubSpot reads a number as one of the account's own country.
        sent["phone"] = f"+{phone}" if phone.isascii() and phone.isdigit() else phone
    if "name" in properties:
        first, _, last = " ".join(properties["name"].split()).partition(" ")
        sent |= {_FIRST: first, _LAST: last}
    return sent

"""Where things are at HubSpot, by the version of its API that the date in a path names."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from adapters.hubspot.wire import ObjectKind

VERSION: Final = "2026-09"
"""Source: research/crm.md §1.1; it is supported until 2028."""

_SEGMENTS: Final[dict[ObjectKind, str]] = {"contact": "contacts", "deal": "deals"}
_ID: Final = re.compile(r"[0-9]{1,20}", re.ASCII)
_LONGEST_KEY: Final = 500
# What a server between here and there takes for another path, or for the list of all records.
_NO_KEYS: Final = frozenset(("", ".", ".."))


def is_id(text: str) -> bool:
    """Tell whether a text is an id of a record."""
    return _ID.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Paths:
    """The paths of one version. A path is None where an id or a key in it is none."""

    version: str = VERSION

    def records(self, kind: ObjectKind) -> str:
        """Where records of a kind are created."""
        return f"/crm/objects/{quote(self.version, safe='')}/{_SEGMENTS[kind]}"

    def record(self, kind: ObjectKind, record_id: str) -> str | None:
        """Where one record is, by its id."""
        return f"{self.records(kind)}/{record_id}" if is_id(record_id) else None

    def keyed(self, kind: ObjectKind, key: str) -> str | None:
        """Where one record is, by the value of a property that the query names."""
        if key in _NO_KEYS or len(key) > _LONGEST_KEY or not _is_text(key):
            return None
        return f"{self.records(kind)}/{quote(key, safe='')}"

    def search(self, kind: ObjectKind) -> str:
        """Where records are searched for."""
        return f"{self.records(kind)}/search"

    def batch_read(self, kind: ObjectKind) -> str:
        """Where many records are read."""
        return f"{self.records(kind)}/batch/read"

    def association(self, deal_id: str, contact_id: str) -> str | None:
        """Where a deal is associated with a contact, without a label."""
        deal = self.record("deal", deal_id)
        if deal is None or not is_id(contact_id):
            return None
        return f"{deal}/associations/default/contacts/{contact_id}"

    def pipelines(self) -> str:
        """Where the pipelines of deals are."""
        return f"/crm/pipelines/{quote(self.version, safe='')}/deals"

    def properties(self, kind: ObjectKind) -> str:
        """Where properties of a kind are declared."""
        return f"/crm/properties/{quote(self.version, safe='')}/{_SEGMENTS[kind]}"

    def property(self, kind: ObjectKind, name: str) -> str:
        """Where one property is declared."""
        return f"{self.properties(kind)}/{quote(name, safe='')}"


def _is_text(key: str) -> bool:
    """Tell whether a key can be written in UTF-8; half of a surrogate pair cannot."""
    try:
        key.encode()
    except UnicodeEncodeError:
        return False
    return True

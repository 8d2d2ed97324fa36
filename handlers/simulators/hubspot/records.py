"""One contact or deal: its values, who wrote them and when. Never changed, only replaced."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from handlers.simulators.hubspot.answers import JsonObject
from handlers.simulators.hubspot.moments import stamp
from handlers.simulators.hubspot.portal import changed_property


class Author(NamedTuple):
    """Who writes, as the history of a property names it."""

    source_type: str
    source_id: str
    user_id: int | None = None


API: Final = Author("INTEGRATION", "app-4567")
CALCULATED: Final = Author("CALCULATED", "PhoneNumberSearch")
MERGED: Final = Author("MERGE_OBJECTS", "merge")


class Write(NamedTuple):
    """By whom, when, and whether what an administrator requires is enforced."""

    by: Author
    at: str
    strict: bool = False


class Version(NamedTuple):
    """A value that a property had."""

    value: str
    at: str
    by: Author

    def as_json(self) -> JsonObject:
        """Return it as a history shows it."""
        shown: JsonObject = {
            "value": self.value,
            "timestamp": stamp(self.at),
            "sourceType": self.by.source_type,
            "sourceId": self.by.source_id,
        }
        return shown if self.by.user_id is None else {**shown, "updatedByUserId": self.by.user_id}


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One record. `values` are what is set; `history` has the newest value first."""

    id: str
    kind: str
    created_at: str
    updated_at: str
    archived_at: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    history: Mapping[str, tuple[Version, ...]] = field(default_factory=dict)
    merged: tuple[str, ...] = ()

    @property
    def shown(self) -> dict[str, str]:
        """Every value it has, those that HubSpot sets among them."""
        own = {
            "hs_object_id": self.id,
            "createdate": stamp(self.created_at),
            changed_property(self.kind): stamp(self.updated_at),
        }
        if self.merged:
            own["hs_merged_object_ids"] = ";".join(self.merged)
        return {**{name: value for name, value in self.values.items() if value}, **own}

    def written(self, values: Mapping[str, str], by: Author, at: str) -> "Record":
        """Return it with these values; what stays the same leaves no trace."""
        changed = {
            name: value for name, value in values.items() if value != self.values.get(name, "")
        }
        if not changed:
            return self
        history = dict(self.history)
        for name, value in changed.items():
            history[name] = (Version(value, at, by), *history.get(name, ()))
        return replace(
            self,
            values={**self.values, **changed},
            history=history,
            updated_at=max(at, self.updated_at),
        )

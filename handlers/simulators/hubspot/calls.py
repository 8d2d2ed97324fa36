"""One call of the API as its handlers see it, and what they give back."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from handlers.simulators.hubspot.account import Account
from handlers.simulators.hubspot.answers import JsonObject, malformed
from handlers.simulators.hubspot.moments import stamp
from handlers.simulators.hubspot.portal import CONTACTS, DEALS, changed_property
from handlers.simulators.hubspot.records import Record, Write

Result = tuple[int, JsonObject | None]

ASSOCIATION_IDS: Final = {DEALS: 3, CONTACTS: 4}
"""Of the unlabelled association, from this type to the other. Source: research/crm.md §1.4."""
OTHER: Final = {DEALS: CONTACTS, CONTACTS: DEALS}

_DEFAULTS: Final = {
    CONTACTS: ("email", "firstname", "lastname"),
    DEALS: ("amount", "closedate", "dealname", "dealstage", "pipeline"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call: what its path, query and body say, and who makes it. `kind` is what it is about."""

    account: Account
    kind: str
    how: Write
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> JsonObject:
        """The body.

        Raises:
            Refused: it is no JSON object.
        """
        try:
            document = json.loads(self.body)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise malformed("the body is not a JSON object")
        return document

    @property
    def archived(self) -> bool:
        """Whether archived records are meant."""
        return self.query.get("archived") == "true"

    def listed(self, name: str) -> list[str]:
        """Return the items of a parameter of the query."""
        return [each.strip() for each in self.query.get(name, "").split(",") if each.strip()]


def texts(values: Any) -> dict[str, str]:
    """Return the properties of a body; every value is kept as text.

    Raises:
        Refused: they are no object of plain values.
    """
    if not isinstance(values, dict):
        raise malformed("some of required attributes are not set [properties]")
    return {name: _text(value) for name, value in values.items()}


def rendered(
    account: Account,
    record: Record,
    *,
    properties: Iterable[str] = (),
    history: Iterable[str] = (),
    associations: Iterable[str] = (),
) -> JsonObject:
    """Return a record as the API shows it.

    Args:
        account: whose it is.
        record: what is shown.
        properties: the names of those asked for; the usual ones if there are none.
        history: the names of those whose earlier values are shown.
        associations: the types of records whose ids are shown.
    """
    shown = record.shown
    known = account.properties[record.kind].known
    asked = [name for name in properties if known(name)] or list(_DEFAULTS[record.kind])
    changed = changed_property(record.kind)
    always = ("createdate", changed, "hs_object_id")
    document: JsonObject = {
        "id": record.id,
        "properties": {name: shown.get(name) for name in sorted({*asked, *always})},
        "createdAt": shown["createdate"],
        "updatedAt": shown[changed],
        "archived": record.archived_at is not None,
    }
    if record.archived_at is not None:
        document["archivedAt"] = stamp(record.archived_at)
    if names := [name for name in history if known(name)]:
        document["propertiesWithHistory"] = {
            name: [version.as_json() for version in record.history.get(name, ())] for name in names
        }
    if linked := _associations(account, record, associations):
        document["associations"] = linked
    return document


def _associations(account: Account, record: Record, kinds: Iterable[str]) -> JsonObject:
    other = OTHER[record.kind]
    ids = account.associated(record)
    if other not in kinds or not ids:
        return {}
    kind = f"{record.kind.removesuffix('s')}_to_{other.removesuffix('s')}"
    return {other: {"results": [{"id": each, "type": kind} for each in ids]}}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        raise malformed("a property's value is text")
    return str(value)

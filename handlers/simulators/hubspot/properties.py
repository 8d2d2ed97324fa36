"""The properties of one type of record: what there is, which values are unique, and who may be refused."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from handlers.simulators.hubspot.answers import JsonObject, Problem, error, malformed, not_found
from handlers.simulators.hubspot.moments import stamp
from handlers.simulators.hubspot.values import Shape, Unfit, fit, fit_email

MOST_UNIQUE: Final = 10
"""Unique properties a type of record may have. Source: research/crm.md §1.2."""

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,99}", re.ASCII)
_TYPES: Final = frozenset(
    {"bool", "date", "datetime", "enumeration", "number", "phone_number", "string"}
)
_FIELDS: Final = frozenset(
    {
        *("booleancheckbox", "calculation_equation", "checkbox", "date", "file", "html"),
        *("number", "phonenumber", "radio", "select", "text", "textarea"),
    }
)
_NEEDED: Final = ("fieldType", "groupName", "label", "name", "type")


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """One property. `options` are internal values and labels; `made_at` is None for HubSpot's own."""

    name: str
    label: str
    group: str
    type: str = "string"
    field_type: str = "text"
    description: str = ""
    options: tuple[tuple[str, str], ...] = ()
    unique: bool = False
    read_only: bool = False
    archived: bool = False
    made_at: str | None = None

    def as_json(self) -> JsonObject:
        """Return it as the properties API shows it."""
        own = self.made_at is not None
        shown: JsonObject = {
            "name": self.name,
            "label": self.label,
            "type": self.type,
            "fieldType": self.field_type,
            "groupName": self.group,
            "description": self.description,
            "options": [
                {"label": label, "value": value, "displayOrder": place, "hidden": False}
                for place, (value, label) in enumerate(self.options)
            ],
            "displayOrder": -1,
            "calculated": False,
            "externalOptions": False,
            "archived": self.archived,
            "hasUniqueValue": self.unique,
            "hidden": False,
            "hubspotDefined": not own,
            "formField": own,
            "modificationMetadata": {
                "archivable": own,
                "readOnlyDefinition": not own,
                "readOnlyValue": self.read_only,
            },
        }
        if self.made_at is not None:
            shown |= {"createdAt": stamp(self.made_at), "updatedAt": stamp(self.made_at)}
        return shown


class Properties:
    """The properties of contacts, or of deals. Not safe between threads."""

    def __init__(self, groups: Mapping[str, str], properties: Iterable[Property]) -> None:
        self.groups = dict(groups)
        self._all = {each.name: each for each in properties}

    def __iter__(self) -> Iterator[Property]:
        """Yield those that are not archived."""
        return iter([each for each in self._all.values() if not each.archived])

    def known(self, name: str) -> Property | None:
        """Return a property that is not archived."""
        found = self._all.get(name)
        return None if found is None or found.archived else found

    def get(self, name: str, *, archived: bool = False) -> Property:
        """Return a property.

        Raises:
            Refused: there is none.
        """
        found = self._all.get(name)
        if found is None or found.archived != archived:
            message = f"Property '{name}' does not exist."
            raise not_found(message, "Properties.PROPERTY_NOT_FOUND")
        return found

    def names(self, *, unique: bool) -> list[str]:
        """Return the names of those whose values are unique, or of the others."""
        return [each.name for each in self if each.unique == unique]

    def add(self, asked: JsonObject, at: str) -> Property:
        """Make a property as the API is asked to.

        Raises:
            Refused: it cannot be made like this.
        """
        lacking = [name for name in _NEEDED if not isinstance(asked.get(name), str)]
        if lacking:
            raise malformed(f"some of required attributes are not set {lacking}")
        made = Property(
            name=asked["name"],
            label=asked["label"],
            group=asked["groupName"],
            type=asked["type"],
            field_type=asked["fieldType"],
            description=str(asked.get("description", "")),
            options=_options(asked.get("options", [])),
            unique=asked.get("hasUniqueValue") is True,
            made_at=at,
        )
        self._check(made)
        self._all[made.name] = made
        return made

    def change(self, name: str, asked: JsonObject) -> Property:
        """Change a property; what it is and whether its values are unique stays.

        Raises:
            Refused: there is none, or it cannot be changed like this.
        """
        before = self.get(name)
        fixed = {"hasUniqueValue": before.unique, "type": before.type}
        if any(field in asked and asked[field] != value for field, value in fixed.items()):
            message = "hasUniqueValue and type cannot be changed once a property was created."
            raise error(400, "VALIDATION_ERROR", message)
        after = replace(
            before,
            label=str(asked.get("label", before.label)),
            description=str(asked.get("description", before.description)),
            field_type=str(asked.get("fieldType", before.field_type)),
        )
        self._all[name] = after
        return after

    def archive(self, name: str) -> None:
        """Archive a property.

        Raises:
            Refused: there is none, or it is HubSpot's own.
        """
        before = self.get(name)
        if before.made_at is None:
            raise error(400, "VALIDATION_ERROR", f"Property '{name}' cannot be archived.")
        self._all[name] = replace(before, archived=True)

    def fit(self, values: Mapping[str, str]) -> tuple[dict[str, str], list[Problem]]:
        """Return the values as they are kept, and what is wrong with those that are not."""
        kept, problems = {}, []
        for name, value in values.items():
            try:
                kept[name] = self._fit_one(name, value)
            except Unfit as unfit:
                problems.append(Problem(name, unfit.code, unfit.message))
        return kept, problems

    def _fit_one(self, name: str, value: str) -> str:
        known = self.known(name)
        if known is None:
            raise Unfit("PROPERTY_DOESNT_EXIST", f'Property "{name}" does not exist')
        if known.read_only:
            raise Unfit("READ_ONLY_VALUE", f'"{name}" is a read only property')
        if name == "email":
            return fit_email(value)
        options = tuple(internal for internal, _ in known.options)
        return fit(value, Shape(known.type, options, known.field_type == "checkbox"))

    def _check(self, made: Property) -> None:
        if not _NAME.fullmatch(made.name):
            raise error(400, "VALIDATION_ERROR", f"Property name {made.name} is not valid.")
        if made.type not in _TYPES or made.field_type not in _FIELDS:
            raise malformed("type or fieldType is none of the allowed values")
        if made.group not in self.groups:
            message = f"Property group '{made.group}' does not exist."
            raise error(400, "VALIDATION_ERROR", message)
        if made.name in self._all:
            raise error(
                409,
                "OBJECT_ALREADY_EXISTS",
                f"Property named {made.name} already exists.",
                subCategory="Properties.PROPERTY_WITH_NAME_EXISTS",
            )
        if made.unique and len(self.names(unique=True)) >= MOST_UNIQUE:
            message = f"You have reached the limit of {MOST_UNIQUE} unique properties."
            raise error(400, "VALIDATION_ERROR", message)


def _options(asked: Any) -> tuple[tuple[str, str], ...]:
    try:
        return tuple((str(each["value"]), str(each["label"])) for each in asked)
    except (TypeError, KeyError):
        raise malformed("options need a value and a label") from None

"""The native event: the event schema of seed 003 in JSON, and the aliases of that seed's example."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from adapters.sources.lead_object import read_lead
from adapters.sources.spelling import Part
from domain.draft import Draft
from domain.errors import FieldError, shown_name

_FIELDS: Final = {
    "leadOrganizationId": "lead",
    "sourceType": "source_type",
    "source": "source",
    "eventType": "event_type",
    "schemaVersion": "schema_version",
    "externalEventId": "external_event_id",
    "objectId": "object_id",
    "objectIdRef": "object_id_ref",
    "occurredAt": "occurred_at",
    "correlationId": "correlation_id",
    "causationId": "causation_id",
    "payload": "payload",
    "rawPayload": "raw_payload",
}
"""Name on the wire -> field of the draft."""

_IGNORED: Final = {
    "ttl": "events never expire",
    "eventId": "the log gives every event its id",
    "sequence": "the log numbers events itself",
    "receivedAt": "our clock says when an event arrived",
    "organizationId": "the credential says whose event it is",
}
"""What a stored event or the seed's example has beside that, and why it is not read."""


class _Alias(NamedTuple):
    """Another name and form of a field: what stands in the group is its value."""

    field: str
    form: re.Pattern[str]
    rule: str


_ALIASES: Final = {
    "idempotencyKey": _Alias("externalEventId", re.compile(r"(.*)", re.DOTALL), "must be text"),
    "PK": _Alias(
        "leadOrganizationId", re.compile(r"ORG#[^#]*#LEAD#(.*)"), "must be ORG#…#LEAD#… or absent"
    ),
    "SK": _Alias("occurredAt", re.compile(r"EVT#([^#]*)#.*"), "must be EVT#time#id or absent"),
    "occurredAtId": _Alias("occurredAt", re.compile(r"([^#]*)#.*"), "must be time#id or absent"),
}


_OWN: Final = _FIELDS.keys() | {"lead"}


class NativeEvent:
    """See `domain.draft.Translator`. Recognises every object, right or wrong."""

    name = "native"
    keeps_raw = False

    def recognises(self, document: Mapping[str, Any]) -> bool:  # noqa: ARG002 - none is turned away
        """See `Translator.recognises`."""
        return True

    def translate(self, document: Mapping[str, Any]) -> Draft:
        """See `Translator.translate`."""
        found = {name: document[name] for name in _FIELDS if document.get(name) is not None}
        pointers: dict[str, str] = {}
        problems: list[FieldError] = []
        warnings: list[str] = []
        # Nearly every event has its own fields alone: what others need is not asked of those.
        plain = document.keys() <= _OWN
        for name, alias in () if plain else _ALIASES.items():
            value = document.get(name)
            match = alias.form.fullmatch(value) if isinstance(value, str) else None
            if value is None:
                continue
            if alias.field in found:
                warnings.append(f"{name} is ignored: {alias.field} is given.")
            elif match is None:
                problems.append(FieldError(f"/{name}", alias.rule))
            else:
                found[alias.field] = match[1]
                pointers[f"/{alias.field}"] = f"/{name}"
        lead = read_lead(Part(document, ""))
        warnings.extend(
            f"{name} is ignored: {why}."
            for name, why in (() if plain else _IGNORED.items())
            if name in document
        )
        unknown = [] if plain else _unknown(document)
        return Draft(
            **{_FIELDS[name]: value for name, value in found.items()},
            address=lead.address,
            pointers={**pointers, **lead.pointers},
            problems=(*problems, *lead.problems, *lead.unknown, *unknown),
            warnings=(*warnings, *lead.warnings),
        )


def _unknown(document: Mapping[str, Any]) -> list[FieldError]:
    known = _OWN | _ALIASES.keys() | _IGNORED.keys()
    return [
        FieldError(f"/{shown_name(name)}", "is not a field of an event")
        for name in document
        if name not in known
    ]

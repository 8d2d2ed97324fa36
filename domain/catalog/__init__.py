"""The catalog: what every event type means. One class per type is its only declaration.

Validation, JSON Schema, the catalog page, the analyst's columns, what a log may show and how old
payloads read all follow from the class. A new type is a class in one of the modules listed in
`FAMILIES`; a new version is a class more, an `@upcasts` beside it and a golden sample.
Writing is strict, reading is tolerant: no payload that was stored is ever refused.
"""

from functools import cache
from typing import Any, Final

from domain.catalog import (
    commerce,
    conversation,
    crm,
    engagement,
    handoff,
    identity,
    log,
    messaging,
    support,
    turns,
)
from domain.catalog._declare import TYPES, EventType, Payload
from domain.catalog._describe import PayloadField, schema_of
from domain.catalog._validation import validate
from domain.errors import NotFound

__all__ = [
    "FAMILIES",
    "TYPES",
    "EventType",
    "Payload",
    "PayloadField",
    "canonical_type",
    "columns",
    "is_known",
    "is_ours",
    "json_schema",
    "loggable",
    "our_fields",
    "upcast",
    "validate",
]

FAMILIES: Final = (
    commerce,
    conversation,
    crm,
    engagement,
    handoff,
    identity,
    log,
    messaging,
    support,
    turns,
)
"""The modules that declare event types."""

# Names others use for a type of ours; seed 003's example and the source's signal list have them.
_ALIASES: Final = {
    "question_asked": "product_asked",
    "message.received": "message_received",
}


def canonical_type(event_type: str) -> str:
    """Return our name of an event type: aliases and dotted spellings of known types are resolved.

    An unknown type keeps its name: it belongs to whoever sends it.
    """
    spelled = event_type.replace(".", "_")
    for candidate in (event_type, spelled):
        if candidate in _ALIASES:
            return _ALIASES[candidate]
    return spelled if spelled in TYPES else event_type


def is_known(event_type: str) -> bool:
    """Tell whether the catalog declares this type."""
    return event_type in TYPES


def is_ours(event_type: str) -> bool:
    """Tell whether only this service records the type: the door refuses it from everybody."""
    declared = TYPES.get(event_type)
    return declared is not None and declared.ours


@cache
def our_fields(event_type: str) -> frozenset[str]:
    """Return the fields of a declared type that only this service fills in, in both spellings."""
    return frozenset(
        spelling
        for field in _declared(event_type).fields
        if field.ours
        for spelling in (field.name, field.wire)
    )


def upcast(event_type: str, schema_version: int, payload: dict[str, Any]) -> dict[str, Any]:
    """Return what a stored payload says in the newest version of its type.

    Nothing is refused: unknown types, unknown fields and versions that only a newer edition of
    this service knows are returned as they are. The argument is left alone.
    """
    declared = TYPES.get(event_type)
    return payload if declared is None else declared.upcast(schema_version, payload)


def columns(event_type: str) -> list[tuple[str, str]]:
    """Return the wire name and JSON type of each field of a type, in the order of the class.

    Raises:
        NotFound: the type is not declared.
    """
    return [(field.wire, field.json_type) for field in _declared(event_type).fields]


def loggable(event_type: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a canonical payload that may stand in a log; of unknown types nothing."""
    declared = TYPES.get(event_type)
    if declared is None:
        return {}
    return {
        field.wire: payload[field.wire]
        for field in declared.fields
        if field.loggable and field.wire in payload
    }


def json_schema(event_type: str, version: int | None = None) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a type, of its newest version unless another is named.

    Raises:
        NotFound: the type or the version is not declared.
    """
    declared = _declared(event_type)
    chosen = declared.version if version is None else version
    if chosen not in declared.models:
        raise NotFound("This version of the event type is not declared.", hint=_HINT)
    return schema_of(declared.models[chosen]) | {"title": event_type}


def _declared(event_type: str) -> EventType:
    declared = TYPES.get(event_type)
    if declared is None:
        raise NotFound("This event type is not declared.", hint=_HINT)
    return declared


_HINT: Final = "The list of schemas names every type and its versions."

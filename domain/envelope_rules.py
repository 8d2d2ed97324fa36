"""The rules of single envelope fields. Each returns the field's normal form, or adds a problem.

What is returned beside a new problem has the right type and no meaning.
"""

import re
from datetime import timedelta
from typing import Any, Final

from domain import addresses, catalog, instants
from domain.draft import Draft
from domain.errors import FieldError, InvalidEvent
from domain.event import (
    KNOWN_SOURCES,
    MAX_ID_CHARACTERS,
    OUR_SOURCE,
    SOURCE_TYPES,
    Address,
    SourceType,
)

MAX_AHEAD: Final = timedelta(minutes=5)
"""How far a sender's clock may be ahead of ours."""

MAX_SCHEMA_VERSION: Final = 9999
"""Of a type nobody declared; a declared one has the versions it has."""

_SOURCE: Final = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,99}", re.ASCII)
_EVENT_TYPE: Final = re.compile(r"[a-z][a-z0-9_.]{0,99}", re.ASCII)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_ID_RULE: Final = f"must be text of 1 to {MAX_ID_CHARACTERS} characters without control characters"

Problems = list[FieldError]


def lead(draft: Draft, problems: Problems) -> tuple[str | None, Address | None]:
    """Return the lead's id or its address; exactly one of them must be given."""
    if draft.address is None:
        if draft.lead is None:
            problems.append(
                FieldError("/lead", "is required (or leadOrganizationId, in a native event)")
            )
            return None, None
        return _lead_id(draft.lead, problems), None
    if draft.lead is not None:
        problems.append(FieldError("/lead", "cannot stand beside leadOrganizationId"))
        return None, None
    try:
        return None, addresses.address(*draft.address)
    except InvalidEvent as invalid:
        problems.extend(invalid.fields)
        return None, None


def source(draft: Draft, problems: Problems) -> str:
    """Return the source in lower case."""
    text = draft.source.lower() if isinstance(draft.source, str) else ""
    if text == OUR_SOURCE:
        # What we record ourselves is believed: a rebuild claims addresses by it.
        problems.append(FieldError("/source", "is the service's own, nobody else reports as it"))
        return ""
    if _SOURCE.fullmatch(text):
        return text
    missing = draft.source is None
    rule = "must be a word of at most 100 letters, digits and _ . : -"
    problems.append(FieldError("/source", "is required" if missing else rule))
    return ""


def source_type(draft: Draft, source: str, problems: Problems) -> SourceType:
    """Return the type of a source: fixed for those we know, stated by the sender for others."""
    fixed = KNOWN_SOURCES.get(source)
    if fixed and draft.source_type is None:
        return fixed
    permitted = (fixed,) if fixed else SOURCE_TYPES
    stated = draft.source_type.upper() if isinstance(draft.source_type, str) else ""
    for each in permitted:
        if each == stated:
            return each
    detail = f"must be {' or '.join(permitted)}"
    problems.append(FieldError("/sourceType", f"{detail} for this source" if fixed else detail))
    return permitted[0]


def event_type(draft: Draft, problems: Problems) -> str:
    """Return our name of the event type."""
    text = draft.event_type
    if text is None:
        problems.append(FieldError("/eventType", "is required"))
        return ""
    if not isinstance(text, str) or not _EVENT_TYPE.fullmatch(text):
        rule = "must be at most 100 lower-case letters, digits, _ and ., beginning with a letter"
        problems.append(FieldError("/eventType", rule))
        return ""
    return catalog.canonical_type(text)


def external_event_id(draft: Draft, idempotency_key: str | None, problems: Problems) -> str:
    """Return the id that makes the event unique in its source, exactly as it was written."""
    if draft.external_event_id is not None:
        return _id("/externalEventId", draft.external_event_id, problems)
    if idempotency_key is None:
        detail = "is required: without it a second delivery would be a second event"
        problems.append(FieldError("/externalEventId", detail))
        return ""
    return _id("/externalEventId", idempotency_key, problems, name="Idempotency-Key ")


def schema_version(draft: Draft, problems: Problems) -> int | None:
    """Return the version the payload claims; the catalog judges whether there is one."""
    version = draft.schema_version
    if isinstance(version, bool) or not isinstance(version, int | None) or not _fits(version):
        detail = f"must be a whole number from 1 to {MAX_SCHEMA_VERSION}"
        problems.append(FieldError("/schemaVersion", detail))
        return None
    return version


def occurred_at(draft: Draft, now: str, problems: Problems) -> str:
    """Return when the fact happened: by the sender, else now."""
    if draft.occurred_at is None:
        return now
    if not isinstance(draft.occurred_at, str):
        problems.append(FieldError("/occurredAt", "must be text: an ISO 8601 time with its offset"))
        return now
    try:
        occurred_at = instants.parse_instant(draft.occurred_at)
    except ValueError as error:
        problems.append(FieldError("/occurredAt", str(error)))
        return now
    if occurred_at > now and occurred_at > instants.shift(now, MAX_AHEAD):
        minutes = int(MAX_AHEAD.total_seconds() // 60)
        detail = f"is more than {minutes} minutes in the future"
        problems.append(FieldError("/occurredAt", detail))
    return occurred_at


def optional_id(pointer: str, value: Any, problems: Problems) -> str | None:
    """Return an id that may be missing, and may not be empty."""
    return None if value is None else _id(pointer, value, problems)


def _lead_id(value: Any, problems: Problems) -> str:
    text = _id("/leadOrganizationId", value, problems)
    if "#" in text:
        problems.append(FieldError("/leadOrganizationId", "must not contain #"))
    return text


def _id(pointer: str, value: Any, problems: Problems, *, name: str = "") -> str:
    if isinstance(value, str) and value and _is_id(value):
        return value
    problems.append(FieldError(pointer, f"{name}{_ID_RULE}"))
    return ""


def _is_id(text: str) -> bool:
    return len(text) <= MAX_ID_CHARACTERS and not _CONTROL.search(text)


def _fits(version: int | None) -> bool:
    return version is None or 1 <= version <= MAX_SCHEMA_VERSION

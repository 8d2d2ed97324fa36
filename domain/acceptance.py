"""The rules of the envelope: from a `Draft`, what a source says, to a `NewEvent` the log may take.

Every problem of one event is found before it is refused. Rules point into the native form; a
source says where in its own form a field stood (`Draft.pointers`), so that senders are answered
in their own words.
"""

import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from domain import canonical, catalog
from domain import envelope_rules as rules
from domain.draft import Draft
from domain.envelope_rules import Problems
from domain.errors import FieldError, Forbidden, InvalidEvent, LimitExceeded
from domain.event import NewEvent

MAX_PAYLOAD_BYTES: Final = 64 * 1024
"""Of a payload as canonical JSON. Source: CloudEvents 1.0.2, "Size Limits"."""

MAX_RAW_BYTES: Final = 32 * 1024
"""Of a rawPayload after compression, so that event and index copies stay far below 400 KB."""

ALL_SOURCES: Final = ("*",)
"""The permission of a credential that is not bound to sources."""

_ORGANIZATION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}", re.ASCII)
_SNAKE: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+", re.ASCII)


class Accepted(NamedTuple):
    """An event that keeps every rule. `mapped` is False for a type that nobody declared."""

    event: NewEvent
    mapped: bool
    warnings: tuple[str, ...]


def accept(
    draft: Draft,
    *,
    organization_id: str,
    now: str,
    new_id: Callable[[], str],
    permitted_sources: Sequence[str],
    idempotency_key: str | None = None,
) -> Accepted:
    """Return the event a draft describes, or everything that is wrong with it.

    The values of a draft must have passed `reading.check`.

    Args:
        draft: what the source says.
        organization_id: from the credential, never from the event.
        now: the moment of arrival.
        new_id: makes the event's id; called only for an event that is accepted.
        permitted_sources: see `permits`.
        idempotency_key: stands in for a missing externalEventId.

    Raises:
        InvalidEvent: with a field error for each problem, in the order of the envelope.
        Forbidden: the credential may not report events of this source.
        LimitExceeded: payload or rawPayload is too large.
    """
    problems: Problems = []
    lead, address = rules.lead(draft, problems)
    source = rules.source(draft, problems)
    if source and not permits(permitted_sources, source):
        raise _forbidden(draft)
    source_type = rules.source_type(draft, source, problems)
    event_type = rules.event_type(draft, problems)
    schema_version = rules.schema_version(draft, problems)
    external_event_id = rules.external_event_id(draft, idempotency_key, problems)
    object_id = rules.optional_id("/objectId", draft.object_id, problems)
    object_id_ref = rules.optional_id("/objectIdRef", draft.object_id_ref, problems)
    occurred_at = rules.occurred_at(draft, now, problems)
    correlation_id = rules.optional_id("/correlationId", draft.correlation_id, problems)
    causation_id = rules.optional_id("/causationId", draft.causation_id, problems)
    payload, version, warnings = _payload(draft, event_type, schema_version, problems)
    problems = [draft.placed(problem) for problem in problems]
    problems.extend(draft.problems)
    if problems:
        raise InvalidEvent(
            "The event is not valid.",
            hint="Correct the fields named and send the event again.",
            fields=list(dict.fromkeys(problems)),
        )
    raw_payload = _raw_payload(draft)
    event = NewEvent(
        event_id=new_id(),
        organization_id=organization_id,
        event_type=event_type,
        source_type=source_type,
        source=source,
        external_event_id=external_event_id,
        occurred_at=occurred_at,
        received_at=now,
        payload=payload,
        schema_version=version,
        lead=lead,
        address=address,
        occurred_at_stated=draft.occurred_at is not None and draft.occurred_at_stated,
        object_id=object_id,
        object_id_ref=object_id_ref,
        correlation_id=correlation_id,
        causation_id=causation_id,
        raw_payload=raw_payload,
    )
    return Accepted(event, catalog.is_known(event_type), (*draft.warnings, *warnings))


def permits(permitted_sources: Sequence[str], source: str) -> bool:
    """Tell whether a source is among those permitted, each an exact name or a `prefix*`."""
    return any(
        source.startswith(permitted[:-1]) if permitted.endswith("*") else source == permitted
        for permitted in permitted_sources
    )


def check_organization(organization_id: str) -> str:
    """Return an organization id that may stand in keys.

    Raises:
        InvalidEvent: it may not.
    """
    if not _ORGANIZATION.fullmatch(organization_id):
        raise InvalidEvent(
            "The organization id cannot be used.",
            hint="Use up to 100 letters, digits and _ . : - and begin with a letter or a digit.",
            fields=[FieldError("/organizationId", "holds a character that keys cannot hold")],
        )
    return organization_id


def _payload(
    draft: Draft, event_type: str, version: int | None, problems: Problems
) -> tuple[dict[str, Any], int, list[str]]:
    if not isinstance(draft.payload, dict):
        missing = draft.payload is None
        problems.append(FieldError("/payload", "is required" if missing else "must be an object"))
        return {}, 1, []
    if len(canonical.dumps(draft.payload)) > MAX_PAYLOAD_BYTES:
        raise _too_large(draft, "/payload", MAX_PAYLOAD_BYTES, "as canonical JSON")
    if not catalog.is_known(event_type):
        payload, warnings = _camel_names(draft.payload)
        return payload, version or 1, warnings
    if catalog.is_ours(event_type):
        detail = "is recorded by the service itself, nobody else reports it"
        problems.append(FieldError("/eventType", detail))
        return {}, 1, []
    payload, warnings = _without_ours(event_type, draft.payload)
    try:
        payload, version = catalog.validate(event_type, version, payload)
    except InvalidEvent as invalid:
        problems.extend(invalid.fields)
        return {}, 1, []
    return payload, version, warnings


def _without_ours(event_type: str, payload: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Leave out what only this service decides: a report opens no session and routes nothing."""
    ours = catalog.our_fields(event_type) & payload.keys()
    if not ours:
        return payload, []
    warnings = [f"payload.{name} is ignored: the service sets it itself." for name in sorted(ours)]
    return {name: value for name, value in payload.items() if name not in ours}, warnings


def _camel_names(payload: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Give the fields of an undeclared type the form that declared ones have.

    Both spellings of one name stay apart: which of them is meant is not ours to say.
    """
    names = {name: _camel(name) for name in payload if _SNAKE.fullmatch(name)}
    taken = set(payload)
    for name, camel in names.items():
        names[name] = name if camel in taken else camel
        taken.add(names[name])
    if all(name == renamed for name, renamed in names.items()):
        return payload, []
    renamed = {names.get(name, name): value for name, value in payload.items()}
    return renamed, ["The snake_case names of the payload are kept in camelCase."]


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def _raw_payload(draft: Draft) -> bytes | None:
    """Return the sender's own document, compressed: text as it is, a JSON value as JSON."""
    if draft.raw_payload is None:
        return None
    text = draft.raw_payload
    data = zlib.compress(text.encode() if isinstance(text, str) else canonical.dumps(text))
    if len(data) > MAX_RAW_BYTES:
        raise _too_large(draft, "/rawPayload", MAX_RAW_BYTES, "after compression")
    return data


def _forbidden(draft: Draft) -> Forbidden:
    return Forbidden(
        "The API key may not report events of this source.",
        hint="Use a key that permits the source.",
        fields=[draft.placed(FieldError("/source", "is not permitted to this API key"))],
    )


def _too_large(draft: Draft, pointer: str, limit: int, how: str) -> LimitExceeded:
    problem = FieldError(pointer, f"must have at most {limit} bytes {how}")
    return LimitExceeded(
        "Part of the event is too large.",
        hint="Send less, and keep what is large where a field can name it.",
        fields=[draft.placed(problem)],
    )

"""Judging payloads: what is wrong, where, in words that hold no value the sender wrote."""

from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from domain.catalog._declare import TYPES, EventType, JsonObject, Payload
from domain.errors import FieldError, InvalidEvent, shown_name

_MAX_FIELD_ERRORS: Final = 50
_HINT: Final = "Correct the fields named and send the event again."

# pydantic's kind of error -> what we say. What its own context adds are limits, never input.
_DETAILS: Final = {
    "bool_type": "must be true or false",
    "extra_forbidden": "is not a field of this event type and version",
    "greater_than_equal": "must be at least {ge}",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number of fewer digits",
    "int_type": "must be a whole number",
    "invalid_key": "is not a field of this event type and version",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "literal_error": "must be {expected}",
    "missing": "is required",
    "model_type": "must be an object",
    "string_pattern_mismatch": "must not contain NUL",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "string_type": "must be text",
    "string_unicode": "must be Unicode text",
    "too_long": "must have at most {max_length} items",
    "too_short": "must have at least {min_length} items",
    "value_error": "{error}",
}
_UNNAMED: Final = frozenset(("extra_forbidden", "invalid_key"))


def validate(
    event_type: str, schema_version: int | None, payload: JsonObject
) -> tuple[JsonObject, int]:
    """Return a payload in canonical form, and its schema version.

    Without a version a payload is of version 1: what was sent before versions were stated keeps
    its meaning. An older version must also read as the newest one; it is kept as it was sent.
    Unknown types are returned as they are.

    Raises:
        InvalidEvent: the payload breaks a rule of its type, or the version is not known.
    """
    version = 1 if schema_version is None else schema_version
    declared = TYPES.get(event_type)
    if declared is None:
        return payload, version
    model = declared.models.get(version)
    if model is None:
        raise _unknown_version(declared)
    canonical = _check(model, payload)
    if version < declared.version:
        _check(declared.model, declared.upcast(version, canonical))
    return canonical, version


def _check(model: type[Payload], payload: JsonObject) -> JsonObject:
    try:
        return model.model_validate(payload).canonical()
    except ValidationError as error:
        raise _invalid(error) from None


def _unknown_version(declared: EventType) -> InvalidEvent:
    return InvalidEvent(
        f"The schema version of {declared.name} is not known here.",
        hint=f"Send version 1 to {declared.version}.",
        fields=[FieldError("/schemaVersion", f"must be between 1 and {declared.version}")],
    )


def _invalid(error: ValidationError) -> InvalidEvent:
    found = error.errors(include_url=False, include_input=False)
    fields = dict.fromkeys(FieldError(_pointer(one), _detail(one)) for one in found)
    return InvalidEvent(
        "The payload does not fit its event type.",
        hint=_HINT,
        fields=list(fields)[:_MAX_FIELD_ERRORS],
    )


def _pointer(error: ErrorDetails) -> str:
    """Point at a field as the sender spelled it. A name that may be personal becomes `*`."""
    parts = ["payload", *(str(part) for part in error["loc"])]
    if error["type"] in _UNNAMED:
        parts[-1] = shown_name(parts[-1])
    return "".join(f"/{part}" for part in parts)


def _detail(error: ErrorDetails) -> str:
    context: dict[str, Any] = error.get("ctx", {})
    return _DETAILS.get(error["type"], "is not valid").format(**context)

"""How a HubSpot refuses: the bodies of its errors, in the shapes that were seen of it.

Source of every shape: research/crm.md §1.4, unless another is named.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

JsonObject = dict[str, Any]

PORTAL_ID: Final = 45670001
"""The account's number; made up."""

LEGACY_TYPES: Final = {"contacts": "CONTACT", "deals": "DEAL"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shapes:
    """Which of the shapes a HubSpot has for one refusal are used.

    Args:
        validation: `errors` lists what is wrong; `message` has it as JSON inside the message.
        conflict: a unique value that is taken: `coordinates` names two ids in the message,
            `validation` is one of the values that were not valid.
        email: `message` has the holder's id in words, `identity` in a document of its own.
        burst: `policy` names the limit that was passed; `plain` says it in words only.
    """

    validation: Literal["errors", "message"] = "errors"
    conflict: Literal["coordinates", "validation"] = "coordinates"
    email: Literal["message", "identity"] = "message"
    burst: Literal["policy", "plain"] = "policy"


class Problem(NamedTuple):
    """What is wrong with the value of one property."""

    name: str
    code: str
    message: str


@dataclass(slots=True)
class Refused(Exception):
    """The request is answered with an error; nothing was done."""

    status: int
    document: JsonObject
    headers: Mapping[str, str] = field(default_factory=dict)


def error(status: int, category: str, message: str, **more: Any) -> Refused:
    """Return a refusal in the common shape."""
    return Refused(status, {"status": "error", "message": message, "category": category, **more})


def malformed(message: str) -> Refused:
    """Return the refusal of a body that is not what it should be."""
    return error(400, "VALIDATION_ERROR", f"Invalid input JSON on line 1, column 1: {message}")


def not_valid(problems: Sequence[Problem], shapes: Shapes) -> Refused:
    """Return the refusal of values that are not valid."""
    listed = [
        {"isValid": False, "message": each.message, "error": each.code, "name": each.name}
        for each in problems
    ]
    message = f"Property values were not valid: {json.dumps(listed)}"
    if shapes.validation == "message":
        return error(400, "VALIDATION_ERROR", message)
    errors = [
        {"message": each.message, "code": each.code, "context": {"propertyName": [each.name]}}
        for each in problems
    ]
    return error(400, "VALIDATION_ERROR", message, errors=errors)


def missing(kind: str, names: Iterable[str]) -> Refused:
    """Return the refusal of a create without what a record must have."""
    return error(
        400,
        "VALIDATION_ERROR",
        f"Error creating {LEGACY_TYPES[kind]}. Some required properties were not set.",
        context={"properties": list(names)},
    )


def value_taken(kind: str, taken: tuple[str, str], ids: tuple[str, str], shapes: Shapes) -> Refused:
    """Return the refusal of a unique value that another record has.

    Args:
        kind: contacts or deals.
        taken: the property and the value.
        ids: the record that was being written, and the one that has the value.
        shapes: which shape to use.
    """
    name, value = taken
    legacy = LEGACY_TYPES[kind]
    message = (
        f"Cannot set PropertyValueCoordinates{{portalId={PORTAL_ID}, "
        f"objectTypeId=ObjectTypeId{{legacyObjectType={legacy}}}, "
        f"propertyName={name}, value={value}}} on {ids[0]}. {ids[1]} already has that value."
    )
    if shapes.conflict == "validation":
        return not_valid([Problem(name, "CONFLICTING_UNIQUE_VALUE", message)], shapes)
    return error(400, "VALIDATION_ERROR", message)


def email_taken(email: str, holder_id: str, shapes: Shapes) -> Refused:
    """Return the refusal of an e-mail that another contact has."""
    if shapes.email == "message":
        return error(409, "CONFLICT", f"Contact already exists. Existing ID: {holder_id}")
    identity = [{"value": email, "type": "EMAIL", "isPrimary": True}]
    return error(
        409,
        "OBJECT_ALREADY_EXISTS",
        "Contact already exists",
        subCategory="CONTACT_EXISTS",
        identityProfile={"vid": int(holder_id), "identity": identity, "linkedVid": []},
    )


def not_found(message: str = "resource not found", sub_category: str | None = None) -> Refused:
    """Return the refusal of what is not there."""
    more = {} if sub_category is None else {"subCategory": sub_category}
    refused = error(404, "OBJECT_NOT_FOUND", message, **more)
    refused.headers = {"X-HubSpot-NotFound": "true"}
    return refused


def target_not_found() -> Refused:
    """Return the refusal of an association with what is not there."""
    return not_found(
        "One or more objects do not exist or are not accessible.",
        "crm.associations.TO_OBJECT_NOT_FOUND",
    )


def gone() -> Refused:
    """Return what a path past its end of life answers: no category, so no record is missing."""
    return Refused(404, {"status": "error", "message": "Not Found"})


def unauthenticated() -> Refused:
    """Return the refusal of a token nobody was given."""
    return error(
        401,
        "INVALID_AUTHENTICATION",
        "Authentication credentials not found. This API supports OAuth 2.0 authentication.",
    )


def expired(at: str) -> Refused:
    """Return the refusal of a token that has expired."""
    return error(
        401,
        "EXPIRED_AUTHENTICATION",
        f"The OAuth token used to make this call expired at {at}.",
        context={"expire time": [at]},
    )


def out_of_scope(scopes: Iterable[str]) -> Refused:
    """Return the refusal of a token that may not do this; one of the scopes would do."""
    wanted = sorted(scopes)
    return error(
        403,
        "MISSING_SCOPES",
        "This app hasn't been granted all required scopes to make this call.",
        errors=[
            {
                "message": "One or more of the following scopes are required.",
                "context": {"requiredGranularScopes": wanted},
            }
        ],
        links={"scopes": "https://developers.hubspot.com/scopes"},
    )


def too_many(policy: str, shapes: Shapes) -> Refused:
    """Return the refusal of one call too many. Neither shape says how long to wait."""
    message = f"You have reached your {policy.lower()} limit."
    document: JsonObject = {"status": "error", "message": message}
    # Searches were never seen to name the policy (69 of 69 recorded).
    if shapes.burst == "plain" or policy == "SECONDLY":
        return Refused(429, {**document, "category": "RATE_LIMITS"})
    group = "publicapi:private-apps:api-calls"
    named = {"errorType": "RATE_LIMIT", "policyName": policy, "groupName": group}
    return Refused(429, {**document, **named})

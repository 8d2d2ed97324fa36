"""What HubSpot's errors say, in all their shapes, and without what they quote of people.

Source of the shapes: research/crm.md §1.4. A message quotes e-mails, phones and names as it likes, so
nothing of it is kept but where it speaks of the account; what else is told is made of closed words.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any, Final, Literal, NamedTuple

from adapters.hubspot.paths import is_id
from adapters.hubspot.wire import Answer, decode, rows

SHOWN: Final = 200
"""Characters of what is told that are kept."""

MAX_WAIT_S: Final = 24 * 60 * 60
"""Source: research/crm.md §1.4, the longest a move of an account's data takes."""

Limit = Literal["limit_burst", "limit_search", "limit_daily"]

_ACCOUNTS: Final = frozenset(
    (
        *("RATE_LIMITS", "RATE_LIMIT", "MIGRATION_IN_PROGRESS"),
        *("MISSING_SCOPES", "INVALID_AUTHENTICATION", "EXPIRED_AUTHENTICATION"),
    )
)
"""Categories whose message speaks of the account, and of no record."""

_TAKEN: Final = frozenset(
    (
        *("CONFLICT", "OBJECT_ALREADY_EXISTS", "CONTACT_EXISTS"),
        *("UNIQUE_VALUE_CONFLICT", "CONFLICTING_UNIQUE_VALUE"),
    )
)
_NAMED_IN: Final = ("propertyName", "propertyNames", "properties", "requiredProperties")
"""Members of a context whose texts are names of properties, and not values of them."""

_CATEGORY: Final = re.compile(r"[A-Z][A-Z_]{1,59}", re.ASCII)
_CODE: Final = re.compile(r"(?!.*[0-9]{4})[A-Za-z][A-Za-z0-9_.]{1,79}", re.ASCII)
_NAME: Final = re.compile(r"(?!.*[0-9]{4})[a-z][a-z0-9_]{0,99}", re.ASCII)
_SCOPE: Final = re.compile(r"[a-z][a-z_.-]{1,79}", re.ASCII)
_CORRELATION: Final = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
# The first is what is being written, the second what has the value already.
_HOLDER: Final = re.compile(r"on ([0-9]{1,20})\. ([0-9]{1,20}) already has that value", re.ASCII)
_PROPERTY: Final = re.compile(r"propertyName=([a-z][a-z0-9_]{0,99}),", re.ASCII)
_EXISTING: Final = re.compile(r"Existing ID: ?([0-9]{1,20})", re.ASCII)
_EMBEDDED: Final = "Property values were not valid:"
_QUOTED: Final = re.compile(
    r"\"[^\"]*\"?|'[^']*'|\S+@\S+|\S*=\S+|[0-9+][0-9 ().-]{3,}|[A-Za-z0-9_=+/.-]{24,}", re.ASCII
)
_SECONDS: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", re.ASCII)
_LONGEST_READ: Final = 8_000
"""Characters of a message in which something is looked for."""


class Told(NamedTuple):
    """What an error says. `invalid` has HubSpot's names of the properties it is about."""

    category: str | None
    sub_category: str
    detail: str | None
    invalid: tuple[str, ...]
    taken: bool
    holder_id: str | None


class _Fault(NamedTuple):
    code: str
    names: tuple[str, ...]


def told(answer: Answer) -> Told:
    """Return what an answer that is no success says; one without JSON says nothing."""
    fields = answer.fields
    category = _matching(_CATEGORY, fields.get("category"), fields.get("errorType"))
    sub_category = _matching(_CODE, fields.get("subCategory")) or ""
    faults = list(_faults(fields))
    messages = [_text(each.get("message")) for each in (fields, *rows(fields.get("errors")))]
    holder = _holder(fields, messages)
    taken = holder is not None or category in _TAKEN or any(f.code in _TAKEN for f in faults)
    names = [name for fault in faults for name in fault.names]
    if taken:
        names += [name for message in messages for name in _PROPERTY.findall(message)[:1]]
    invalid = tuple(dict.fromkeys(names))[:20]
    words = [sub_category, *(f"{' '.join(fault.names)} {fault.code}".strip() for fault in faults)]
    if category in _ACCOUNTS:
        words += [_shown(messages[0]), *_scopes(fields)]
    detail = "; ".join(dict.fromkeys(word for word in words if word))[:SHOWN]
    return Told(category, sub_category, detail or None, invalid, taken, holder)


def is_missing(answer: Answer) -> bool:
    """Tell whether an error means that a record is not there, and not that a path is not."""
    fields = answer.fields
    return (
        fields.get("category") == "OBJECT_NOT_FOUND"
        or _text(fields.get("subCategory")).endswith("OBJECT_NOT_FOUND")
        or answer.headers.get("x-hubspot-notfound", "").lower() == "true"
    )


def limit_of(answer: Answer, *, searches: bool) -> Limit:
    """Return which limit was met, by the policy if it is named, else by what the message says."""
    policy = _text(answer.fields.get("policyName")).upper()
    message = _text(answer.fields.get("message")).lower()
    left = answer.headers.get("x-hubspot-ratelimit-daily-remaining")
    if "DAILY" in policy or (not policy and ("daily" in message or left == "0")):
        return "limit_daily"
    if searches and not policy.startswith("TEN_"):
        return "limit_search"
    return "limit_burst"


def wait_s(answer: Answer) -> int | None:
    """Return how long to wait, from 1 s to a day; None if the answer does not say.

    A date is counted from the answer's own, so that no clock of ours matters.
    """
    stated = answer.headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(stated):
        return min(max(1, ceil(float(stated))), MAX_WAIT_S)
    until, now = _date(stated), _date(answer.headers.get("date", ""))
    if until is None or now is None:
        return None
    return min(max(1, ceil((until - now).total_seconds())), MAX_WAIT_S)


def correlation(answer: Answer) -> str | None:
    """Return HubSpot's id of the request, or that of the edge in front of it."""
    return _matching(
        _CORRELATION,
        answer.fields.get("correlationId"),
        answer.headers.get("x-hubspot-correlation-id"),
        answer.headers.get("cf-ray"),
    )


def _faults(fields: Mapping[str, Any]) -> Iterator[_Fault]:
    """Return what is wrong with which properties: three shapes, each of another age."""
    yield from _named(fields, "")
    for error in rows(fields.get("errors")):
        yield from _named(error, _matching(_CODE, error.get("code")) or "")
    message = fields.get("message")
    _, found, embedded = (message if isinstance(message, str) else "").partition(_EMBEDDED)
    listed = rows(decode(embedded.encode(errors="replace"))) if found else []
    for each in (*listed, *rows(fields.get("validationResults"))):
        name = _matching(_NAME, each.get("name"))
        if name and each.get("isValid") is not True:
            yield _Fault(_matching(_CODE, each.get("error")) or "", (name,))


def _named(error: Mapping[str, Any], code: str) -> Iterator[_Fault]:
    context = error.get("context")
    context = context if isinstance(context, dict) else {}
    listed = [context.get(name) for name in _NAMED_IN] + [[error.get("in")]]
    texts = [text for texts in listed if isinstance(texts, list) for text in texts[:20]]
    names = tuple(name for text in texts if (name := _matching(_NAME, text)))
    if names or code:
        yield _Fault(code, tuple(dict.fromkeys(names)))


def _holder(fields: Mapping[str, Any], messages: list[str]) -> str | None:
    for message in messages:
        # The last: what stands before it may be the value, which anybody may have written.
        found = [second for _, second in _HOLDER.findall(message)] or _EXISTING.findall(message)
        if found:
            return str(found[-1])
    profile = fields.get("identityProfile")
    linked = fields.get("linkedVid")
    stated = [profile.get("vid")] if isinstance(profile, dict) else []
    stated += linked[:1] if isinstance(linked, list) else []
    return next((str(each) for each in stated if _is_number(each) and is_id(str(each))), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _scopes(fields: Mapping[str, Any]) -> list[str]:
    contexts = [each.get("context") for each in (fields, *rows(fields.get("errors")))]
    listed = [each.get("requiredGranularScopes") for each in contexts if isinstance(each, dict)]
    texts = [text for texts in listed if isinstance(texts, list) for text in texts[:20]]
    return [scope for text in texts if (scope := _matching(_SCOPE, text))]


def _matching(pattern: re.Pattern[str], *values: Any) -> str | None:
    return next((v for v in values if isinstance(v, str) and pattern.fullmatch(v)), None)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    # Of a long one its beginning and its end: what names the holder stands last.
    return value if len(value) <= _LONGEST_READ else f"{value[:4000]} {value[-4000:]}"


def _shown(message: str) -> str:
    line = "".join(char if char.isprintable() else " " for char in message[: SHOWN * 2])
    return _QUOTED.sub("…", " ".join(line.split()))[:SHOWN]


def _date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    # One without a zone cannot be set against one that has it.
    return moment if moment.tzinfo is not None else None

"""Canonical JSON: one text per value, so that equal content has equal bytes and equal digests.

Keys sorted by code point, no white space, UTF-8. Numbers follow RFC 8785: a fraction is an IEEE
double; integers of any size stay exact. What needs more precision than that (money) is text.
"""

import hashlib
import json
from typing import Any

import orjson
from pydantic_core import from_json


def dumps(value: Any) -> bytes:
    """Return the canonical bytes of a JSON value.

    Raises:
        TypeError: the value holds something JSON has no form for, or text that is not Unicode.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        # orjson stops at 64-bit integers; the standard encoder does not.
        text = json.dumps(
            value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
        )
        try:
            return text.encode()
        except UnicodeEncodeError:
            message = "text that is not Unicode"
            raise TypeError(message) from None


def loads(text: bytes | str) -> Any:
    """Return the value of canonical JSON that we wrote; `domain.reading` reads what others send."""
    return from_json(text)


def digest(*parts: str | bytes) -> str:
    """Return the SHA-256 hex digest of the parts, each kept apart from the next."""
    framed = bytearray()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        framed += b"%d:" % len(data)
        framed += data
    return hashlib.sha256(framed).hexdigest()

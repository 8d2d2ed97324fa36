"""Reading JSON that others wrote: what is refused, and where it stands in their document.

A value that passed `check` can be stored, hashed and indexed by both recorders. `parse` and
`check` are apart so that one bad item of a batch is refused alone.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

import orjson
from pydantic_core import from_json

from domain.errors import FieldError, InvalidEvent, MalformedBody, shown_name

MAX_EVENT_BYTES: Final = 256 * 1024
"""Of one event as it is sent. Source: the size limit of SQS messages, which queues must pass on."""

MAX_BATCH_BYTES: Final = 4 * 1024 * 1024
"""Of one batch as it is sent. Source: research/memory-analytics-ux.md, B.2."""

MAX_BATCH_EVENTS: Final = 500
"""Source: as above; what one request may cost."""

MAX_DEPTH: Final = 32
"""Containers inside each other. Source: DynamoDB's own nesting limit for documents."""

MAX_KEYS: Final = 256
"""Of one object. Source: research/memory-analytics-ux.md, B.2."""

# Deeper parts are cut off before a second reading, still too deep for `check`, also in a batch.
_CUT_DEPTH: Final = MAX_DEPTH + 8
_STRING_OR_BRACKET: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
# What the parser says of text that is JSON, but holds what `check` refuses with its place.
_READABLE: Final = ("recursion limit", "hex escape", "number out of range")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def read_json(data: bytes) -> Any:
    """Return the value of a document that holds one event.

    Raises:
        MalformedBody: not JSON; the message tells the position.
        InvalidEvent: JSON that cannot be stored; see `check`.
    """
    value = parse(data)
    check(value)
    return value


def parse(data: bytes) -> Any:
    """Return the value of a JSON document, unchecked: give every part that is used to `check`.

    A document that is JSON and cannot be stored is returned all the same, cut off far below the
    permitted depth, so that `check` can name the place. Numbers too long to read are infinite.

    Raises:
        MalformedBody: not JSON; the message tells the position.
    """
    data = data.removeprefix(_BYTE_ORDER_MARK)
    try:
        return from_json(data, allow_inf_nan=False)
    except ValueError as error:
        reason = str(error)
    if any(words in reason for words in _READABLE):
        try:
            return json.loads(_cut(data.decode()), parse_constant=_refuse, parse_int=_integer)
        except ValueError:
            pass
    message = f"The body is not JSON: {reason}."
    raise MalformedBody(message, hint="Send one JSON document in UTF-8.")


def check(value: Any) -> None:
    """Refuse a value that cannot be stored.

    Raises:
        InvalidEvent: nested deeper than `MAX_DEPTH`, an object of more than `MAX_KEYS` keys, NUL
            or a lone surrogate in text or a key, a number that is not finite.
    """
    if _surely_fit(value):
        return
    try:
        _walk(value, 0)
    except _UnfitError as unfit:
        pointer = "".join(f"/{part}" for part in reversed(unfit.path))
        raise InvalidEvent(
            "The event cannot be stored as it is.",
            hint="Correct the field and send the event again.",
            fields=[FieldError(pointer, unfit.detail)],
        ) from None


def read_ndjson(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each line that is not blank with its number, the first being 1. Nothing is parsed."""
    for number, line in enumerate(data.removeprefix(_BYTE_ORDER_MARK).split(b"\n"), 1):
        if text := line.strip():
            yield number, text


def _surely_fit(value: Any) -> bool:
    """Tell from the compact text that nothing is wrong; False says only: look closer.

    The encoder refuses half a surrogate pair and writes null for what is not finite. Counted
    characters may also stand inside text, and then there is a closer look that was not needed.
    """
    try:
        text = orjson.dumps(value)
    except orjson.JSONEncodeError:
        return False
    return (
        text.count(b"{") + text.count(b"[") <= MAX_DEPTH
        and text.count(b":") <= MAX_KEYS
        and b"\\u0000" not in text
        and b"null" not in text
    )


class _UnfitError(Exception):
    """A part that cannot be stored; `path` grows from the inside out while it is raised."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.path: list[str] = []


def _walk(value: Any, depth: int) -> None:
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        _walk_object(value, depth + 1)
    elif isinstance(value, list):
        _walk_array(value, depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        message = "a number too large to be kept"
        raise _UnfitError(message)


def _walk_object(value: dict[str, Any], depth: int) -> None:
    _check_depth(depth)
    if len(value) > MAX_KEYS:
        message = f"an object has more than {MAX_KEYS} keys"
        raise _UnfitError(message)
    for key, part in value.items():
        try:
            _check_text(key)
            _walk(part, depth)
        except _UnfitError as unfit:
            unfit.path.append(shown_name(key))
            raise


def _walk_array(value: list[Any], depth: int) -> None:
    _check_depth(depth)
    for index, part in enumerate(value):
        try:
            _walk(part, depth)
        except _UnfitError as unfit:
            unfit.path.append(str(index))
            raise


def _check_depth(depth: int) -> None:
    if depth > MAX_DEPTH:
        message = f"nested deeper than {MAX_DEPTH} levels"
        raise _UnfitError(message)


def _check_text(text: str) -> None:
    if "\x00" in text:
        message = "text holds a NUL character"
        raise _UnfitError(message)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            message = "text holds half of a surrogate pair"
            raise _UnfitError(message) from None


def _cut(text: str) -> str:
    """Put 0 where containers nest deeper than `_CUT_DEPTH`; needs no recursion and one pass."""
    kept: list[str] = []
    depth = start = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        if found[0] in ("[", "{"):
            depth += 1
            if depth == _CUT_DEPTH + 1:
                kept.append(text[start : found.start()] + "0")
        elif found[0] in ("]", "}"):
            depth -= 1
            if depth == _CUT_DEPTH:
                start = found.end()
    if depth <= _CUT_DEPTH:
        kept.append(text[start:])
    return "".join(kept)


def _integer(digits: str) -> int | float:
    # Python, as the parser above, reads at most 4300 digits.
    return int(digits) if len(digits) <= 4300 else math.inf


def _refuse(_: str) -> None:
    message = "NaN and Infinity are not JSON"
    raise ValueError(message)

"""JSON as it came: a body read without losing a digit, and one item of it written back."""

import hashlib
import json
import re
from typing import Any, Final

import orjson

from domain import reading
from domain.errors import MalformedBody

MAX_RAW_BYTES: Final = 300 * 1024
"""Of one item that is kept whole. Source: research/whatsapp.md §6.1, below DynamoDB's 400 KiB."""

UNREADABLE: Final = object()
"""What a body is that is not JSON: no JSON value."""

_KEPT_OF_TOO_LONG: Final = 100 * 1024
_LONGEST_INTEGER: Final = 18
"""Digits that every encoder takes."""
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class Numeral(str):
    """A number of a JSON document as its text: a fraction, or an integer of many digits."""

    __slots__ = ()


def decode(raw: bytes) -> Any:
    """Return the value of a body, its fractions as `Numeral`, or `UNREADABLE`. Never raises.

    Where it nests deeper than this interpreter reads, the depths are cut off and the rest stands.
    """
    try:
        return _strict.decode(raw.removeprefix(_BYTE_ORDER_MARK).decode())
    except (ValueError, RecursionError):
        pass
    try:
        return reading.parse(raw)
    except (MalformedBody, RecursionError):
        return UNREADABLE


def encode(item: Any) -> bytes:
    """Return an item's own JSON in ASCII, at most `MAX_RAW_BYTES`; a longer one is cut, and says so."""
    text = _encoded(item)
    if len(text) <= MAX_RAW_BYTES:
        return text.encode()
    note = {"cut": True, "bytes": len(text), "beginning": text[:_KEPT_OF_TOO_LONG]}
    return json.dumps(note).encode()


def local_id(item: Any, *beside: str) -> str:
    """Return an id made of what the item says, whatever the order of its keys."""
    told = hashlib.sha256(_encoded(item, sort_keys=True).encode())
    for each in beside:
        told.update(b"\0" + each.encode(errors="surrogatepass"))
    return f"local:{told.hexdigest()}"


def _encoded(item: Any, *, sort_keys: bool = False) -> str:
    option = orjson.OPT_PASSTHROUGH_SUBCLASS | (orjson.OPT_SORT_KEYS if sort_keys else 0)
    try:
        text = orjson.dumps(item, default=_as_it_came, option=option).decode()
    except orjson.JSONEncodeError:
        # Half a surrogate pair, or too deep. What numbers there are keep their digits, as text.
        return _encoded_by_the_book(item, sort_keys=sort_keys)
    return text if text.isascii() else _NOT_ASCII.sub(_escaped, text)


def _encoded_by_the_book(item: Any, *, sort_keys: bool) -> str:
    try:
        return json.dumps(item, sort_keys=sort_keys, separators=(",", ":"))
    except RecursionError:
        return '{"unreadable":"nested too deeply"}'


def _as_it_came(value: Any) -> orjson.Fragment:
    if isinstance(value, Numeral):
        return orjson.Fragment(value.encode())
    raise TypeError


def _escaped(run: re.Match[str]) -> str:
    return json.dumps(run[0])[1:-1]


def _integer(digits: str) -> int | Numeral:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else Numeral(digits)


def _refuse(_: str) -> Any:
    message = "NaN and Infinity are not JSON"
    raise ValueError(message)


_strict: Final = json.JSONDecoder(parse_float=Numeral, parse_int=_integer, parse_constant=_refuse)

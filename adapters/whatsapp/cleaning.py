"""Single values as Meta sends them, made into what can be stored, or into nothing."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from domain import instants
from domain.envelope_rules import MAX_AHEAD
from domain.event import MAX_ID_CHARACTERS

MAX_TEXT: Final = 10_000
"""Characters of one message that are kept. Source: the limit of text in `domain.catalog`."""

MAX_NAME: Final = 500
"""Characters of a contact's name. Source: as above."""

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f]")
_UNFIT_FOR_IDS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_WORD: Final = re.compile(r"[a-z][a-z_]{0,59}", re.ASCII)
_NUMBER: Final = re.compile(r"(-?[0-9]{1,18})(?:\.[0-9]{1,18})?", re.ASCII)
_MILLISECONDS: Final = 10**12
"""From here on a time is in milliseconds; as seconds it would be in the year 33658."""
_YEAR_9999: Final = 253_370_764_800


def clean_text(text: str) -> str:
    """Return text that can be stored and shown.

    Half of a surrogate pair becomes U+FFFD, control characters other than line feed and tab go.
    What joins emoji and what turns the direction of writing stays.
    """
    if text.isprintable():
        return text
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", text))


def text_of(value: Any, longest: int = MAX_TEXT) -> str:
    """Return a text cleaned and cut, "" for anything else."""
    return clean_text(value)[:longest] if isinstance(value, str) else ""


def id_of(value: Any) -> str | None:
    """Return an opaque id exactly as it came; None if it is none that can be stored."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not 0 < len(value) <= MAX_ID_CHARACTERS:
        return None
    return None if _UNFIT_FOR_IDS.search(value) else value


def word_of(value: Any) -> str | None:
    """Return a value of one of Meta's open enumerations in lower case; None if it is no word.

    It has no digits, so it cannot hold anybody's number.
    """
    word = value.lower() if isinstance(value, str) else ""
    return word if _WORD.fullmatch(word) else None


def number(value: Any) -> int | None:
    """Return a whole number, also out of text; None for anything else, and for booleans."""
    if isinstance(value, int):
        return None if isinstance(value, bool) else value
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return int(match[1]) if match else None


def moment(value: Any, received_at: str) -> str | None:
    """Return a Unix time in seconds or milliseconds as an instant.

    None if it is no time, or so far ahead of `received_at` that no clock is that wrong.
    """
    stated = number(value)
    if stated is None:
        return None
    seconds, milli = divmod(stated, 1000) if stated >= _MILLISECONDS else (stated, 0)
    if not 0 <= seconds < _YEAR_9999:
        return None
    when = _instant(seconds, milli)
    if when < instants.EARLIEST or when > instants.shift(received_at, MAX_AHEAD):
        return None
    return when


def _instant(seconds: int, milli: int) -> str:
    exact = datetime.fromtimestamp(seconds, UTC) + timedelta(milliseconds=milli)
    return instants.format_instant(exact)

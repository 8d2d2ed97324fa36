"""What WhatsApp's errors mean for the next try: one table, for HTTP answers and failed statuses.

Source: research/whatsapp.md §5.1. The code decides; Meta advises against titles and HTTP statuses.
"""

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from adapters.whatsapp.cleaning import clean_text, number
from domain.conversation.delivery import ErrorClass

_CODES: Final[dict[ErrorClass, tuple[Iterable[int], ...]]] = {
    ErrorClass.PAIR: ((131056,),),
    ErrorClass.THROUGHPUT: ((4, 80007, 130429),),
    ErrorClass.TRANSIENT: ((1, 2, 131000, 131016, 131057, 135000),),
    ErrorClass.ACCOUNT: (
        (0, 3, 10, 190, 368, 131005, 131031, 131037, 131042, 131045),
        range(200, 300),
    ),
    ErrorClass.WINDOW: ((131047,),),
    ErrorClass.RECIPIENT: ((130472, 131021, 131026, 131030, 131062, 137000),),
    ErrorClass.CONSENT: ((131049, 131050),),
    ErrorClass.SPAM: ((131048, 131064),),
    ErrorClass.REQUEST: ((33, 100, 131008, 131009, 131051), range(132000, 133000)),
    ErrorClass.MEDIA: ((131052, 131053),),
}
_CLASS_OF: Final = {
    code: error_class
    for error_class, groups in _CODES.items()
    for group in groups
    for code in group
}

_SHOWN: Final = 200
"""Characters of Meta's words that are kept."""
_LARGEST_CODE: Final = 1_000_000_000
# Meta's words may quote a number, a message id or a part of a token.
_QUOTED: Final = re.compile(r"\+?[0-9]{8,}|[A-Za-z0-9_=+/.-]{32,}", re.ASCII)


class Told(NamedTuple):
    """What an error object says, without what it may quote."""

    code: int | None
    title: str | None
    details: str | None


def classify(code: int | None, http_status: int | None, is_transient: bool) -> ErrorClass:
    """Return the class of an error by its code, else by Meta's flag, else by the HTTP status.

    What nobody knows is not tried again: a new code more often names a new rule than a new weakness.
    """
    known = _CLASS_OF.get(code) if code is not None else None
    if known is not None:
        return known
    if http_status == 429:
        return ErrorClass.THROUGHPUT
    if is_transient or http_status == 408 or (http_status or 0) >= 500:
        return ErrorClass.TRANSIENT
    return ErrorClass.ACCOUNT if http_status in (401, 403, 407) else ErrorClass.REQUEST


def told(error: Any) -> Told:
    """Return what an error object of Meta says; anything else says nothing."""
    if not isinstance(error, dict):
        return Told(None, None, None)
    code = number(error.get("code"))
    data = error.get("error_data")
    return Told(
        code=code if code is not None and 0 <= code <= _LARGEST_CODE else None,
        title=_shown(error.get("title")) or _shown(error.get("message")),
        details=_shown(data.get("details")) if isinstance(data, dict) else None,
    )


def _shown(words: Any) -> str | None:
    if not isinstance(words, str):
        return None
    # A pattern on all of it would let its sender say how long that takes.
    line = " ".join(clean_text(words[: _SHOWN * 4]).split())
    return _QUOTED.sub("…", line)[:_SHOWN] or None

"""Long text as several messages: cut where a reader would pause, never inside a character.

Channels count UTF-16 units, and what people see as one character may be many: an emoji of a family
is seven code points, joined.
"""

import re
import unicodedata
from typing import Final

LIMIT: Final = 4096
"""UTF-16 units of one text message. Source: Meta's limit, research/whatsapp.md §5.2."""

MAX_CHUNKS: Final = 3
"""Messages one answer may become. Source: as above."""

_ELLIPSIS: Final = "…"

_JOINER: Final = "\u200d"
_SKIN_TONES: Final = ("\U0001f3fb", "\U0001f3ff")
_FLAG_LETTERS: Final = ("\U0001f1e6", "\U0001f1ff")
_LONGEST_CHARACTER: Final = 64
"""Code points; whoever piles up more than this is cut anywhere."""

# From the place a reader likes best to the one he likes least.
_PAUSES: Final = (
    re.compile(r"\n[^\S\n]*\n\s*"),
    re.compile(r"\n\s*"),
    re.compile(r"(?<=[.!?…。])\s+"),
    re.compile(r"\s+"),
)


def units(text: str) -> int:
    """Return the length of a text in UTF-16 units."""
    return len(text) if text.isascii() else len(text) + sum(each > "\uffff" for each in text)


def chunks(text: str, limit: int = LIMIT, most: int = MAX_CHUNKS) -> list[str]:
    """Return a text as at most `most` messages of at most `limit` UTF-16 units each.

    What does not fit is left out, and the last message ends in an ellipsis. Space around a message
    goes; a text of nothing but space is no message. A limit is 3 at least.
    """
    cut: list[str] = []
    rest = text.strip()
    while rest and len(cut) < most - 1 and units(rest) > limit:
        end, start = _pause(rest, _fitting(rest, limit))
        cut.append(rest[:end].rstrip())
        rest = rest[start:].lstrip()
    if units(rest) > limit:
        kept = rest[: _whole(rest, _fitting(rest, limit - units(_ELLIPSIS)))]
        rest = kept.rstrip() + _ELLIPSIS
    return [each for each in (*cut, rest) if each]


def _fitting(text: str, limit: int) -> int:
    """Return how many code points of a text stay within a number of UTF-16 units, at least one."""
    used = 0
    for index, each in enumerate(text[:limit]):
        used += 2 if each > "\uffff" else 1
        if used > limit:
            return max(index, 1)
    return max(min(len(text), limit), 1)


def _pause(text: str, fitting: int) -> tuple[int, int]:
    """Return where a message ends and the next begins: at a pause in its second half, if any."""
    for pause in _PAUSES:
        # One character more is seen, so that a pause right behind the limit counts.
        found = list(pause.finditer(text, fitting // 2, fitting + 1))
        if found and found[-1].start() > 0:
            return found[-1].start(), found[-1].end()
    end = _whole(text, fitting)
    return end, end


def _whole(text: str, end: int) -> int:
    """Move a cut back to the beginning of what is seen as one character."""
    for index in range(end, max(end - _LONGEST_CHARACTER, 0), -1):
        if not _inside(text, index):
            return index
    return end


def _inside(text: str, index: int) -> bool:
    """Tell whether a cut here would be inside of what is seen as one character."""
    if not 0 < index < len(text):
        return False
    before, after = text[index - 1], text[index]
    if _JOINER in (before, after) or _SKIN_TONES[0] <= after <= _SKIN_TONES[1]:
        return True
    if unicodedata.combining(after) or unicodedata.category(after) in ("Mn", "Me"):
        return True
    return _is_flag_letter(after) and _flag_letters_before(text, index) % 2 == 1


def _flag_letters_before(text: str, index: int) -> int:
    count = 0
    while count < index and _is_flag_letter(text[index - 1 - count]):
        count += 1
    return count


def _is_flag_letter(each: str) -> bool:
    return _FLAG_LETTERS[0] <= each <= _FLAG_LETTERS[1]

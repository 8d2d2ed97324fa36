"""Cutting a text into what one message of a channel holds, where people would cut it."""

import re
from typing import Final

LIMIT: Final = 4096
"""UTF-16 units of a WhatsApp text body. Source: research/whatsapp.md §5.2."""

MAX_CHUNKS: Final = 3
"""Messages one answer may become; what is longer ends in an ellipsis."""

_BOUNDARIES: Final = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?…])\s+"),
    re.compile(r"\s+"),
)
_ELLIPSIS: Final = "…"
_JOINERS: Final = "\u200d\ufe0f\u20e3"
"""What holds an emoji together: a cut beside one would show its parts."""


def chunks(text: str, limit: int = LIMIT) -> list[str]:
    """Return the text in at most three parts of at most `limit` UTF-16 units each, in order.

    Parts end at a paragraph, a line, a sentence or a space where there is one in their second
    half. Nothing is returned for text without anything to read.
    """
    rest = text.strip()
    parts: list[str] = []
    while rest and len(parts) < MAX_CHUNKS:
        if units(rest) <= limit:
            parts.append(rest)
            return parts
        last = len(parts) == MAX_CHUNKS - 1
        room = _fitting(rest, limit - (1 if last else 0))
        cut = _boundary(rest, room)
        parts.append(rest[:cut].rstrip() + (_ELLIPSIS if last else ""))
        rest = rest[cut:].lstrip()
    return parts


def units(text: str) -> int:
    """Return the length in UTF-16 units, in which channels count."""
    return len(text) + sum(character > "\uffff" for character in text)


def _fitting(text: str, limit: int) -> int:
    """Return how many characters from the start fit."""
    used = 0
    for position, character in enumerate(text):
        used += 2 if character > "\uffff" else 1
        if used > limit:
            return position
    return len(text)


def _boundary(text: str, room: int) -> int:
    """Return where to cut: at the last good place of the second half, else between characters."""
    for boundary in _BOUNDARIES:
        places = [found.end() for found in boundary.finditer(text, 0, room)]
        if places and places[-1] > room // 2:
            return places[-1]
    cut = room
    while cut > 1 and (text[cut] in _JOINERS or text[cut - 1] in _JOINERS):
        cut -= 1
    return max(cut, 1)

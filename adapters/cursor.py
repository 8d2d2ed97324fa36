"""Cursors of pages: where a list goes on, opaque to whoever carries it.

A cursor holds the position after the last item and a mark of the list it belongs to. It is no
secret and grants nothing: a list never leaves its own bounds, whatever position it is given.
"""

import base64
import binascii
from collections.abc import Sequence

from domain import canonical
from domain.errors import Rejected

_MARK_LENGTH = 16


def encode(listing: Sequence[str], position: Sequence[str]) -> str:
    """Return the cursor of a position in a list; `listing` names the list, direction included."""
    text = canonical.dumps([_mark(listing), *position])
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def decode(cursor: str, listing: Sequence[str], length: int) -> list[str]:
    """Return the position a cursor of this list holds.

    Args:
        cursor: what a caller sent.
        listing: the list that is asked for.
        length: how many parts a position of it has.

    Raises:
        Rejected: the cursor is none of ours, or of another list.
    """
    try:
        parts = canonical.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error):
        parts = None
    if not (
        isinstance(parts, list)
        and len(parts) == length + 1
        and all(isinstance(part, str) for part in parts)
        and parts[0] == _mark(listing)
    ):
        message = "The cursor does not belong to this list."
        raise Rejected(message, hint="Ask again without a cursor.")
    return parts[1:]


def _mark(listing: Sequence[str]) -> str:
    return canonical.digest(*listing)[:_MARK_LENGTH]

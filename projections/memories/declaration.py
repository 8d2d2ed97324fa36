"""How a memory is declared: a rule for each event type that makes it, and a view of its cells.

A rule says what one event adds; a view says how the cells read. Both stand in the same module of
`projections.memories.rules`, and nothing else names the memory.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar

from domain.event import LeadEvent
from projections.memories import numbers
from projections.memories.cells import Cells, Contribution, instant_of

Name = tuple[str, str]
"""Memory type and key."""

Rule = Callable[[LeadEvent, str], Iterable[Contribution]]
"""Given an event and its stamp. Names each memory once, and nothing where a needed field lacks."""


class Shown(NamedTuple):
    """What cells say: the value readers see, how sure it is, who says so, how long it holds.

    `holds_days` counts from the last contributing event; None means for good.
    """

    value: dict[str, Any]
    confidence: Decimal = Decimal(1)
    source: str = "event_derived"
    holds_days: int | None = None


View = Callable[[Cells], Shown]
Related = Callable[[Cells, Mapping[Name, Cells]], dict[str, Any]]

MAX_KEY_CHARACTERS: Final = 250
"""Of a memory's key: with its type in front, 1,024 bytes even where each character takes four."""

MAX_TEXT_CHARACTERS: Final = 500
"""Of free text in a memory; the event has all of it."""

MAX_ITEMS: Final = 80
"""Of a list in a payload whose items make a memory each: one commit takes 100 actions."""

_HASH_CHARACTERS: Final = 32
_SLUG_CHARACTERS: Final = 80
_NO_SLUG: Final = re.compile(r"[^a-z0-9]+")

RULES: Final[dict[str, list[Rule]]] = {}
VIEWS: Final[dict[Name, View]] = {}
RELATED: Final[dict[Name, Related]] = {}

_R = TypeVar("_R", bound=Rule)
_V = TypeVar("_V", bound=View)
_F = TypeVar("_F", bound=Related)


def rule(*event_types: str) -> Callable[[_R], _R]:
    """Declare what events of these types add to memories."""

    def declare(function: _R) -> _R:
        for event_type in event_types:
            RULES.setdefault(event_type, []).append(function)
        return function

    return declare


def view(memory_type: str, kind: str = "") -> Callable[[_V], _V]:
    """Declare how memories of a type read whose key is `kind` or begins with `{kind}:`.

    Without a kind: every memory of the type that no other view names.
    """

    def declare(function: _V) -> _V:
        VIEWS[memory_type, kind] = function
        return function

    return declare


def related(memory_type: str, kind: str) -> Callable[[_F], _F]:
    """Declare fields that depend on other memories of the lead, found when they are read.

    They are no cells: whichever of the two events came first would decide.
    """

    def declare(function: _F) -> _F:
        RELATED[memory_type, kind] = function
        return function

    return declare


def traced(event: LeadEvent, stamped: str) -> Cells:
    """Return the provenance of an aggregating memory: newest events, how many, since when."""
    return {"newest20:events": [stamped], "add:events": 1, "min:at": event.occurred_at}


def counted(event: LeadEvent) -> Cells:
    """Return the provenance of a memory that is all registers; they name the events that stand."""
    return {"add:events": 1, "min:at": event.occurred_at}


def memory_key(kind: str, identifier: str) -> str:
    """Return `{kind}:{identifier}`, the end of it hashed where it would be too long for a key."""
    key = f"{kind}:{identifier}"
    if len(key) <= MAX_KEY_CHARACTERS:
        return key
    tail = hashlib.sha256(key.encode()).hexdigest()[:_HASH_CHARACTERS]
    return f"{key[: MAX_KEY_CHARACTERS - _HASH_CHARACTERS - 1]}~{tail}"


@lru_cache(maxsize=4096)
def slug(text: str) -> str:
    """Return words as a key: ASCII letters and digits, joined by underscores.

    What does not survive that (another script, a long end) is told apart by a hash.
    """
    flat = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = _NO_SLUG.sub("_", flat).strip("_")
    if words and len(words) <= _SLUG_CHARACTERS:
        return words
    tail = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{words[: _SLUG_CHARACTERS - 9]}_{tail}"


def chosen(payload: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the fields that are stated, free text cut to what a memory keeps."""
    out = {}
    for name in names:
        value = payload.get(name)
        if value is not None:
            out[name] = value[:MAX_TEXT_CHARACTERS] if isinstance(value, str) else value
    return out


def clipped(text: str) -> str:
    """Return text cut to what a memory keeps."""
    return text[:MAX_TEXT_CHARACTERS]


def newest_instant(cells: Cells) -> str:
    """Return when the newest event of an aggregating memory happened."""
    return instant_of(cells["newest20:events"][-1])


def preferred(cells: Cells) -> tuple[str, dict[str, int], Decimal]:
    """Return the label with most votes (of equals the latest, then by name), the votes, and how sure."""
    votes: dict[str, int] = cells["count:votes"]
    at = cells["maxmap:at"]
    most = max(votes.values())
    latest = max(at[label] for label in votes if votes[label] == most)
    best = min(label for label in votes if votes[label] == most and at[label] == latest)
    return best, votes, numbers.vote_share(most, sum(votes.values()))

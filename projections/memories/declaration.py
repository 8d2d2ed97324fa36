"""How a memory is declared: a rule for each event type that makes it, and a view of its cells.

A rule says what one event adds; a view says how the cells read. Both stand in the same module of
`projections.memories.rules`, and nothing else names the memory.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeVar

from domain.event import LeadEvent
from projections.memories.cells import Cells, Contribution

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

_HASH_CHARACTERS: Final = 32

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


def chosen(payload: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the fields that are stated, free text cut to what a memory keeps."""
    return {name: clipped(payload[name]) for name in names if payload.get(name) is not None}


def clipped(value: Any) -> Any:
    """Return text cut to what a memory keeps; anything else as it is."""
    return value[:MAX_TEXT_CHARACTERS] if isinstance(value, str) else value

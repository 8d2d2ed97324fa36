"""Reading memories: the value, confidence and provenance that a row's cells stand for.

Nothing here is stored. What depends on the time of reading, or on other memories of the lead, is
found here and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final

from domain import canonical
from domain.instants import shift
from projections.memories.cells import Cells, event_id_of, instant_of
from projections.memories.declaration import Name
from projections.memories.rules import RELATED, VIEWS

_FOUR_PLACES: Final = Decimal("0.0001")


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory as it is read.

    `value` has camelCase names; money in it is text, currency by currency. `confidence` is text
    with four decimals. `source_event_ids` are the events that stand: of an aggregating memory the
    newest 20, of an overwriting one the winner; newest first. `source_event_count` counts all that
    ever contributed. Times are of events, fixed width; an expired memory has `expires_at` at or
    before now. `digest` is of the cells: equal digests, equal memories.
    """

    memory_type: str
    key: str
    value: dict[str, Any]
    confidence: str
    source: str
    source_event_ids: tuple[str, ...]
    source_event_count: int
    created_at: str
    updated_at: str
    expires_at: str | None
    digest: str


def render(
    memory_type: str, key: str, cells: Cells, states: Mapping[Name, Cells] | None = None
) -> Memory:
    """Return the memory that cells stand for.

    Args:
        memory_type: as in the row's key.
        key: as in the row's key.
        cells: of the row.
        states: cells of all memories of the lead. Without them the fields that depend on other
            memories (a cart's `status`, an objection's `overcome`) are left out.

    Raises:
        KeyError: no memory is declared under this type and key.
    """
    kind = _kind(memory_type, key)
    shown = VIEWS[kind](cells)
    value = shown.value
    if states is not None and kind in RELATED:
        value = value | RELATED[kind](cells, states)
    stamps = _stamps(cells)
    updated_at = instant_of(stamps[0])
    days = shown.holds_days
    return Memory(
        memory_type=memory_type,
        key=key,
        value=value,
        confidence=str(shown.confidence.quantize(_FOUR_PLACES, ROUND_HALF_EVEN)),
        source=shown.source,
        source_event_ids=tuple(event_id_of(stamped) for stamped in stamps),
        source_event_count=cells["add:events"],
        created_at=cells["min:at"],
        updated_at=updated_at,
        expires_at=None if days is None else shift(updated_at, timedelta(days=days)),
        digest=canonical.digest(memory_type, key, canonical.dumps(cells)),
    )


def render_all(
    states: Mapping[Name, Cells], now: str, *, include_expired: bool = False
) -> list[Memory]:
    """Return the memories of a lead, sorted by type and key.

    Args:
        states: cells of all rows of the lead's memory partition; those that are no memory (the
            feature statistics) are passed over.
        now: the instant of reading. What has expired by then is hidden.
        include_expired: show that too.
    """
    memories = (
        render(memory_type, key, states[memory_type, key], states)
        for memory_type, key in sorted(states)
        if is_memory(memory_type, key)
    )
    return [
        memory
        for memory in memories
        if include_expired or memory.expires_at is None or memory.expires_at > now
    ]


def is_memory(memory_type: str, key: str) -> bool:
    """Tell whether a view is declared for this type and key."""
    return _kind(memory_type, key) in VIEWS


def _kind(memory_type: str, key: str) -> Name:
    kind = memory_type, key.partition(":")[0]
    return kind if kind in VIEWS else (memory_type, "")


def _stamps(cells: Cells) -> list[str]:
    """Return the stamps of the events that stand, newest first."""
    stamps: list[str] = cells.get("newest20:events") or [
        value[1] for name, value in cells.items() if name.startswith("last:")
    ]
    return sorted(stamps, reverse=True)

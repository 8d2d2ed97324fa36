"""LeadMemories: what a lead's events say about them, as cells that merge in any order."""

from collections.abc import Iterable, Mapping
from typing import Final

from domain import canonical, keys
from domain.event import LeadEvent
from domain.keys import Key
from domain.records import Row
from projections.memories.cells import Cells, Contribution, merge, stamp
from projections.memories.declaration import Name
from projections.memories.rules import RULES
from projections.projection import Rows

__all__ = ["MEMORIES", "Memories", "contributions", "states_by_name"]

_PARTITION: Final = keys.memory_partition("")

_KEPT_ADDITIONS: Final = 64
"""More than the events of one commit."""


class Memories:
    """The projection of memories: a row each, holding cells; values are made when it is read."""

    name = "memories"
    handles = frozenset(RULES)

    def __init__(self) -> None:
        # An event is asked for its keys before it is numbered and folded after, with one payload.
        self._recent: dict[str, tuple[LeadEvent, list[tuple[Key, Cells]]]] = {}

    def partitions(self, lead: str) -> tuple[str, ...]:
        """Return the one partition of all memories of the lead."""
        return (keys.memory_partition(lead),)

    def owns(self, key: Key) -> bool:
        """Tell whether the row is a memory."""
        return key.pk.startswith(_PARTITION)

    def keys(self, event: LeadEvent) -> Iterable[Key]:
        """Return the memories the event adds to, each once."""
        return [key for key, _ in self._additions(event)]

    def foreign_keys(self, event: LeadEvent) -> Iterable[Key]:  # noqa: ARG002 - the protocol's
        """Return nothing: all memories lie in the lead's own partition."""
        return ()

    def evolve(self, rows: Rows, event: LeadEvent) -> None:
        """Merge what the event adds into the rows it touches."""
        for key, addition in self._additions(event):
            cells = rows.get(key)
            if cells is None:
                cells = {}
            merge(cells, addition)
            rows.put(key, cells)

    def decode(self, row: Row) -> Cells:
        """Return the cells of a row."""
        cells: Cells = canonical.loads(str(row.attributes["cells"]))
        return cells

    def encode(self, lead: str, key: Key, state: Cells) -> Row:
        """Return the row of cells; type and key of the memory stand in its sort key alone."""
        text = canonical.dumps(state).decode()
        return Row(key, {"leadOrganizationId": lead, "cells": text})

    def _additions(self, event: LeadEvent) -> list[tuple[Key, Cells]]:
        recent = self._recent.get(event.event_id)
        if recent is not None and _same(recent[0], event):
            return recent[1]
        lead = event.lead
        additions = [
            (keys.memory(lead, memory_type, key), cells)
            for memory_type, key, cells in contributions(event)
        ]
        if len(self._recent) >= _KEPT_ADDITIONS:
            self._recent.clear()
        self._recent[event.event_id] = (event, additions)
        return additions


def _same(one: LeadEvent, other: LeadEvent) -> bool:
    """Tell whether two events differ in nothing but their sequence."""
    return one.payload is other.payload and one[:1] + one[2:16] == other[:1] + other[2:16]


def contributions(event: LeadEvent) -> list[Contribution]:
    """Return what the event adds to memories: nothing for a type that no rule names."""
    declared = RULES.get(event.event_type)
    if not declared:
        return []
    stamped = stamp(event.occurred_at, event.event_id)
    return [addition for rule in declared for addition in rule(event, stamped)]


def states_by_name(states: Mapping[Key, Cells]) -> dict[Name, Cells]:
    """Return cells by memory type and key, as views read them."""
    named = {}
    for key, cells in states.items():
        memory_type, _, name = key.sk.partition("#")
        named[memory_type, name] = cells
    return named


MEMORIES: Final = Memories()

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
        # An event that is appended is asked for its keys, then numbered, then folded.
        self._asked: dict[str, tuple[LeadEvent, list[tuple[Key, Cells]]]] = {}

    def partitions(self, lead: str) -> tuple[str, ...]:
        """Return the one partition of all memories of the lead."""
        return (keys.memory_partition(lead),)

    def owns(self, key: Key) -> bool:
        """Tell whether the row is a memory."""
        return key.pk.startswith(_PARTITION)

    def keys(self, event: LeadEvent) -> Iterable[Key]:
        """Return the memories the event adds to, each once."""
        additions = _additions(event)
        if len(self._asked) >= _KEPT_ADDITIONS:
            self._asked.clear()
        self._asked[event.event_id] = (event, additions)
        return [key for key, _ in additions]

    def foreign_keys(self, event: LeadEvent) -> Iterable[Key]:  # noqa: ARG002 - the protocol's
        """Return nothing: all memories lie in the lead's own partition."""
        return ()

    def evolve(self, rows: Rows, event: LeadEvent) -> None:
        """Merge what the event adds into the rows it touches."""
        asked = self._asked.pop(event.event_id, None)
        known = asked is not None and _same(asked[0], event)
        for key, addition in asked[1] if asked and known else _additions(event):
            merge(rows.changing(key, dict), addition)

    def decode(self, row: Row) -> Cells:
        """Return the cells of a row."""
        cells: Cells = canonical.loads(str(row.attributes["cells"]))
        return cells

    def encode(self, lead: str, key: Key, state: Cells) -> Row:
        """Return the row of cells; type and key of the memory stand in its sort key alone."""
        text = canonical.dumps(state).decode()
        return Row(key, {"leadOrganizationId": lead, "cells": text})


def _additions(event: LeadEvent) -> list[tuple[Key, Cells]]:
    lead = event.lead
    return [
        (keys.memory(lead, memory_type, key), cells)
        for memory_type, key, cells in contributions(event)
    ]


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

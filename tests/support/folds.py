"""Folding events as a service lives through them, and as a rebuild folds them: for comparing."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from domain.event import LeadEvent
from domain.keys import Key
from domain.records import Row
from projections import ALL
from projections.folding import Fold, touched
from projections.projection import NeedRow
from tests.support.strategies import LEAD

Stored = dict[Key, Row]


def live(batches: Sequence[Sequence[LeadEvent]]) -> Stored:
    """Fold batch after batch, each from rows as they were stored by the one before.

    Rows that nobody could foresee are asked for, as a commit asks for them.
    """
    stored: Stored = {}
    for batch in batches:
        for key, row in _committed(batch, stored).items():
            if row is None:
                stored.pop(key, None)
            else:
                stored[key] = row
    return stored


def folded(events: Sequence[LeadEvent]) -> Stored:
    """Fold from nothing."""
    return {key: row for key, row in changes(events).items() if row is not None}


def changes(
    events: Sequence[LeadEvent], loaded: Mapping[Key, Row | None] | None = None
) -> dict[Key, Row | None]:
    """Fold from these rows, or from nothing; None is a row that is taken away."""
    fold = Fold(ALL, LEAD, loaded)
    for each in events:
        fold.evolve(each)
    return fold.changes()


def cut(data: Any, events: Sequence[LeadEvent]) -> list[Sequence[LeadEvent]]:
    """Cut events into batches, anywhere."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=5)))
    edges = [0, *cuts, len(events)]
    return [events[low:high] for low, high in itertools.pairwise(edges)]


def _committed(batch: Sequence[LeadEvent], stored: Stored) -> dict[Key, Row | None]:
    wanted = list(touched(ALL, batch))
    while True:
        try:
            return changes(batch, {key: stored.get(key) for key in wanted})
        except NeedRow as need:
            wanted.append(need.key)

import json
from pathlib import Path
from typing import Any

import pytest

from domain import instants
from domain.event import LeadEvent
from projections.features import FEATURES, features
from projections.memories import contributions
from projections.memories.cells import Cells, merge
from tests.support.strategies import event

FOLDER = Path(__file__).parents[2] / "golden" / "features"
GOLDEN = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
VECTORS = {
    f"{name}-{place}": (golden["events"], vector)
    for name, golden in GOLDEN.items()
    for place, vector in enumerate(golden["vectors"])
}


def event_of(written: dict[str, Any], sequence: int) -> LeadEvent:
    return event(
        written["type"],
        written["payload"],
        at=instants.parse_instant(written["at"]),
        event_id=f"event-{sequence:03d}",
        sequence=sequence,
        source=written.get("source", "hotmart"),
    )


def folded(events: list[LeadEvent]) -> dict[tuple[str, str], Cells]:
    states: dict[tuple[str, str], Cells] = {}
    for each in events:
        for memory_type, key, cells in contributions(each):
            merge(states.setdefault((memory_type, key), {}), cells)
    return states


@pytest.mark.parametrize(("written", "vector"), VECTORS.values(), ids=VECTORS)
def test_features_are_what_was_worked_out_by_hand(written: Any, vector: Any):
    as_of = instants.parse_instant(vector["as_of"])
    events = [event_of(each, number) for number, each in enumerate(written, start=1)]
    had_occurred = [each for each in events if each.occurred_at <= as_of]

    found = features(
        folded(had_occurred),
        as_of,
        timezone=vector.get("timezone", "America/Sao_Paulo"),
        currency=vector.get("asked"),
    )

    assert found.features == vector["features"]
    assert (found.computed_at, found.currency) == (as_of, vector["currency"])


def test_each_of_the_20_features_is_worked_out_by_hand_somewhere():
    written = {name for _, vector in VECTORS.values() for name in vector["features"]}

    assert written == set(FEATURES)
    assert len(FEATURES) == 20

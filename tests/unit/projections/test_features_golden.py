import json
from pathlib import Path
from typing import Any

import pytest

from domain import instants
from domain.event import KNOWN_SOURCES, LeadEvent
from projections.features import FEATURES, features
from projections.memories import contributions
from projections.memories.cells import Cells, merge

FOLDER = Path(__file__).parents[2] / "golden" / "features"
GOLDEN = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
VECTORS = [
    pytest.param(golden["events"], vector, id=f"{name}-{place}")
    for name, golden in GOLDEN.items()
    for place, vector in enumerate(golden["vectors"])
]


def event_of(written: dict[str, Any], sequence: int) -> LeadEvent:
    source = written.get("source", "hotmart")
    at = instants.parse_instant(written["at"])
    return LeadEvent(
        lead="lead-one",
        sequence=sequence,
        event_type=written["type"],
        event_id=f"event-{sequence:03d}",
        organization_id="org-one",
        occurred_at=at,
        received_at=at,
        source_type=KNOWN_SOURCES[source],
        source=source,
        schema_version=1,
        external_event_id=f"external-{sequence}",
        object_id=None,
        object_id_ref=None,
        correlation_id=None,
        causation_id=None,
        key_id=None,
        payload=written["payload"],
    )


def folded(events: list[LeadEvent]) -> dict[tuple[str, str], Cells]:
    states: dict[tuple[str, str], Cells] = {}
    for event in events:
        for memory_type, key, cells in contributions(event):
            merge(states.setdefault((memory_type, key), {}), cells)
    return states


@pytest.mark.parametrize(("written", "vector"), VECTORS)
def test_features_are_what_was_worked_out_by_hand(written: Any, vector: Any):
    as_of = instants.parse_instant(vector["as_of"])
    events = [event_of(each, number) for number, each in enumerate(written, start=1)]
    had_occurred = [event for event in events if event.occurred_at <= as_of]

    found = features(
        folded(had_occurred),
        as_of,
        timezone=vector.get("timezone", "America/Sao_Paulo"),
        currency=vector.get("asked"),
    )

    assert found.values == vector["features"]
    assert (found.computed_at, found.currency) == (as_of, vector["currency"])


def test_each_of_the_20_features_is_worked_out_by_hand_somewhere():
    written = {
        name for _, vector in (param.values for param in VECTORS) for name in vector["features"]
    }

    assert written == set(FEATURES)
    assert len(FEATURES) == 20

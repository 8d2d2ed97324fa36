"""Golden files of memories, worked out by hand: events in, rows and memories out.

`rows` are cells by sort key, `memories` what is read by type and key, `expired` what is read only
when expired memories are asked for. Memories that a file does not name are not compared.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import catalog
from domain.event import LeadEvent
from domain.keys import Key
from projections.memories import MEMORIES, contributions, states_by_name
from projections.memories.cells import Cells
from projections.memories.render import Memory, is_memory, render, render_all
from projections.memories.rules import RULES, VIEWS
from projections.projection import Rows
from tests.support.strategies import LEAD, PAYLOADS, event

GOLDEN = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(Path(__file__).parents[2].joinpath("golden", "memories").glob("*.json"))
}

OWN_TESTS = {"projections.memories.rules.feature_stats"}
"""Rules of rows that are no memory."""


def events_of(golden: Mapping[str, Any]) -> list[LeadEvent]:
    return [
        event(
            entry["type"],
            entry["payload"],
            at=entry["at"],
            event_id=entry["id"],
            sequence=sequence,
            source=entry.get("source", "hotmart"),
        )
        for sequence, entry in enumerate(golden["events"], 1)
    ]


def fold(events: list[LeadEvent]) -> dict[Key, Cells]:
    rows = Rows(MEMORIES, None)
    for each in events:
        MEMORIES.evolve(rows, each)
    return {key: MEMORIES.decode(row) for key, row in rows.encoded(LEAD).items() if row is not None}


def shown(memory: Memory) -> dict[str, Any]:
    return {
        "value": memory.value,
        "confidence": memory.confidence,
        "source": memory.source,
        "sourceEventIds": list(memory.source_event_ids),
        "sourceEventCount": memory.source_event_count,
        "createdAt": memory.created_at,
        "updatedAt": memory.updated_at,
        "expiresAt": memory.expires_at,
    }


def named(memories: list[Memory]) -> dict[str, dict[str, Any]]:
    return {f"{each.memory_type}/{each.key}": shown(each) for each in memories}


@pytest.mark.parametrize("name", GOLDEN)
def test_events_make_the_rows_worked_out_by_hand(name: str):
    states = {key.sk: cells for key, cells in fold(events_of(GOLDEN[name])).items()}

    expected = GOLDEN[name]["rows"]
    assert {sk: states.get(sk) for sk in expected} == expected


@pytest.mark.parametrize("name", GOLDEN)
def test_rows_read_as_the_memories_worked_out_by_hand(name: str):
    golden = GOLDEN[name]
    states = states_by_name(fold(events_of(golden)))

    standing = named(render_all(states, golden["now"]))
    everything = named(render_all(states, golden["now"], include_expired=True))

    assert {key: standing.get(key) for key in golden["memories"]} == golden["memories"]
    expired = golden.get("expired", {})
    assert {key: everything.get(key) for key in expired} == expired
    assert not expired.keys() & standing.keys()


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_events_are_what_the_catalog_lets_in(name: str):
    for each in events_of(GOLDEN[name]):
        version = catalog.TYPES[each.event_type].version
        payload, _ = catalog.validate(each.event_type, version, each.payload)
        assert payload == each.payload


@given(st.sampled_from(sorted(PAYLOADS)), st.data())
def test_whatever_an_event_makes_stands_in_a_golden_file(event_type: str, data: Any):
    assert made(event(event_type, data.draw(PAYLOADS[event_type]))) <= COVERED


def test_every_declared_rule_and_view_stands_in_a_golden_file():
    rules = {
        (event_type, rule)
        for event_type, declared in RULES.items()
        for rule in declared
        if rule.__module__ not in OWN_TESTS
    }
    tried = {
        (each.event_type, rule)
        for golden in GOLDEN.values()
        for each in events_of(golden)
        for rule in RULES[each.event_type]
        if any(True for _ in rule(each, "stamp"))
    }

    assert rules <= tried
    assert {(memory_type, kind) for _, memory_type, kind in COVERED} == set(VIEWS)


def test_a_memory_holds_until_it_expires_and_is_hidden_from_then_on():
    states = states_by_name(fold(events_of(GOLDEN["support_last_question"])))

    def seen(now: str) -> set[str]:
        return {each.key for each in render_all(states, now) if each.memory_type == "support"}

    assert seen("2026-05-31T09:59:59.999999Z") == {"last_question"}
    assert seen("2026-05-31T10:00:00.000000Z") == set()


def test_without_the_other_memories_a_cart_has_no_status():
    states = states_by_name(fold(events_of(GOLDEN["purchase_abandoned_cart_open"])))

    cart = render("purchase", "abandoned_cart", states["purchase", "abandoned_cart"])

    assert "status" not in cart.value


def test_a_memory_that_nobody_declared_is_refused():
    with pytest.raises(KeyError):
        render("purchase", "unheard_of", {})


def made(each: LeadEvent) -> set[tuple[str, str, str]]:
    """Which kinds of memory an event makes, each with the type of the event."""
    return {
        (each.event_type, memory_type, kind_of(memory_type, key))
        for memory_type, key, _ in contributions(each)
        if is_memory(memory_type, key)
    }


def kind_of(memory_type: str, key: str) -> str:
    return "" if memory_type == "form" else key.partition(":")[0]


COVERED = {
    (each.event_type, memory_type, kind_of(memory_type, key))
    for golden in GOLDEN.values()
    for each in events_of(golden)
    for memory_type, key, _ in contributions(each)
    if f"{memory_type}/{key}" in {**golden["memories"], **golden.get("expired", {})}
}

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from domain.event import LeadEvent
from projections import FOLD_VERSION
from projections.memories import contributions
from projections.memories.cells import Cells, merge
from projections.memories.explain import Register, explain
from projections.memories.render import render_all
from projections.memories.rules.feature_stats import FEATURE_STATS
from tests.support.strategies import event, histories

NOW = "2026-03-21T00:00:00.000000Z"


def sale(day: str, name: str, amount: str = "150.00") -> LeadEvent:
    payload = {"productId": "whey", "amount": amount, "currency": "BRL", "paymentMethod": "pix"}
    return event("purchase_completed", payload, at=f"2026-{day}T10:00:00.000000Z", event_id=name)


def insight(day: str, name: str, content: str, confidence: float) -> LeadEvent:
    payload = {"insightType": "family", "content": content, "confidence": confidence}
    at = f"2026-{day}T10:00:00.000000Z"
    return event("agent_insight", payload, at=at, event_id=name, source="ai_agents_service")


def test_steps_follow_the_order_things_happened_and_show_the_value_after_each():
    events = [sale("03-15", "evt-3"), sale("01-15", "evt-1"), sale("02-14", "evt-2", "50.00")]

    found = explain(events, "purchase", "product:whey", NOW)

    assert [
        (step.event_id, step.value["purchaseCount"], step.value["totalSpent"])
        for step in found.steps
    ] == [
        ("evt-1", 1, {"BRL": "150.00"}),
        ("evt-2", 2, {"BRL": "200.00"}),
        ("evt-3", 3, {"BRL": "350.00"}),
    ]
    assert found.memory is not None
    assert found.memory.value == found.steps[-1].value
    assert (found.status, found.reason, found.fold_version) == ("stands", "", FOLD_VERSION)


def test_a_step_keeps_its_value_when_later_events_change_the_cells():
    events = [sale("01-15", "evt-1"), sale("02-14", "evt-2"), sale("03-15", "evt-3")]

    found = explain(events, "preference", "payment_method", NOW)

    assert [step.value["votes"] for step in found.steps] == [{"pix": 1}, {"pix": 2}, {"pix": 3}]


def test_a_step_names_its_rules_and_the_cells_it_touched():
    (step,) = explain([sale("01-15", "evt-1")], "purchase", "last_transaction", NOW).steps

    assert step.rules == ("commerce.purchase",)
    assert step.cells == ("add:events", "last:transaction", "min:at")
    assert step.registers == (Register("last:transaction", stands=True, by="evt-1"),)


def test_a_register_says_which_event_superseded_it_also_when_the_newer_one_arrived_first():
    events = [
        insight("03-10", "evt-new", "três filhos", 0.5),
        insight("03-01", "evt-old", "dois", 0.9),
    ]

    old, new = explain(events, "fact", "insight:family", NOW).steps

    assert old.registers == (Register("last:insight", stands=False, by="evt-new"),)
    assert new.registers == (Register("last:insight", stands=True, by="evt-new"),)


def test_an_event_below_the_threshold_is_passed_with_the_reason():
    events = [insight("03-10", "evt-1", "talvez", 0.1), insight("03-11", "evt-2", "sim", 0.3)]

    found = explain(events, "fact", "insight:family", NOW)

    assert found.status == "stands"
    assert [step.event_id for step in found.steps] == ["evt-2"]
    assert [passed.event_id for passed in found.passed] == ["evt-1"]
    assert "confidence" in found.passed[0].reason


def test_what_only_unsure_events_speak_of_is_absent_and_says_so():
    found = explain([insight("03-10", "evt-1", "talvez", 0.1)], "fact", "insight:family", NOW)

    assert (found.status, found.memory, found.steps) == ("absent", None, ())
    assert "unsure" in found.reason


def test_an_expired_memory_is_explained_and_says_until_when_it_held():
    found = explain([insight("03-10", "evt-1", "sim", 0.9)], "fact", "insight:family", "2027-01-01")

    assert found.status == "expired"
    assert found.memory is not None
    assert found.memory.expires_at is not None
    assert found.memory.expires_at in found.reason


@pytest.mark.parametrize(
    ("memory_type", "key"),
    [("purchase", "product:other"), ("nonsense", "x"), ("behavioral", "feature_stats")],
)
def test_what_no_event_contributes_to_is_absent(memory_type: str, key: str):
    found = explain([sale("01-15", "evt-1")], memory_type, key, NOW)

    assert (found.status, found.memory, found.steps, found.passed) == ("absent", None, (), ())


def test_fields_that_depend_on_other_memories_are_as_they_were_then():
    cart = event(
        "purchase_abandoned",
        {"productIds": ["whey"]},
        at="2026-03-01T10:00:00.000000Z",
        event_id="evt-1",
    )

    found = explain([sale("03-10", "evt-2"), cart], "purchase", "abandoned_cart", NOW)

    assert [step.value["status"] for step in found.steps] == ["open"]
    assert found.memory is not None
    assert found.memory.value["status"] == "recovered"


@given(histories(min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_any_memory_is_explained_by_as_many_steps_as_events_it_counts(
    history: list[LeadEvent], chance: Any
):
    states: dict[tuple[str, str], Cells] = {}
    for each in history:
        for memory_type, key, cells in contributions(each):
            merge(states.setdefault((memory_type, key), {}), cells)
    assume(states.keys() - {FEATURE_STATS})
    shuffled = list(history)
    chance.shuffle(shuffled)

    memory = chance.choice(render_all(states, NOW, include_expired=True))

    found = explain(shuffled, memory.memory_type, memory.key, NOW)

    assert found.memory == memory
    assert len(found.steps) == memory.source_event_count
    assert set(memory.source_event_ids) <= {step.event_id for step in found.steps}
    assert found == explain(history, memory.memory_type, memory.key, NOW)

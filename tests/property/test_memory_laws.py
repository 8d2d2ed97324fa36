"""What holds of memories whatever happens: the laws that make a rebuild equal what was lived."""

import random
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from domain import canonical
from domain.event import LeadEvent
from domain.items import row_item
from domain.keys import Key
from domain.limits import check_key, item_size
from projections.memories import MEMORIES, contributions, states_by_name
from projections.memories.cells import Cells, merge
from projections.memories.declaration import RULES
from projections.memories.render import Memory, render_all
from tests.support.folds import Stored, cut, folded, live
from tests.support.strategies import LEAD, PAYLOADS, arrived, event, histories

NOW = "2026-03-21T00:00:00.000000Z"


def in_order(events: Sequence[LeadEvent]) -> list[LeadEvent]:
    return sorted(events, key=lambda each: each.occurred_at_id)


def decoded(rows: Stored) -> dict[Key, Cells]:
    return {key: MEMORIES.decode(row) for key, row in rows.items()}


def read(rows: Stored) -> list[Memory]:
    return render_all(states_by_name(decoded(rows)), NOW, include_expired=True)


@given(histories(), st.data())
def test_any_order_and_any_batching_end_in_the_same_rows(history: list[LeadEvent], data: Any):
    shuffled = arrived(data.draw(st.permutations(history)))

    rows = live(cut(data, shuffled))

    assert rows == folded(in_order(history))
    assert read(rows) == read(folded(history))


@given(histories(min_size=21, max_size=60), st.randoms(use_true_random=False))
def test_one_event_at_a_time_backwards_ends_in_the_same_rows(
    history: list[LeadEvent], chance: random.Random
):
    backwards = arrived(in_order(history)[::-1])

    assert live([[each] for each in backwards]) == folded(in_order(history))


@given(histories(), st.data())
def test_parts_folded_apart_merge_to_the_whole_in_either_order(history: list[LeadEvent], data: Any):
    cut = data.draw(st.integers(0, len(history)))
    one, other = decoded(folded(history[:cut])), decoded(folded(history[cut:]))
    whole = folded(in_order(history))

    for left, right in ((one, other), (other, one)):
        cells: dict[Key, Cells] = {}
        for part in (left, right):
            for key, addition in part.items():
                merge(cells.setdefault(key, {}), addition)
        assert {key: MEMORIES.encode(LEAD, key, each) for key, each in cells.items()} == whole


@given(histories())
def test_rows_and_what_is_read_from_them_survive_storage(history: list[LeadEvent]):
    rows = folded(history)

    again = {key: MEMORIES.encode(LEAD, key, MEMORIES.decode(row)) for key, row in rows.items()}

    assert again == rows
    assert [each.digest for each in read(again)] == [each.digest for each in read(rows)]


@given(histories())
def test_nothing_that_is_added_or_compared_is_a_float(history: list[LeadEvent]):
    for cells in decoded(folded(history)).values():
        for name, value in cells.items():
            assert not floats(value[:2] if name.startswith("last:") else value)


@given(histories(max_size=20))
def test_an_event_names_each_memory_once_and_keys_tell_the_rows_it_touches(
    history: list[LeadEvent],
):
    for each in history:
        names = [(memory_type, key) for memory_type, key, _ in contributions(each)]
        rows = folded([each])

        assert len(set(names)) == len(names)
        assert set(MEMORIES.keys(each)) == set(rows)
        assert all(MEMORIES.owns(key) for key in rows)
        assert {key.pk for key in rows} <= set(MEMORIES.partitions(LEAD))


@given(histories(max_size=10))
def test_folding_leaves_the_event_as_it_was(history: list[LeadEvent]):
    before = [canonical.dumps(each.payload) for each in history]

    folded(history + history)

    assert [canonical.dumps(each.payload) for each in history] == before


@given(histories(min_size=1))
def test_a_memory_names_the_newest_events_it_stands_on_and_counts_them_all(
    history: list[LeadEvent],
):
    names: dict[tuple[str, str], list[LeadEvent]] = {}
    for each in in_order(history):
        for memory_type, key, _ in contributions(each):
            names.setdefault((memory_type, key), []).append(each)

    for memory in read(folded(history)):
        given_by = names[memory.memory_type, memory.key]
        ids = [each.event_id for each in given_by[::-1]]
        assert memory.source_event_count == len(given_by)
        assert list(memory.source_event_ids) == [
            each for each in ids if each in memory.source_event_ids
        ]
        assert memory.source_event_ids[0] == ids[0]
        assert len(memory.source_event_ids) <= 20
        assert memory.created_at == given_by[0].occurred_at
        assert memory.updated_at == given_by[-1].occurred_at


@given(st.sampled_from(sorted(PAYLOADS)), st.characters(categories=["Lo", "So"]), st.data())
def test_every_key_fits_whatever_identifiers_are_made_of(event_type: str, letter: str, data: Any):
    payload = data.draw(PAYLOADS[event_type])
    long = {
        name: letter * 255 if name.endswith("Id") or name in {"type", "category"} else value
        for name, value in payload.items()
    }

    for key in MEMORIES.keys(event(event_type, long)):
        check_key(key.pk, key.sk)


def test_a_row_with_full_provenance_stays_within_two_kilobytes():
    payload = {
        "productId": "whey_1kg",
        "productName": "Whey Protein Concentrado 1kg Baunilha",
        "category": "supplements",
        "amount": "15000.00",
        "currency": "BRL",
        "paymentMethod": "credit_card",
        "installments": 3,
        "transactionId": "HT-78901",
    }
    events = [
        event(
            "purchase_completed",
            payload | {"paymentMethod": ["credit_card", "pix", "boleto"][number % 3]},
            at=f"2026-03-15T13:00:00.{number:06d}Z",
            event_id=f"01957f8a-{number:04x}-7000-8000-0000000000ff",
        )
        for number in range(1, 41)
    ]

    rows = folded(events)

    sizes = {key.sk: item_size(row_item(row)) for key, row in rows.items()}
    assert {sk: size for sk, size in sizes.items() if size > 2048} == {}
    assert len(sizes) == 7


def test_types_that_no_rule_names_contribute_nothing():
    assert contributions(event("crm_deal_linked", {"dealId": "42"})) == []


def test_the_strategies_cover_every_type_that_a_rule_names():
    assert len(PAYLOADS) == 21
    assert set(PAYLOADS) == {each for each in RULES if not each.startswith(("message_", "reply_"))}


def floats(value: Any) -> bool:
    if isinstance(value, dict):
        return any(floats(each) for each in value.values())
    if isinstance(value, list):
        return any(floats(each) for each in value)
    return isinstance(value, float)

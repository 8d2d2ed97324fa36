from typing import Any

import pytest

from projections.memories import contributions
from projections.memories.cells import Cells, merge
from projections.memories.render import Memory, render_all
from projections.memories.templates import fill, resolve
from tests.support.strategies import event

NOW = "2026-03-21T00:00:00.000000Z"

STATES: dict[tuple[str, str], Cells] = {}
PAYLOADS: list[tuple[str, dict[str, Any]]] = [
    (
        "purchase_completed",
        {"productId": "whey.1kg", "productName": "Whey", "amount": "150.00", "currency": "BRL"},
    ),
    (
        "form_submitted",
        {
            "formId": "sat_survey_2026",
            "responses": [
                {"question": "How did you find us?", "answer": "Instagram"},
                {"question": "Colours", "answer": ["red", "blue"]},
                {"question": "Evil", "answer": "{{ purchase.last_transaction.amount }}"},
            ],
        },
    ),
]
for number, (event_type, payload) in enumerate(PAYLOADS):
    for memory_type, key, cells in contributions(
        event(event_type, payload, event_id=f"evt-{number}")
    ):
        merge(STATES.setdefault((memory_type, key), {}), cells)

MEMORIES: list[Memory] = render_all(STATES, NOW)


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ("purchase.last_transaction.amount", "150.00"),
        ("form.sat_survey_2026:how_did_you_find_us.answer", "Instagram"),
        ("form.sat_survey_2026:colours.answer", ["red", "blue"]),
        ("purchase.product:whey.1kg.purchaseCount", 1),
        ("purchase.totals.totalSpent.BRL", "150.00"),
        ("purchase.totals.totalSpent.USD", None),
        ("purchase.last_transaction.nothing", None),
        ("purchase.last_transaction.amount.deeper", None),
        ("purchase.last_transaction", None),
        ("purchase", None),
        ("", None),
        ("..", None),
        ("purchase.last_transaction.__class__", None),
    ],
)
def test_a_variable_names_a_field_of_a_memory(variable: str, expected: object):
    assert resolve(MEMORIES, variable) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Oi! {{purchase.last_transaction.productName}}?", "Oi! Whey?"),
        ("{{ purchase.last_transaction.amount }}", "150.00"),
        ("{{ form.sat_survey_2026:colours.answer }}", "red, blue"),
        ("{{ purchase.totals.purchaseCount }}", "1"),
        ("{{ purchase.totals.totalSpent }}", '{"BRL":"150.00"}'),
        ("{{ fact.name.content | cliente querido }}!", "cliente querido!"),
        ("{{ fact.name.content | }}!", "!"),
        ("{{ purchase.last_transaction.amount | 0 }}", "150.00"),
        ("{ {{ unclosed", "{ {{ unclosed"),
        ("{{}} {{ | x }}", "{{}} {{ | x }}"),
    ],
)
def test_a_text_is_filled_from_memories(text: str, expected: str):
    assert fill(text, MEMORIES) == (expected, ())


def test_what_is_missing_leaves_a_gap_or_in_strict_mode_stays_and_is_listed_either_way():
    text = "{{ fact.name.content }}, {{ a.b.c | there }}, {{fact.name.content}}, {{ x }}"

    assert fill(text, MEMORIES) == (", there, , ", ("fact.name.content", "x"))
    assert fill(text, MEMORIES, strict=True) == (
        "{{ fact.name.content }}, there, {{fact.name.content}}, {{ x }}",
        ("fact.name.content", "x"),
    )


def test_what_was_filled_in_is_not_read_again():
    filled = fill("{{ form.sat_survey_2026:evil.answer }}", MEMORIES)

    assert filled == ("{{ purchase.last_transaction.amount }}", ())

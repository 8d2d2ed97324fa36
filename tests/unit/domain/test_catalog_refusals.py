import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import canonical, catalog
from domain.errors import InvalidEvent
from tests.support.catalog_strategies import payloads

MARK = "Zzqx"
JUNK: list[object] = [{"a": 1}, [[]], float("nan"), "\x00", "\ud800"]


def refusal(event_type, change):
    """Validate the example of a type with some fields changed, and return the refusal's fields."""
    declared = catalog.TYPES[event_type]
    with pytest.raises(InvalidEvent) as refused:
        catalog.validate(event_type, declared.version, declared.example | change)
    return refused.value.fields


@pytest.mark.parametrize(
    ("event_type", "change", "pointer", "detail"),
    [
        ("purchase_completed", {"amount": -1}, "amount", "must not be negative"),
        ("purchase_completed", {"amount": "-0.01"}, "amount", "must not be negative"),
        (
            "purchase_completed",
            {"amount": "1.001"},
            "amount",
            "has more decimal places than the 2 of BRL",
        ),
        (
            "purchase_completed",
            {"amount": "1.5", "currency": "JPY"},
            "amount",
            "has more decimal places than the 0 of JPY",
        ),
        (
            "purchase_completed",
            {"currency": "REAL"},
            "currency",
            "must be an ISO 4217 currency code in upper case",
        ),
        (
            "purchase_completed",
            {"currency": "brl"},
            "currency",
            "must be an ISO 4217 currency code in upper case",
        ),
        ("purchase_completed", {"productId": 7}, "productId", "must be text"),
        ("purchase_completed", {"productId": ""}, "productId", "must have at least 1 characters"),
        (
            "purchase_completed",
            {"productId": "x" * 256},
            "productId",
            "must have at most 255 characters",
        ),
        ("purchase_completed", {"productId": "a\x00b"}, "productId", "must not contain NUL"),
        ("purchase_completed", {"productId": "\ud800"}, "productId", "must be Unicode text"),
        ("purchase_completed", {"installments": True}, "installments", "must be a whole number"),
        ("purchase_completed", {"installments": 1.5}, "installments", "must be a whole number"),
        ("purchase_completed", {"installments": 0}, "installments", "must be at least 1"),
        ("purchase_abandoned", {"productIds": []}, "productIds", "must have at least 1 items"),
        (
            "purchase_abandoned",
            {"productIds": ["a"] * 81},
            "productIds",
            "must have at most 80 items",
        ),
        ("purchase_abandoned", {"productIds": ["a", 1]}, "productIds/1", "must be text"),
        ("purchase_abandoned", {"productIds": "a"}, "productIds", "must be a list"),
        ("sentiment_detected", {"score": 1.01}, "score", "must be between 0 and 1"),
        ("sentiment_detected", {"score": float("nan")}, "score", "must be between 0 and 1"),
        ("sentiment_detected", {"score": True}, "score", "must be a number, or the text of one"),
        ("sentiment_detected", {"score": "high"}, "score", "must be a number, or the text of one"),
        (
            "sentiment_detected",
            {"label": "happy"},
            "label",
            "must be 'negative', 'neutral' or 'positive'",
        ),
        (
            "discount_accepted",
            {"discountPercent": 101},
            "discountPercent",
            "must be between 0 and 100",
        ),
        ("campaign_ignored", {"daysSinceDelivery": -1}, "daysSinceDelivery", "must be at least 0"),
        (
            "form_submitted",
            {"responses": [{"question": "a", "answer": 1}] * 81},
            "responses",
            "must have at most 80 items",
        ),
        ("form_submitted", {"responses": [{"answer": 1}]}, "responses/0/question", "is required"),
        ("form_submitted", {"responses": ["x"]}, "responses/0", "must be an object"),
        (
            "form_submitted",
            {"responses": [{"question": "a", "answer": {"b": 1}}]},
            "responses/0/answer",
            "must be text of at most 10000 characters, a number or a boolean",
        ),
        (
            "form_submitted",
            {"responses": [{"question": "a", "answer": ["b", 1]}]},
            "responses/0/answer",
            "must be at most 100 choices, each of them text",
        ),
        (
            "agent_insight",
            {"expiresAt": "2026-03-20T12:00:00"},
            "expiresAt",
            "a time needs an offset, for example a trailing Z",
        ),
        (
            "agent_insight",
            {"value": "a\ud800"},
            "value",
            "must be text of at most 2000 characters, a number or a boolean",
        ),
        (
            "agent_insight",
            {"value": float("inf")},
            "value",
            "must be text of at most 2000 characters, a number or a boolean",
        ),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_field(event_type, change, pointer, detail):
    assert refusal(event_type, change) == ((f"/payload/{pointer}", detail),)


def test_interest_names_a_category_or_a_product():
    with pytest.raises(InvalidEvent) as refused:
        catalog.validate("interest_detected", 1, {"confidence": 0.5})
    assert refused.value.fields == (("/payload", "needs category, productId or both"),)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("nota", "nota"),
        ("nota_fiscal2", "nota_fiscal2"),
        ("x" * 64, "x" * 64),
        ("x" * 65, "*"),
        ("cpf 999", "*"),
        ("cpf_12345678900", "*"),
        ("ana@example.com", "*"),
        ("", "*"),
        ("a/b", "*"),
        ("nação", "*"),
        ("a\n", "*"),
    ],
)
def test_the_name_of_an_unknown_field_is_shown_only_if_it_is_a_name(name, shown):
    unknown = "is not a field of this event type and version"

    assert refusal("product_viewed", {name: 1}) == ((f"/payload/{shown}", unknown),)
    assert refusal("form_submitted", {"responses": [{"question": "a", "answer": 1, name: 1}]}) == (
        (f"/payload/responses/0/{shown}", unknown),
    )


def test_a_name_that_is_not_unicode_is_refused():
    assert refusal("product_viewed", {"\ud800": 1}) == (("/payload", "must be Unicode text"),)


def test_a_field_is_named_as_its_sender_spelled_it():
    with pytest.raises(InvalidEvent) as refused:
        catalog.validate("product_viewed", 1, {"product_id": 1, "productName": 2})
    assert [pointer for pointer, _ in refused.value.fields] == [
        "/payload/product_id",
        "/payload/productName",
    ]


def test_two_spellings_of_one_field_are_refused():
    with pytest.raises(InvalidEvent) as refused:
        catalog.validate("product_viewed", 1, {"product_id": "a", "productId": "b"})
    assert refused.value.fields[0].pointer == "/payload/product_id"


@pytest.mark.parametrize("payload", [[], None, "x", 1, [{"productId": "x"}]])
def test_a_payload_is_an_object(payload):
    with pytest.raises(InvalidEvent) as refused:
        catalog.validate("product_viewed", 1, payload)
    assert refused.value.fields == (("/payload", "must be an object"),)


def test_a_flood_of_mistakes_is_answered_with_some_of_them():
    with pytest.raises(InvalidEvent) as refused:
        catalog.validate("product_viewed", 1, {f"f{'x' * n}": 1 for n in range(60)})
    assert len(refused.value.fields) == 50


def test_equal_numbers_are_equal_bytes():
    for one in (1, 1.0, "1", "1.0", "01"):
        assert repr(catalog.validate("sentiment_detected", 1, {"score": one})[0]) == "{'score': 1}"
    for tenth in (0.1, "0.1", "0.10"):
        assert catalog.validate("sentiment_detected", 1, {"score": tenth})[0] == {"score": 0.1}
    minus_zero = catalog.validate("sentiment_detected", 1, {"score": -0.0})[0]
    assert canonical.dumps(minus_zero) == b'{"score":0}'


def test_equal_amounts_are_equal_text():
    for amount in (150, 150.0, "150", "150.0", "150.00"):
        sent = {"productId": "p", "currency": "BRL", "amount": amount}
        assert catalog.validate("purchase_completed", 1, sent)[0]["amount"] == "150.00"


def test_an_amount_may_stand_before_its_currency():
    sent = {"amount": "1.234", "currency": "KWD", "productId": "p"}

    assert catalog.validate("purchase_completed", 1, sent)[0]["amount"] == "1.234"


@pytest.mark.parametrize("event_type", sorted(catalog.TYPES))
def test_every_field_refuses_what_is_none_of_its_kind(event_type):
    for field in catalog.TYPES[event_type].fields:
        for junk in JUNK:
            pointers = [error.pointer for error in refusal(event_type, {field.wire: junk})]
            assert any(pointer.startswith(f"/payload/{field.wire}") for pointer in pointers)
        if field.json_type != "json":
            assert refusal(event_type, {field.wire: True})


@pytest.mark.parametrize("event_type", sorted(catalog.TYPES))
@settings(max_examples=15)
@given(data=st.data())
def test_no_refusal_repeats_what_was_sent(event_type, data):
    payload = data.draw(payloads(event_type))
    spoiled = copy.deepcopy(payload)
    for name in payload:
        if data.draw(st.booleans()):
            spoiled[name] = data.draw(
                st.sampled_from([MARK * 6000, [MARK], {MARK: MARK}, [[MARK]]])
            )
    spoiled[f"{MARK} 1"] = MARK
    with pytest.raises(InvalidEvent) as refused:
        catalog.validate(event_type, catalog.TYPES[event_type].version, spoiled)

    assert MARK not in json.dumps([str(refused.value), refused.value.fields])

"""Every shape WhatsApp delivers, as one file, and the items that were checked by hand."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from adapters.whatsapp.parsing import parse
from domain.conversation.inbound import Item

FIXTURES = Path(__file__).parents[3] / "fixtures" / "whatsapp"
WEBHOOKS = sorted(FIXTURES.glob("*.webhook.json"))
RECEIVED_AT = "2026-03-21T12:00:00.000000Z"


def exact(text: str | bytes) -> Any:
    """A JSON value whose fractions are the digits that were written."""
    return json.loads(text, parse_float=lambda digits: f"number {digits}")


def at(document: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        document = document[int(part) if isinstance(document, list) else part]
    return document


def told(item: Item) -> dict[str, Any]:
    """An item as the files write it: what is absent by default is left out."""
    said = {each.name: getattr(item, each.name) for each in fields(item)}
    assert said.pop("channel") == "whatsapp"
    address = said.pop("address")
    assert address is None or address.channel == "whatsapp"
    empty = {"occurred_at_stated": True, "held_elsewhere": False, "strange": False}
    kept = {
        name: value
        for name, value in said.items()
        if not (value is None or (name in empty and value is empty[name]))
    }
    return {
        "kind_of_item": type(item).__name__,
        "address": [address.identifier, *address.aliases] if address else None,
        **kept,
    }


def test_every_delivery_has_its_items():
    listed = {path.name.replace(".items.", ".webhook.") for path in FIXTURES.glob("*.items.json")}

    assert {path.name for path in WEBHOOKS} == listed


@pytest.mark.parametrize("path", WEBHOOKS, ids=lambda path: path.name.partition(".")[0])
def test_a_delivery_is_read_as_its_items(path):
    raw = path.read_bytes()
    expected = json.loads(path.with_name(path.name.replace(".webhook.", ".items.")).read_bytes())
    delivery = parse(raw, RECEIVED_AT)
    said = [told(item) for item in delivery.items]
    kept = [each.pop("raw") for each in said]

    assert delivery.problem is None
    assert said == [
        {name: value for name, value in each.items() if name != "raw"} for each in expected
    ]
    assert all(each.isascii() for each in kept)
    assert [exact(each) for each in kept] == [at(exact(raw), each["raw"]) for each in expected]


def test_every_kind_of_item_is_shown():
    shown = {
        type(item).__name__
        for path in WEBHOOKS
        for item in parse(path.read_bytes(), RECEIVED_AT).items
    }

    assert shown == {kind.__name__ for kind in Item.__args__}

"""What holds of every delivery of WhatsApp, however it is packed and whatever stands in it."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adapters.whatsapp.parsing import parse
from domain import instants
from domain.conversation.inbound import ChannelNotice, Item
from domain.event import MAX_ID_CHARACTERS

NOW = "2026-03-21T12:00:00.000000Z"
METADATA = {"display_phone_number": "+55 11 95555-0100", "phone_number_id": "109876543210987"}
FIXTURES = Path(__file__).parents[1] / "fixtures" / "whatsapp"
GOLDEN = [json.loads(path.read_bytes()) for path in sorted(FIXTURES.glob("*.webhook.json"))]

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=20)
    | st.sampled_from(["5511955550142", "BR.142", "text", "x" * 300, "\ud83d", "\x00", 10**400])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)

Slot = tuple[str, Any]


def message(number: int, kind: int) -> Slot:
    base = {"from": f"55119555501{number:02}", "timestamp": str(1773928800 + number)}
    named = {**base, "id": f"wamid.{number}"}
    shapes: list[Slot] = [
        ("messages", {**named, "type": "text", "text": {"body": f"oi {number}"}}),
        ("messages", {**base, "type": "text", "text": {"body": f"sem id {number}"}}),
        ("messages", {**named, "type": "reaction", "reaction": {"message_id": "wamid.X"}}),
        ("messages", {**named, "type": "hologram"}),
        ("messages", f"no object {number}"),
        ("statuses", {"id": f"wamid.{number}", "status": "delivered", "timestamp": "1773928800"}),
        ("statuses", {"id": f"wamid.{number}", "status": "read", "timestamp": "1773928800"}),
        ("message_echoes", {**named, "to": "5511955550142", "type": "text"}),
        ("errors", {"code": 131000, "title": f"error {number}"}),
        (
            "user_preferences",
            {
                "wa_id": f"55119555502{number:02}",
                "category": "c",
                "value": "stop",
                "timestamp": number,
            },
        ),
    ]
    return shapes[kind % len(shapes)]


def change(slots: list[Slot]) -> dict[str, Any]:
    value: dict[str, Any] = {"messaging_product": "whatsapp", "metadata": METADATA}
    for name, item in slots:
        value.setdefault(name, []).append(item)
    return {"field": "messages", "value": value}


def packed(cuts: list[int], slots: list[Slot]) -> bytes:
    """Pack items, in order, into changes and entries, cut where it is told."""
    entries: list[dict[str, Any]] = [{"id": "1", "changes": []}]
    here: list[Slot] = []
    for index, slot in enumerate(slots):
        here.append(slot)
        if cuts[index] > 0:
            entries[-1]["changes"].append(change(here))
            here = []
        if cuts[index] > 1:
            entries.append({"id": str(index), "changes": []})
    entries[-1]["changes"].append(change(here))
    return json.dumps({"object": "whatsapp_business_account", "entry": entries}).encode()


def names(raw: bytes) -> list[tuple[str, str]]:
    return [(item.source, item.external_event_id) for item in parse(raw, NOW).items]


def distinct(count: int, kinds: list[int]) -> list[Slot]:
    return [message(number, kinds[number % len(kinds)]) for number in range(count)]


@given(st.integers(1, 30), st.lists(st.integers(0, 9), min_size=1, max_size=30), st.data())
def test_n_items_are_n_items_however_they_are_packed_ordered_and_repeated(count, kinds, data):
    slots = distinct(count, kinds)
    alone = [names(packed([0], [slot])) for slot in slots]
    shuffled = data.draw(st.permutations(range(count)))
    repeated = shuffled + data.draw(st.lists(st.sampled_from(range(count)), max_size=10))
    cuts = data.draw(st.lists(st.integers(0, 2), min_size=len(repeated), max_size=len(repeated)))
    found = names(packed(cuts, [slots[index] for index in repeated]))

    assert [len(each) for each in alone] == [1] * count
    assert len({each for (each,) in alone}) == count
    assert len(found) == len(repeated)
    assert sorted(found) == sorted(alone[index][0] for index in repeated)


@given(st.integers(1, 30), st.data())
def test_messages_keep_the_order_in_which_they_stand(count, data):
    slots = data.draw(st.permutations(distinct(count, [0, 1])))
    cuts = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))

    assert names(packed(cuts, slots)) == [names(packed([0], [slot]))[0] for slot in slots]


def places(document: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(document, dict):
        inner = list(document.items())
    else:
        inner = list(enumerate(document)) if isinstance(document, list) else []
    return [at, *(place for key, value in inner for place in places(value, (*at, key)))]


def replaced(document: Any, at: tuple[Any, ...], value: Any) -> Any:
    if not at:
        return value
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[at[0]] = replaced(document[at[0]], at[1:], value)
    return copy


def assert_sound(items: list[Item]) -> None:
    for item in items:
        assert 1 <= len(item.external_event_id) <= MAX_ID_CHARACTERS
        assert item.raw.isascii()
        json.loads(item.raw)
        assert instants.parse_instant(item.occurred_at) == item.occurred_at
        said = [getattr(item, name) for name in item.__dataclass_fields__]
        for text in (each for each in said if isinstance(each, str)):
            assert "\x00" not in text
            text.encode()
        # A shape that only a blanket catch survives is a fault of the reader.
        assert not (isinstance(item, ChannelNotice) and item.kind == "parser_failed")


@given(st.sampled_from(GOLDEN), st.data())
def test_any_json_in_any_slot_is_read_or_strange_and_never_raises(golden, data):
    document = golden
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.sampled_from(places(document)))
        document = replaced(document, at, data.draw(JSON))
    delivery = parse(json.dumps(document).encode(), NOW)

    assert_sound(delivery.items)


@given(st.data())
def test_a_strange_item_costs_no_other_item_anything(data):
    good = distinct(6, [0])
    strange = data.draw(st.lists(JSON, min_size=1, max_size=3))
    mixed = data.draw(st.permutations(good + [("messages", each) for each in strange]))
    found = names(packed([0] * len(mixed), mixed))

    wanted = [names(packed([0], [slot]))[0] for slot in mixed if slot in good]
    assert [name for name in found if name in wanted] == wanted
    assert len(found) == len(mixed)


@given(JSON)
def test_any_json_is_a_delivery(value):
    delivery = parse(json.dumps(value).encode(), NOW)

    assert delivery.problem in {None, "not_json", "unknown_object"}
    assert_sound(delivery.items)


@given(st.binary(max_size=200), st.sampled_from(GOLDEN), st.integers(0, 2000))
def test_any_bytes_are_a_delivery(noise, golden, at):
    raw = json.dumps(golden).encode()

    assert parse(noise, NOW).items == []
    assert_sound(parse(raw[:at] + noise + raw[at:], NOW).items)
    assert_sound(parse(raw[:at], NOW).items)

"""One delivery becomes its items: what no single shape shows."""

import json

import pytest

from adapters.whatsapp.change import change_of, guarded
from adapters.whatsapp.parsing import Delivery, parse
from domain.conversation.inbound import ChannelNotice, HistoryMessage, InboundMessage, MessageStatus

NOW = "2026-03-21T12:00:00.000000Z"
METADATA = {"display_phone_number": "5511955550100", "phone_number_id": "109876543210987"}


def text(message_id="wamid.A", **fields):
    return {
        "from": "5511955550142",
        "id": message_id,
        "timestamp": "1773928800",
        "type": "text",
        "text": {"body": "Oi"},
        **fields,
    }


def delivered(*messages, field="messages", **value):
    value = {"metadata": METADATA, "messages": list(messages), **value}
    entry = {"id": "1", "changes": [{"field": field, "value": value}]}
    return json.dumps({"object": "whatsapp_business_account", "entry": [entry]}).encode()


def only(*messages, **value):
    (item,) = parse(delivered(*messages, **value), NOW).items
    return item


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", "not_json"),
        (b"{", "not_json"),
        (b"\xff\xfe", "not_json"),
        (b"[" * 200_000, "not_json"),
        (b'{"object":NaN}', "not_json"),
        (b"null", "unknown_object"),
        (b"[]", "unknown_object"),
        (b'"whatsapp_business_account"', "unknown_object"),
        (b"{}", "unknown_object"),
        (b'{"object":"page","entry":[{"id":"1"}]}', "unknown_object"),
        (b'{"object":["whatsapp_business_account"]}', "unknown_object"),
        (b'{"object":"whatsapp_business_account"}', None),
        (b'{"object":"whatsapp_business_account","entry":null}', None),
        (b'{"object":"whatsapp_business_account","entry":[]}', None),
    ],
)
def test_a_body_without_items_says_what_it_is(raw, problem):
    assert parse(raw, NOW) == Delivery([], problem)


def test_an_item_nested_beyond_reading_does_not_cost_the_others_theirs():
    deep = b"[" * 100_000 + b"]" * 100_000
    raw = delivered(text(), text("wamid.B", context="deep")).replace(b'"deep"', deep)

    assert [item.external_event_id for item in parse(raw, NOW).items] == ["wamid.A", "wamid.B"]


def test_a_surrogate_half_in_one_message_does_not_cost_the_others_theirs():
    raw = delivered(text(), text("wamid.B", text={"body": "x"})).replace(b'"x"', rb'"\ud83d"')
    first, second = parse(raw, NOW).items

    assert isinstance(first, InboundMessage)
    assert isinstance(second, InboundMessage)
    assert (first.text, second.text) == ("Oi", "\ufffd")
    assert rb"\ud83d" in second.raw


def test_a_fault_of_our_own_costs_one_item_and_has_a_name():
    def broken(item, change):
        raise RecursionError

    change = change_of("messages", {}, received_at=NOW, told_at=None)
    item = guarded(broken, {"from": "5511955550142", "id": "wamid.A"}, change)

    assert isinstance(item, ChannelNotice)
    assert (item.kind, item.strange) == ("parser_failed", True)
    assert item.raw == b'{"from":"5511955550142","id":"wamid.A"}'
    assert item.external_event_id != "wamid.A"


def test_the_order_of_keys_is_no_part_of_an_item():
    one = parse(delivered(text(id=None)), NOW)
    backwards = dict(reversed(text(id=None).items()))
    other = parse(delivered(backwards), NOW)

    assert one.items[0].external_event_id == other.items[0].external_event_id
    assert one.items[0].raw != other.items[0].raw


@pytest.mark.parametrize("message_id", [None, ""])
def test_messages_without_an_id_are_told_apart_by_what_they_say(message_id):
    items = parse(
        delivered(text(message_id), text(message_id), text(message_id, timestamp="1773928801")), NOW
    ).items
    first, again, other = [item.external_event_id for item in items]

    assert [type(item) for item in items] == [InboundMessage] * 3
    assert first == again != other


@pytest.mark.parametrize("message_id", ["x" * 256, "wamid\x00", {"a": 1}, True, "\ud800"])
def test_an_id_that_cannot_be_kept_makes_an_item_strange(message_id):
    item = only(text(message_id))

    assert isinstance(item, ChannelNotice)
    assert (item.kind, item.strange) == ("unusable_id", True)
    assert item.address is not None
    assert item.external_event_id.startswith("local:")


def test_a_status_whose_id_grows_too_long_is_strange():
    item = only(statuses=[{"id": "x" * 252, "status": "sent"}])

    assert isinstance(item, ChannelNotice)
    assert item.kind == "unusable_id"


def test_numbers_in_place_of_text_are_understood():
    item = only(text(**{"from": 5511955550142, "timestamp": 1773928800}))

    assert isinstance(item, InboundMessage)
    assert item.reply_to == "5511955550142"
    assert item.occurred_at == "2026-03-19T14:00:00.000000Z"


@pytest.mark.parametrize(
    ("sender", "wa_id"),
    [
        ("5511981110143", "551181110143"),
        ("551181110143", "5511981110143"),
        ("+55 11 98111-0143", "551181110143"),
        ("551181110143", "+55 11 98111-0143"),
    ],
)
def test_a_contact_is_found_by_any_form_of_its_number(sender, wa_id):
    contacts = [
        {"wa_id": "5511955550199", "profile": {"name": "Outra"}},
        {"wa_id": wa_id, "profile": {"name": "Bia"}, "user_id": "BR.143"},
    ]
    item = only(text(**{"from": sender}), contacts=contacts)

    assert isinstance(item, InboundMessage)
    assert (item.contact_name, item.reply_to, item.user_id) == ("Bia", wa_id, "BR.143")


def test_of_two_contacts_with_one_number_the_first_counts():
    contacts = [{"wa_id": "5511955550142", "user_id": user_id} for user_id in ("BR.1", "BR.2")]
    item = only(text(), contacts=contacts)

    assert isinstance(item, InboundMessage)
    assert item.user_id == "BR.1"


def test_a_contact_of_nobody_is_nobodys():
    item = only(text(), contacts=[{"wa_id": "5511955550199", "profile": {"name": "Outra"}}])

    assert isinstance(item, InboundMessage)
    assert item.contact_name is None


@pytest.mark.parametrize(
    ("profile", "name"),
    [
        ({"name": " Ana\x00 ", "username": "ana"}, "Ana"),
        ({"name": "  ", "username": "ana"}, "ana"),
        ({"username": "ana"}, "ana"),
        ({"name": "x" * 600}, "x" * 500),
        ({"name": 5}, None),
        ("Ana", None),
        (None, None),
    ],
)
def test_what_a_contact_calls_itself(profile, name):
    item = only(text(), contacts=[{"wa_id": "5511955550142", "profile": profile}])

    assert isinstance(item, InboundMessage)
    assert item.contact_name == name


def test_the_business_is_never_the_person_of_a_strange_item():
    ours = text(**{"from": "+55 11 95555-0100"})

    assert [item.address for item in parse(delivered(ours, message_echoes=[ours]), NOW).items] == [
        None,
        None,
    ]


def test_a_status_keeps_its_failure_even_if_its_words_are_missing():
    item = only(statuses=[{"id": "wamid.A", "status": "failed", "errors": [{}]}])

    assert isinstance(item, MessageStatus)
    assert (item.error_class, item.error_code) == ("REQUEST", None)


@pytest.mark.parametrize("errors", [None, [], {}, "x", [None], [5]])
def test_a_status_without_errors_has_no_class(errors):
    item = only(statuses=[{"id": "wamid.A", "status": "read", "errors": errors}])

    assert isinstance(item, MessageStatus)
    assert item.error_class is None


def test_a_history_without_a_known_number_of_ours_is_told_by_to():
    chunk = {"threads": [{"id": "5511955550142", "messages": [text(), text("wamid.B", to="551")]}]}
    raw = delivered(history=[chunk], metadata={}, field="history")

    read = [item for item in parse(raw, NOW).items if isinstance(item, HistoryMessage)]
    assert [item.direction for item in read] == ["inbound", "outbound"]


@pytest.mark.parametrize("chunk", [5, {"threads": 5}, {"threads": [{"id": "x", "messages": [5]}]}])
def test_a_history_of_another_form_is_kept_as_strange(chunk):
    item = only(history=[chunk], field="history")

    assert isinstance(item, ChannelNotice)
    assert item.strange


def test_standby_may_have_a_list_of_its_own():
    item = only(standby=[text()], field="standby")

    assert isinstance(item, InboundMessage)
    assert item.held_elsewhere


@pytest.mark.parametrize("kind", [[], {}, None, 5])
def test_a_system_message_whose_type_is_no_word_is_a_notice(kind):
    item = only(text(type="system", system={"type": kind, "wa_id": "5521955550147"}))

    assert isinstance(item, ChannelNotice)
    assert item.kind == "system"


def test_a_group_is_nobody_even_if_its_id_looks_like_a_number():
    group = {"recipient_type": "group", "recipient_id": "5511955550199"}
    item = only(statuses=[{"id": "wamid.A", "status": "read", **group}])

    assert isinstance(item, MessageStatus)
    assert item.address is None

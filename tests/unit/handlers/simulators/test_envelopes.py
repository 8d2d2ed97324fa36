import hashlib
import hmac
import json

import pytest

from handlers.simulators.whatsapp import Number
from handlers.simulators.whatsapp.envelopes import Change, assemble, sign, to_bytes

ONE = Number()
OTHER = Number(phone_number_id="109876543210988", account_id="209999999999999")


def changes(count, number=ONE, **more):
    contact = {"wa_id": "5511955550142"}
    return [
        Change(number=number, body={"id": f"wamid.{place}"}, contact=contact, **more)
        for place in range(count)
    ]


def ids(envelope):
    return [
        [[item["id"] for item in change["value"]["messages"]] for change in entry["changes"]]
        for entry in envelope["entry"]
    ]


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("messages", [[["wamid.0", "wamid.1"]]]),
        ("changes", [[["wamid.0"], ["wamid.1"]]]),
        ("entries", [[["wamid.0"]], [["wamid.1"]]]),
    ],
)
def test_two_items_meet_where_the_layout_says(layout, expected):
    assert ids(assemble(changes(2), layout)) == expected


def test_a_contact_of_several_items_stands_in_a_value_once():
    (entry,) = assemble(changes(3))["entry"]

    assert entry["changes"][0]["value"]["contacts"] == [{"wa_id": "5511955550142"}]


@pytest.mark.parametrize("layout", ["messages", "changes", "entries"])
def test_what_is_of_two_accounts_is_in_two_entries(layout):
    envelope = assemble([*changes(1), *changes(1, OTHER)], layout)

    assert [entry["id"] for entry in envelope["entry"]] == [ONE.account_id, OTHER.account_id]
    numbers = [
        entry["changes"][0]["value"]["metadata"]["phone_number_id"] for entry in envelope["entry"]
    ]
    assert numbers == [ONE.phone_number_id, OTHER.phone_number_id]


def test_messages_and_statuses_of_one_number_share_a_value():
    both = [*changes(1), *changes(1, slot="statuses")]
    (change,) = assemble(both)["entry"][0]["changes"]

    assert [item["id"] for item in change["value"]["messages"]] == ["wamid.0"]
    assert [item["id"] for item in change["value"]["statuses"]] == ["wamid.0"]


def test_an_item_without_a_slot_is_the_whole_value():
    notice = Change(number=ONE, field="account_update", slot=None, body={"event": "VERIFIED"})
    second = assemble([*changes(1), notice])["entry"][0]["changes"][1]

    assert second == {"field": "account_update", "value": {"event": "VERIFIED"}}


def test_the_bytes_are_those_meta_writes():
    body = to_bytes({"b": "https://exemplo.com/ação", "a": "😀\ud83d"})

    assert body == rb'{"b":"https:\/\/exemplo.com\/a\u00e7\u00e3o","a":"\ud83d\ude00\ud83d"}'
    assert json.loads(body) == {"b": "https://exemplo.com/ação", "a": "😀\ud83d"}
    assert to_bytes({"b": 1, "a": 2}, sort_keys=True) == b'{"a":2,"b":1}'


def test_the_signature_is_of_the_bytes():
    # The vector that the research measured against the usual ways to write the document anew.
    body = (
        rb'{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"value":{"messages":'
        rb'[{"text":{"body":"Ol\u00e1 \ud83d\ude00 https:\/\/ex.com a@b.c"}}]}}]}]}'
    )

    assert sign("test-app-secret", body) == (
        "sha256=58f142b9e1fd3cc5c8e7f4ce63d6414c8d4cd2e66e0a47d469b68e57930b7398"
    )
    assert to_bytes(json.loads(body)) == body
    expected = hmac.new(b"other", body, hashlib.sha256).hexdigest()
    assert sign("other", body) == f"sha256={expected}"

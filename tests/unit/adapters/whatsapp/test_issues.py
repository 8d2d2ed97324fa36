"""Failures that others have met in public and that an adapter alone can prevent.

Source: research/whatsapp.md §2. Each test has the name of the report.
"""

import hmac
import json
import re
from pathlib import Path

import pytest

from adapters.whatsapp.client import WhatsAppChannel
from adapters.whatsapp.errors import classify
from adapters.whatsapp.parsing import parse
from adapters.whatsapp.signature import verify
from domain.addresses import identity_keys
from domain.conversation.delivery import RETRIED, ErrorClass, OutboundText, Unknown
from domain.conversation.inbound import (
    AddressChange,
    InboundMessage,
    MessageChange,
    MessageStatus,
)
from tests.support.http_server import Reply, http_server

NOW = "2026-03-21T12:00:00.000000Z"
ROOT = Path(__file__).parents[4]
SECRET = b"test-app-secret"


def text(message_id="wamid.A", **fields):
    return {
        "from": "5511955550142",
        "id": message_id,
        "timestamp": "1773928800",
        "type": "text",
        "text": {"body": "Oi"},
        **fields,
    }


def change(**value):
    metadata = {"display_phone_number": "5511955550100", "phone_number_id": "1"}
    return {"field": "messages", "value": {"metadata": metadata, **value}}


def body(*entries):
    entry = [{"id": "1", "changes": list(changes)} for changes in entries]
    return json.dumps({"object": "whatsapp_business_account", "entry": entry}).encode()


def items(**value):
    return parse(body([change(**value)]), NOW).items


def keys(item):
    return set(identity_keys("org-one", item.address))


def sent(*replies, **options):
    out = OutboundText(outbound_id="out_a", account="1", to="5511955550142", text="Oi")
    with http_server(*replies) as server:
        channel = WhatsAppChannel("token", version="v24.0", base_url=server.url, **options)
        result = channel.send(out)
        channel.close()
        return result, server.asked


# Row 5: pywa#229, netflie/whatsapp-cloud-api#132, Eshajha19/agri#2865.
@pytest.mark.parametrize(
    "raw",
    [
        body([change(messages=[text("a"), text("b"), text("c")])]),
        body([change(messages=[text("a")]), change(messages=[text("b"), text("c")])]),
        body([change(messages=[text("a")])], [change(messages=[text("b"), text("c")])]),
        body(
            [change(messages=[text("a")])],
            [],
            [change(messages=[text("b")])],
            [change(messages=[text("c")])],
        ),
    ],
)
def test_issue_pywa_229_no_message_of_a_batch_is_lost(raw):
    assert [item.external_event_id for item in parse(raw, NOW).items] == ["a", "b", "c"]


# Row 10: Secreto31126/whatsapp-api-js#290, tawn33y/whatsapp-cloud-api#60.
@pytest.mark.parametrize(
    "said", ["J'ai mangé", "a@b.c", "https:\\/\\/ex.com", "\\ud83d\\ude00", "<&>"]
)
def test_issue_whatsapp_api_js_290_the_signature_is_of_the_raw_bytes(said):
    raw = b'{"text": "' + said.encode() + b'"}'
    header = "sha256=" + hmac.new(SECRET, raw, "sha256").hexdigest()

    assert verify(raw, header, [SECRET])


# Row 11: fbsamples/whatsapp-business-jaspers-market#37.
@pytest.mark.parametrize("header", [None, ""])
def test_issue_whatsapp_business_jaspers_market_37_a_missing_signature_is_refused(header):
    assert not verify(b"{}", header, [SECRET])


# Row 13: chatwoot#5840, #13986, nyaruka/courier#433, WAHA#1261.
def test_issue_chatwoot_5840_the_ninth_digit_is_one_lead_and_the_reply_goes_where_it_came_from():
    with_it, without = items(
        messages=[text("a", **{"from": "5531988888888"}), text("b", **{"from": "553188888888"})]
    )

    assert keys(with_it) == keys(without)
    assert (with_it.reply_to, without.reply_to) == ("5531988888888", "553188888888")


# Row 15: chatwoot#14048, #14264.
@pytest.mark.parametrize(
    ("one", "other"),
    [("5215512345678", "525512345678"), ("5491123456789", "541123456789")],
)
def test_issue_chatwoot_14048_mexico_and_argentina_are_one_lead(one, other):
    first, second = items(messages=[text("a", **{"from": one}), text("b", **{"from": other})])

    assert keys(first) == keys(second)
    assert (first.reply_to, second.reply_to) == (one, other)


# Row 16: nyaruka/courier#1094.
def test_issue_courier_1094_a_person_without_a_phone_is_heard():
    message = {**text(), "from_user_id": "BR.144"}
    del message["from"]
    (item,) = items(messages=[message], contacts=[{"user_id": "BR.144", "profile": {"name": "C"}}])

    assert isinstance(item, InboundMessage)
    assert item.address is not None
    assert (item.address.identifier, item.reply_to, item.user_id) == ("BR.144", "BR.144", "BR.144")
    assert item.text == "Oi"


# Row 19: chatwoot#15357, #13636.
def test_issue_chatwoot_15357_a_new_number_has_the_old_and_the_new_keys_and_is_written_to():
    system = {"type": "user_changed_number", "wa_id": "5521955550147", "user_id": "BR.999"}
    old, new, moved = items(
        messages=[
            text("a"),
            text("b", **{"from": "5521955550147"}),
            {**text("c", from_user_id="BR.142"), "type": "system", "system": system},
        ]
    )

    assert isinstance(moved, AddressChange)
    assert keys(old) | keys(new) < keys(moved)
    assert moved.address is not None
    assert moved.address.identifier == "5511955550142"
    assert {"BR.142", "BR.999"} <= set(moved.address.aliases)
    assert moved.reply_to == "5521955550147"


# Row 21: hermes-agent#80056, wacrm#535, evolution#2486, frappe_whatsapp#253.
def test_issue_hermes_agent_80056_why_a_message_failed_is_kept_and_classified():
    error = {"code": 131026, "title": "Undeliverable", "error_data": {"details": "Not on WhatsApp"}}
    (item,) = items(statuses=[{"id": "wamid.A", "status": "failed", "errors": [error]}])

    assert isinstance(item, MessageStatus)
    assert (item.error_class, item.error_code) == ("RECIPIENT", 131026)
    assert (item.error_title, item.error_details) == ("Undeliverable", "Not on WhatsApp")


# Row 23: chatwoot#14739.
def test_issue_chatwoot_14739_a_message_has_the_time_it_was_written():
    (item,) = items(messages=[text()])

    assert item.occurred_at == "2026-03-19T14:00:00.000000Z"
    assert item.occurred_at != NOW


# Row 26: hermes-agent#80062, fazer-ai/chatwoot#275, connectonion#1583.
@pytest.mark.parametrize("reaction", [{"emoji": "👍"}, {"emoji": ""}, {}])
def test_issue_hermes_agent_80062_a_reaction_is_no_message(reaction):
    (item,) = items(
        messages=[text(type="reaction", reaction={"message_id": "wamid.B", **reaction})]
    )

    assert isinstance(item, MessageChange)
    assert (item.change, item.message_id) == ("reacted", "wamid.B")


# Row 37: camel-ai/camel#4280, openclaw#142398, #116232, fazer-ai/chatwoot#259.
@pytest.mark.parametrize("lost", [Reply(hang_s=30, body={}), Reply(reset=True), Reply(502, b"")])
def test_issue_camel_4280_a_lost_answer_is_no_failure_and_not_retried(lost):
    result, asked = sent(lost, read_s=0.3)

    assert isinstance(result, Unknown)
    assert len(asked) == 1


# Row 39: meedan/check-api#1679.
def test_issue_check_api_1679_the_limit_of_a_pair_is_a_delay():
    assert classify(131056, 400, is_transient=False) is ErrorClass.PAIR
    assert ErrorClass.PAIR in RETRIED


# Row 42: swampratnz/community-agent#470, hermes-agent#80070.
@pytest.mark.parametrize("code", [None, 130429, 4, 80007])
def test_issue_community_agent_470_too_many_requests_are_no_outage(code):
    assert classify(code, 429, is_transient=False) is ErrorClass.THROUGHPUT
    assert ErrorClass.THROUGHPUT in RETRIED


# Row 46: hermes-agent#70352.
def test_issue_hermes_agent_70352_no_address_of_a_payload_is_ever_fetched():
    with http_server() as trap:
        media = {"id": "1003383421387256", "url": f"{trap.url}/latest/meta-data", "link": trap.url}
        (item,) = items(
            messages=[text(type="image", image=media, referral={"source_url": trap.url})],
            contacts=[{"wa_id": "5511955550142", "profile": {"picture": trap.url}}],
        )

    assert isinstance(item, InboundMessage)
    assert item.media_id == "1003383421387256"
    said = [getattr(item, name) for name in item.__dataclass_fields__ if name != "raw"]
    assert trap.url not in str(list(said))
    assert trap.asked == []


def test_issue_hermes_agent_70352_nothing_that_reads_a_payload_can_fetch():
    reading = [
        path
        for path in (ROOT / "adapters" / "whatsapp").glob("*.py")
        if re.search(
            r"^\s*(import|from) (httpx2|http|urllib|socket)\b", path.read_text(), re.MULTILINE
        )
    ]

    assert [path.name for path in reading] == ["client.py"]


def test_issue_hermes_agent_70352_a_redirect_is_not_followed():
    with http_server() as elsewhere:
        _, asked = sent(Reply(307, b"", {"Location": elsewhere.url}))

    assert len(asked) == 1
    assert elsewhere.asked == []

import json

import pytest

from handlers.simulators.whatsapp import graph
from handlers.simulators.whatsapp.graph import ReadRequest, Refused, TextRequest

PHONE = "5511955550142"


def text(**more):
    return {
        "messaging_product": "whatsapp",
        "to": PHONE,
        "type": "text",
        "text": {"body": "Olá"},
        **more,
    }


def without(name):
    return {key: value for key, value in text().items() if key != name}


def read(document):
    return graph.read(json.dumps(document).encode())


def test_a_text_is_understood():
    assert read(text()) == TextRequest(to=PHONE, text="Olá", tracker=None)
    asked = text(to="+55 (11) 95555-0142", biz_opaque_callback_data="out_1")
    assert read(asked) == TextRequest(to=PHONE, text="Olá", tracker="out_1")


def test_a_person_without_a_phone_is_written_to_by_its_user_id():
    asked = {**without("to"), "recipient": "BR.150000000000142"}

    assert read(asked).to == "BR.150000000000142"


@pytest.mark.parametrize("typing", [True, False])
def test_a_read_receipt_is_understood(typing):
    shown = {"typing_indicator": {"type": "text"}} if typing else {}
    asked = {"messaging_product": "whatsapp", "status": "read", "message_id": "wamid.1", **shown}

    assert read(asked) == ReadRequest(message_id="wamid.1", typing=typing)


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ([], 100),
        (without("messaging_product"), 100),
        (text(messaging_product="sms"), 100),
        (without("to"), 131008),
        (text(to=""), 131008),
        (text(to="Ana"), 131009),
        (text(to=5511955550142), 131009),
        ({**without("to"), "recipient": "5511955550142"}, 131009),
        (text(recipient_type="group"), 131009),
        (text(type="image"), 131051),
        (without("text"), 131008),
        (text(text={"body": ""}), 131008),
        (text(text={"body": 5}), 131009),
        (text(text={"body": "a" * 4097}), 100),
        (text(text={"body": "😀" * 2049}), 100),
        (text(biz_opaque_callback_data="a" * 513), 131009),
        ({"messaging_product": "whatsapp", "status": "read"}, 131008),
        ({"messaging_product": "whatsapp", "status": "seen", "message_id": "wamid.1"}, 131009),
        (
            {
                "messaging_product": "whatsapp",
                "status": "read",
                "message_id": "wamid.1",
                "typing_indicator": {"type": "audio"},
            },
            131009,
        ),
    ],
)
def test_what_the_api_would_not_take_is_refused(document, code):
    with pytest.raises(Refused) as refused:
        read(document)

    assert refused.value.code == code


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 200_000])
def test_a_body_that_is_no_json_is_refused(body):
    with pytest.raises(Refused) as refused:
        graph.read(body)

    assert refused.value.http_status == 400


@pytest.mark.parametrize("longest", ["a" * 4096, "😀" * 2048])
def test_a_text_of_the_greatest_length_is_taken(longest):
    assert read(text(text={"body": longest})).text == longest


def test_an_error_looks_like_one_of_the_graph_api():
    refused = Refused(131056, "Too many messages to this person.")
    (error,) = graph.error_json(refused, "Atrace").values()

    assert error["code"] == 131056
    assert error["error_data"] == {
        "messaging_product": "whatsapp",
        "details": "Too many messages to this person.",
    }
    assert error["message"].startswith("(#131056) ")
    assert error["fbtrace_id"] == "Atrace"
    assert error["type"] == "OAuthException"

"""Reading what WhatsApp delivers: messages and statuses a second, packed as Meta packs them."""

import json
import random
import statistics
from collections.abc import Iterator
from typing import Any

from adapters.whatsapp.parsing import parse
from adapters.whatsapp.signature import verify
from tests.bench.measuring import Result, at_least, rate

RECEIVED_AT = "2026-03-21T12:00:00.000000Z"
METADATA = {"display_phone_number": "+55 11 95555-0100", "phone_number_id": "109876543210987"}
PEOPLE = 2_000
ROUNDS = 7

Fields = dict[str, Any]


def run() -> Iterator[Result]:
    chance = random.Random(7)
    envelopes, messages = _day(chance, 3_000)

    def read() -> None:
        for each in envelopes:
            parse(each, RECEIVED_AT)

    # Every number is met for the first time in the first round, which counts as one of them.
    rates = [rate(messages, read) for _ in range(ROUNDS)]
    yield at_least(
        "parse WhatsApp",
        "messages/s",
        statistics.median(rates),
        5_000,
        first_round=round(rates[0]),
        envelopes=len(envelopes),
        messages=messages,
        bytes=sum(map(len, envelopes)),
    )
    history = _history(chance, 3_000)
    yield at_least(
        "parse one history",
        "messages/s",
        statistics.median(rate(3_000, lambda: parse(history, RECEIVED_AT)) for _ in range(ROUNDS)),
        5_000,
        bytes=len(history),
    )
    header = "sha256=" + "0" * 64
    yield at_least(
        "verify a signature",
        "envelopes/s",
        rate(len(envelopes), lambda: [verify(each, header, [b"secret"]) for each in envelopes]),
        20_000,
    )


def _day(chance: random.Random, count: int) -> tuple[list[bytes], int]:
    """Return envelopes of mostly one item, and how many items: three statuses to a message."""
    envelopes, items = [], 0
    while items < count:
        size = chance.choices((1, 2, 5), (80, 15, 5))[0]
        people = [chance.randrange(PEOPLE) for _ in range(size)]
        if chance.random() < 0.75:
            statuses = [_status(chance, each) for each in people]
            envelopes.append(_envelope({"statuses": statuses}))
        else:
            contacts = [_contact(each) for each in dict.fromkeys(people)]
            messages = [_message(chance, each) for each in people]
            envelopes.append(_envelope({"contacts": contacts, "messages": messages}))
        items += size
    return envelopes, items


def _history(chance: random.Random, count: int) -> bytes:
    threads = [
        {"id": _phone(person), "messages": [_message(chance, person) for _ in range(count // 100)]}
        for person in range(100)
    ]
    return _envelope({"history": [{"metadata": {"phase": 0}, "threads": threads}]})


def _envelope(value: Fields) -> bytes:
    whole = {"messaging_product": "whatsapp", "metadata": METADATA, **value}
    entry = {"id": "102030405060708", "changes": [{"value": whole, "field": "messages"}]}
    return json.dumps({"object": "whatsapp_business_account", "entry": [entry]}).encode()


def _phone(person: int) -> str:
    return f"55119{81110000 + person}"


def _contact(person: int) -> Fields:
    return {
        "profile": {"name": f"Pessoa {person}"},
        "wa_id": _phone(person),
        "user_id": f"BR.{1500000000000000 + person}",
    }


def _message(chance: random.Random, person: int) -> Fields:
    content = chance.choice(
        (
            {"type": "text", "text": {"body": "Oi, queria saber o preço do curso 😀 " * 3}},
            {"type": "text", "text": {"body": "Sim, pode ser amanhã às 10h"}},
            {"type": "image", "image": {"id": "1003383421387256", "caption": "É este?"}},
            {"type": "location", "location": {"latitude": -23.561414, "longitude": -46.655881}},
            {"type": "interactive", "interactive": {"button_reply": {"id": "1", "title": "Sim"}}},
        )
    )
    return {
        "from": _phone(person),
        "from_user_id": f"BR.{1500000000000000 + person}",
        "id": f"wamid.{chance.getrandbits(160):040X}",
        "timestamp": str(1773928800 + chance.randrange(86_400)),
        **content,
    }


def _status(chance: random.Random, person: int) -> Fields:
    return {
        "id": f"wamid.{chance.getrandbits(160):040X}",
        "status": chance.choice(("sent", "delivered", "read")),
        "timestamp": str(1773928800 + chance.randrange(86_400)),
        "recipient_id": _phone(person),
        "recipient_user_id": f"BR.{1500000000000000 + person}",
        "biz_opaque_callback_data": "out_" + "a" * 26,
        "conversation": {"id": "c" * 32, "origin": {"type": "service"}},
        "pricing": {"billable": False, "pricing_model": "PMP", "category": "service"},
    }

"""Each form of event says the same under our names: golden requests, and what is read of them."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.sources import SOURCES
from domain.acceptance import ALL_SOURCES, accept
from domain.draft import Draft, Translator
from domain.errors import InvalidEvent
from domain.event import NewEvent

FIXTURES = Path(__file__).parents[2] / "fixtures" / "sources"
REQUESTS = sorted(FIXTURES.glob("*/*.request.json"))
EMPTY = asdict(Draft())


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def translator(document: dict[str, Any]) -> Translator:
    return next(each for each in SOURCES if each.recognises(document))


def taken(document: dict[str, Any]) -> NewEvent:
    return accept(
        translator(document).translate(document),
        organization_id="org-one",
        now="2026-03-21T00:00:00.000000Z",
        new_id=lambda: "event-one",
        permitted_sources=ALL_SOURCES,
    ).event


def test_every_source_has_golden_requests_and_every_request_its_draft():
    drafts = {path.name.replace(".draft.", ".request.") for path in FIXTURES.glob("*/*.draft.json")}

    assert {path.name for path in REQUESTS} == drafts
    assert {path.parent.name for path in REQUESTS} == {source.name for source in SOURCES}


def test_every_module_of_a_source_is_listed():
    folder = Path(__file__).parents[3] / "adapters" / "sources"
    listed = {type(source).__module__.rpartition(".")[2] for source in SOURCES}

    assert {path.stem for path in folder.glob("*.py")} - {
        "__init__",
        "lead_object",
        "spelling",
    } == (listed)


@pytest.mark.parametrize("path", REQUESTS, ids=lambda path: f"{path.parent.name}-{path.name[:-13]}")
def test_a_golden_request_is_read_as_its_draft(path):
    document = read(path)
    before = json.dumps(document)
    source = translator(document)
    said = asdict(source.translate(document))
    expected = read(path.with_name(path.name.replace(".request.", ".draft.")))

    assert source.name == path.parent.name
    assert json.loads(json.dumps(said)) == json.loads(json.dumps({**EMPTY, **expected}))
    assert json.dumps(document) == before


def test_the_example_of_seed_003_is_taken():
    event = taken(read(FIXTURES / "native" / "seed_003_example.request.json"))

    assert (event.lead, event.source, event.source_type) == ("lead_01HX", "whatsapp", "DIRECT")
    assert event.event_type == "message_received"
    assert event.occurred_at == "2026-03-20T14:22:00.000000Z"
    assert event.organization_id == "org-one"


def test_one_fact_is_one_content_whoever_tells_it():
    normalized = read(FIXTURES / "normalized" / "as_documented.request.json")
    again = json.loads(json.dumps(normalized).replace("14:00:05", "15:30:00"))
    native = {
        "lead": {"channel": "email", "channelIdentifier": "Ana@Exemplo.com"},
        "externalEventId": normalized["metadata"]["eventId"],
        "source": "HOTMART",
        "eventType": "purchase.completed",
        "payload": {"product_id": "whey_1kg", "amount": 150, "currency": "BRL"},
    }

    prints = {taken(document).fingerprint for document in (normalized, again, native)}
    assert len(prints) == 1


def test_what_is_wrong_is_told_in_the_senders_own_form():
    document = read(FIXTURES / "normalized" / "as_documented.request.json")
    document["source"]["source"] = "hot mart"
    document["event"]["data"] |= {"occurred_at": "ontem", "amount": -1}
    document["event"]["data"]["lead"] = {"phoneNumber": "98765-4321"}
    with pytest.raises(InvalidEvent) as caught:
        taken(document)

    assert [field.pointer for field in caught.value.fields] == [
        "/event/data/lead/phoneNumber",
        "/source/source",
        "/event/data/occurred_at",
        "/event/data/amount",
    ]


NAMES = [
    "event",
    "metadata",
    "source",
    "data",
    "lead",
    "key",
    "channel",
    "channelIdentifier",
    "phoneNumber",
    "email",
    "eventType",
    "occurredAt",
    "payload",
    "PK",
    "SK",
    "x",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("aA_#Z-:2é", max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(NAMES),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["event", "metadata", "source", "lead", "PK", "x"]), JSON))
def test_no_object_makes_a_translator_stumble(document):
    for source in SOURCES:
        source.translate(document)
    with pytest.raises(InvalidEvent) as caught:
        taken(document)

    assert caught.value.fields

"""What an event must say to be taken, whatever form it came in."""

import itertools
import json
import random
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import catalog
from domain.acceptance import (
    ALL_SOURCES,
    MAX_PAYLOAD_BYTES,
    MAX_RAW_BYTES,
    Accepted,
    accept,
    check_organization,
    permits,
)
from domain.draft import Draft
from domain.errors import FieldError, Forbidden, InvalidEvent, LimitExceeded
from domain.event import KNOWN_SOURCES, Address

NOW = "2026-03-20T12:00:00.000000Z"
SALE = {"productId": "curso-de-costura", "amount": "497.00", "currency": "BRL"}
WHOLE = {
    "lead": "lead-one",
    "source": "hotmart",
    "event_type": "purchase_completed",
    "external_event_id": "HT-1",
    "occurred_at": "2026-03-15T14:00:00Z",
    "payload": SALE,
}


def take(*, permitted_sources=ALL_SOURCES, idempotency_key=None, **fields) -> Accepted:
    ids = (f"event-{number}" for number in itertools.count(1))
    return accept(
        Draft(**{**WHOLE, **fields}),
        organization_id="org-one",
        now=NOW,
        new_id=lambda: next(ids),
        permitted_sources=permitted_sources,
        idempotency_key=idempotency_key,
    )


def problems(**fields) -> list[FieldError]:
    with pytest.raises(InvalidEvent) as caught:
        take(**fields)
    return list(caught.value.fields)


def pointers(**fields) -> list[str]:
    return [problem.pointer for problem in problems(**fields)]


def test_a_whole_event_is_taken_as_it_was_said():
    accepted = take(
        source_type="EXTERNAL",
        object_id="o",
        object_id_ref="r",
        correlation_id="c",
        causation_id="d",
    )
    event = accepted.event

    assert accepted.mapped
    assert accepted.warnings == ()
    assert (event.event_id, event.organization_id) == ("event-1", "org-one")
    assert (event.lead, event.address) == ("lead-one", None)
    assert (event.source, event.source_type) == ("hotmart", "EXTERNAL")
    assert (event.event_type, event.schema_version) == ("purchase_completed", 1)
    assert (event.occurred_at, event.received_at) == ("2026-03-15T14:00:00.000000Z", NOW)
    assert event.occurred_at_stated
    assert (event.object_id, event.object_id_ref) == ("o", "r")
    assert (event.correlation_id, event.causation_id) == ("c", "d")
    assert event.payload == SALE


def test_everything_that_is_wrong_is_told_at_once_in_the_order_of_the_envelope():
    wrong = {
        "lead": "a#b",
        "source": "Hot Mart",
        "source_type": "PARTNER",
        "event_type": "Bought!",
        "schema_version": "1",
        "external_event_id": "",
        "object_id": 5,
        "object_id_ref": "x" * 256,
        "occurred_at": "2026-03-15T14:00:00",
        "correlation_id": "a\nb",
        "causation_id": ["x"],
        "payload": [1],
        "problems": (FieldError("/extra", "is not a field"),),
    }

    assert pointers(**wrong) == [
        "/leadOrganizationId",
        "/source",
        "/sourceType",
        "/eventType",
        "/schemaVersion",
        "/externalEventId",
        "/objectId",
        "/objectIdRef",
        "/occurredAt",
        "/correlationId",
        "/causationId",
        "/payload",
        "/extra",
    ]


def test_no_problem_tells_what_was_sent():
    secret = "maria-529982247"
    wrong = {
        name: f"#{secret}\x00"
        for name in Draft.__dataclass_fields__
        if name
        not in ("address", "occurred_at_stated", "pointers", "problems", "warnings", "raw_payload")
    }
    with pytest.raises(InvalidEvent) as caught:
        take(**wrong)

    assert len(caught.value.fields) >= 10
    assert secret not in str(caught.value)
    with pytest.raises(InvalidEvent) as caught:
        take(payload={**SALE, secret: secret, "amount": secret, "currency": secret})

    assert secret not in str(caught.value)


def test_an_event_that_says_nothing_is_told_what_it_lacks():
    nothing = dict.fromkeys(WHOLE)

    assert pointers(**nothing) == [
        "/lead",
        "/source",
        "/sourceType",
        "/eventType",
        "/externalEventId",
        "/payload",
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"payload": {}},
        {"event_type": "x", "payload": {"a": "x" * 70_000}},
        {"raw_payload": random.Random(1).randbytes(40_000).hex()},
    ],
)
def test_an_id_is_made_only_for_an_event_that_is_taken(fields):
    drawn = itertools.count()
    said: dict[str, Any] = {**WHOLE, **fields}
    with pytest.raises((InvalidEvent, LimitExceeded)):
        accept(
            Draft(**said),
            organization_id="org-one",
            now=NOW,
            new_id=lambda: str(next(drawn)),
            permitted_sources=ALL_SOURCES,
        )

    assert next(drawn) == 0


class TestWhose:
    def test_a_lead_id_is_opaque(self):
        assert take(lead=" Lead/É 1 ").event.lead == " Lead/É 1 "

    @pytest.mark.parametrize("lead", ["", "a#b", "a\tb", "a\x85", "\ud800", "x" * 256, 5, {}])
    def test_a_lead_id_can_stand_in_keys(self, lead):
        assert pointers(lead=lead) == ["/leadOrganizationId"]

    def test_an_address_is_normalised(self):
        event = take(lead=None, address=("whatsapp", "551187654321")).event

        assert event.lead is None
        assert event.address == Address(
            channel="whatsapp", identifier="5511987654321", aliases=("551187654321",)
        )

    @pytest.mark.parametrize(
        ("address", "pointer"),
        [(("whatsapp", "x"), "/lead/channelIdentifier"), ((None, "x"), "/lead/channel")],
    )
    def test_an_address_that_is_none_is_refused(self, address, pointer):
        assert pointers(lead=None, address=address) == [pointer]

    def test_an_id_and_an_address_together_are_refused(self):
        assert pointers(address=("email", "ana@exemplo.com")) == ["/lead"]


class TestOrigin:
    @pytest.mark.parametrize(("source", "source_type"), KNOWN_SOURCES.items())
    def test_the_type_of_a_known_source_is_filled_in_and_fixed(self, source, source_type):
        assert take(source=source.upper()).event.source_type == source_type
        assert take(source=source, source_type=source_type.lower()).event.source == source
        for other in {"EXTERNAL", "INTERNAL", "DIRECT"} - {source_type}:
            (problem,) = problems(source=source, source_type=other)
            assert problem == FieldError("/sourceType", f"must be {source_type} for this source")

    def test_an_unknown_source_says_its_type(self):
        assert take(source="kiwify", source_type="EXTERNAL").event.source_type == "EXTERNAL"
        assert pointers(source="kiwify") == ["/sourceType"]
        assert pointers(source="kiwify", source_type="OTHER") == ["/sourceType"]
        assert pointers(source="kiwify", source_type=5) == ["/sourceType"]

    @pytest.mark.parametrize("source", ["", " stripe", "stripe\n", "a#b", "_a", "x" * 101, 5, "é"])
    def test_a_source_is_one_word(self, source):
        assert "/source" in pointers(source=source, source_type="EXTERNAL")

    def test_a_source_the_credential_does_not_permit_is_forbidden_whatever_else_is_wrong(self):
        with pytest.raises(Forbidden) as caught:
            take(source="Stripe", payload=5, permitted_sources=("hotmart", "shop*"))

        assert caught.value.fields[0].pointer == "/source"

    @pytest.mark.parametrize(
        ("permitted", "source", "expected"),
        [
            (("*",), "stripe", True),
            (("stripe",), "stripe", True),
            (("stripe",), "stripe_br", False),
            (("stripe*",), "stripe_br", True),
            (("stripe*",), "strip", False),
            ((), "stripe", False),
            (("hotmart", "str*"), "stripe", True),
        ],
    )
    def test_permissions_are_names_and_beginnings(self, permitted, source, expected):
        assert permits(permitted, source) is expected


class TestType:
    def test_an_alias_becomes_our_name(self):
        accepted = take(event_type="purchase.completed")

        assert accepted.event.event_type == "purchase_completed"
        assert accepted.mapped

    def test_an_unknown_type_is_taken_unmapped_with_its_own_version(self):
        accepted = take(event_type="webinar.attended", payload={"a": {"b": 1}}, schema_version=7)

        assert not accepted.mapped
        assert accepted.event.event_type == "webinar.attended"
        assert accepted.event.schema_version == 7
        assert accepted.event.payload == {"a": {"b": 1}}

    @pytest.mark.parametrize(
        "event_type", ["", "Purchase", "1a", "a b", "a#b", "a\n", "a" * 101, 5, "é", ".a"]
    )
    def test_a_type_is_one_lower_case_word(self, event_type):
        assert pointers(event_type=event_type) == ["/eventType"]

    @pytest.mark.parametrize("version", [0, -1, True, 1.0, "1", 10**30, 9999])
    def test_a_version_is_one_that_exists(self, version):
        assert "/schemaVersion" in pointers(schema_version=version)

    def test_the_payload_of_a_known_type_is_judged_by_the_catalog(self):
        found = problems(payload={**SALE, "amount": "-1", "colour": "blue"})

        assert {problem.pointer for problem in found} == {"/payload/amount", "/payload/colour"}

    def test_snake_case_names_become_ours(self):
        known = take(payload={"product_id": "p", "amount": "1.00", "currency": "BRL"})
        unknown = take(event_type="x", payload={"utm_source": 1, "b_c_d": {"e_f": 2}, "_g": 3})

        assert known.event.payload["productId"] == "p"
        assert unknown.event.payload == {"utmSource": 1, "bCD": {"e_f": 2}, "_g": 3}
        assert len(unknown.warnings) == 1

    def test_two_spellings_of_one_name_both_stay(self):
        payload = {"a_b": 1, "aB": 2}
        accepted = take(event_type="x", payload=payload)

        assert accepted.event.payload == payload
        assert accepted.warnings == ()

    @given(st.dictionaries(st.text("ab1_B", min_size=1, max_size=6), st.integers(), max_size=6))
    def test_no_field_is_lost_by_renaming(self, payload):
        kept = take(event_type="x", payload=payload).event.payload

        assert sorted(kept.values()) == sorted(payload.values())


class TestIdentifier:
    def test_an_external_id_is_opaque(self):
        assert take(external_event_id=" HT#É-01 ").event.external_event_id == " HT#É-01 "

    @pytest.mark.parametrize("value", ["", "a\x00", "a\x1f", "\x7f", "\ud800", "x" * 256, 5, 1.5])
    def test_an_external_id_is_text_of_a_bounded_length(self, value):
        assert pointers(external_event_id=value) == ["/externalEventId"]
        assert take(external_event_id="é" * 255).event.external_event_id == "é" * 255

    def test_the_idempotency_key_stands_in_only_where_there_is_no_id(self):
        without = take(external_event_id=None, idempotency_key="K-1")

        assert without.event.external_event_id == "K-1"
        assert take(idempotency_key="K-1").event.external_event_id == "HT-1"
        assert pointers(external_event_id=None) == ["/externalEventId"]
        (problem,) = problems(external_event_id=None, idempotency_key="\x00")
        assert problem.detail.startswith("Idempotency-Key must")


class TestTime:
    def test_any_offset_becomes_utc(self):
        event = take(occurred_at="2026-03-15T14:00:00.5-03:00").event

        assert event.occurred_at == "2026-03-15T17:00:00.500000Z"

    def test_what_is_not_said_is_now_and_no_content(self):
        event = take(occurred_at=None).event

        assert event.occurred_at == NOW
        assert not event.occurred_at_stated

    def test_the_time_of_a_message_is_no_content(self):
        one = take(occurred_at_stated=False).event
        other = take(occurred_at_stated=False, occurred_at="2026-03-16T00:00:00Z").event

        assert one.occurred_at == "2026-03-15T14:00:00.000000Z"
        assert one.fingerprint == other.fingerprint != take().event.fingerprint

    @pytest.mark.parametrize(
        "occurred_at",
        [
            "2026-03-15T14:00:00",
            "2026-03-20T12:05:00.000001Z",
            "1999-12-31T23:59:59Z",
            "0000-01-01T00:00:00Z",
            "9999-12-31T23:59:59-23:59",
            "yesterday",
            "",
            1773583200,
            True,
        ],
    )
    def test_a_time_nobody_can_place_or_believe_is_refused(self, occurred_at):
        assert pointers(occurred_at=occurred_at) == ["/occurredAt"]

    def test_a_clock_may_be_five_minutes_ahead(self):
        assert take(occurred_at="2026-03-20T12:05:00Z").event.occurred_at > NOW


class TestSize:
    def test_a_payload_ends_at_its_limit(self):
        room = MAX_PAYLOAD_BYTES - len('{"a":""}')
        take(event_type="x", payload={"a": "x" * room})

        with pytest.raises(LimitExceeded) as caught:
            take(event_type="x", payload={"a": "x" * (room + 1)})
        assert caught.value.fields[0].pointer == "/payload"

    @pytest.mark.parametrize(
        ("raw", "kept"),
        [
            ("<xml/>", b"<xml/>"),
            ({"b": 1, "a": [None, "é"]}, '{"a":[null,"é"],"b":1}'.encode()),
            ({}, b"{}"),
            (0, b"0"),
            (False, b"false"),
            (10**30, str(10**30).encode()),
        ],
    )
    def test_a_raw_payload_is_kept_compressed(self, raw, kept):
        stored = take(raw_payload=raw).event.raw_payload

        assert stored is not None
        assert zlib.decompress(stored) == kept

    def test_no_raw_payload_is_none(self):
        assert take().event.raw_payload is None

    def test_a_raw_payload_ends_at_its_limit_after_compression(self):
        take(raw_payload="x" * 1_000_000)

        with pytest.raises(LimitExceeded) as caught:
            take(raw_payload=random.Random(1).randbytes(MAX_RAW_BYTES).hex() * 2)
        assert caught.value.fields[0].pointer == "/rawPayload"


def test_problems_point_into_the_form_the_sender_used():
    form = {
        "/payload": "/event/data",
        "/lead": "/event/data/lead",
        "/lead/channelIdentifier": "/event/data/lead/phone_number",
        "/source": "/source/source",
        "/eventType": "/event/key",
        "/rawPayload": "",
    }

    assert pointers(
        pointers=form,
        lead=None,
        address=("phone", "x"),
        source="a b",
        source_type="EXTERNAL",
        payload={"amount": 1},
    ) == [
        "/event/data/lead/phone_number",
        "/source/source",
        "/event/data/productId",
        "/event/data/currency",
    ]
    with pytest.raises(Forbidden) as forbidden:
        take(pointers=form, permitted_sources=())
    assert forbidden.value.fields[0].pointer == "/source/source"
    with pytest.raises(LimitExceeded) as large:
        take(pointers=form, raw_payload=random.Random(1).randbytes(40_000).hex())
    assert large.value.fields[0].pointer == ""


@pytest.mark.parametrize("organization_id", ["default", "org-one", "0195a-b.c:d", "x" * 100])
def test_an_organization_may_be_any_word(organization_id):
    assert check_organization(organization_id) == organization_id


@pytest.mark.parametrize("organization_id", ["", "a#b", "a b", "é", "-a", "x" * 101, "a\n"])
def test_an_organization_can_stand_in_keys(organization_id):
    with pytest.raises(InvalidEvent):
        check_organization(organization_id)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("a_B", max_size=4), inner),
    max_leaves=4,
)
DRAFTED = tuple(set(WHOLE) | {"source_type", "schema_version", "object_id", "raw_payload"})


@given(st.dictionaries(st.sampled_from(DRAFTED), VALUES))
def test_whatever_a_draft_holds_is_taken_or_refused(fields):
    try:
        accepted = take(**fields)
    except InvalidEvent:
        return

    assert json.dumps(accepted.event.payload)


@pytest.mark.parametrize("event_type", [n for n, one in catalog.TYPES.items() if one.ours])
def test_what_only_the_service_records_is_refused_from_everybody(event_type):
    example = catalog.TYPES[event_type].example

    assert problems(event_type=event_type, payload=example) == [
        FieldError("/eventType", "is recorded by the service itself, nobody else reports it")
    ]


@pytest.mark.parametrize("spelling", ["sessionId", "session_id"])
def test_a_report_cannot_open_a_session_of_ours(spelling):
    payload = {"channel": "whatsapp", spelling: "019d0c4e-7a10-7c3f-9b1a-2f6f0f4f0b01"}
    taken = take(event_type="conversation_started", source="messaging_service", payload=payload)

    assert taken.event.payload == {"channel": "whatsapp"}
    assert taken.warnings == (f"payload.{spelling} is ignored: the service sets it itself.",)

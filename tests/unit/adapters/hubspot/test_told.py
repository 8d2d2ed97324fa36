"""Whatever stands in an answer, it has a meaning, and nothing of a person is told of it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.hubspot import records
from adapters.hubspot.classification import refused
from adapters.hubspot.told import SHOWN, told
from adapters.hubspot.wire import Answer, Verb, decode
from domain.crm.replies import Kind, Reply
from tests.support.hubspot import EMAIL, PHONE, error, record, taken

NAMED = "Ana Souza"

# What makes a body that is nearly one of HubSpot's, which random bytes never are.
_words = st.sampled_from(
    [
        *("VALIDATION_ERROR", "OBJECT_NOT_FOUND", "RATE_LIMITS", "MISSING_SCOPES", "CONFLICT"),
        *("PROPERTY_DOESNT_EXIST", "dealstage", "Property values were not valid: [", "77", ""),
        *(taken()["message"], f"{EMAIL} is {PHONE}", "Existing ID: 77", "\ud83d", "a\x00\nb"),
    ]
)
_names = st.sampled_from(
    [
        *("category", "message", "errors", "context", "propertyName", "subCategory", "code", "in"),
        *(
            "correlationId",
            "identityProfile",
            "vid",
            "linkedVid",
            "validationResults",
            "policyName",
        ),
        *("results", "paging", "next", "after", "id", "properties", "associations", "contacts"),
        *("name", "error", "isValid", "stages", "displayOrder", "hasUniqueValue", "archived"),
    ]
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _words | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=4),
    max_leaves=12,
)
bodies = st.binary(max_size=200) | _values.map(lambda value: json.dumps(value).encode())
headers = st.dictionaries(
    st.sampled_from(["retry-after", "date", "cf-ray", "x-hubspot-notfound", "content-type"]),
    st.text(max_size=30) | st.sampled_from(["true", "1e9", "٣", "Fri, 20 Nov 2026 12:00:00 -0000"]),
)


@given(st.integers(100, 999), headers, bodies, st.sampled_from(Verb), st.booleans())
def test_any_answer_has_a_meaning_and_at_most_200_printable_characters(
    status, headers, content, verb, searches
):
    answer = Answer(status=status, headers=headers, body=decode(content))
    reply = refused(answer, verb, searches=searches)

    assert reply.kind is not Kind.DONE
    assert reply.reason
    assert reply.wait_s is None or 1 <= reply.wait_s <= 86_400
    if reply.detail is not None:
        assert 0 < len(reply.detail) <= SHOWN
        assert reply.detail.isprintable()
    text = repr(reply)
    assert EMAIL not in text
    assert PHONE not in text


@given(bodies, st.sampled_from(Verb))
def test_any_success_is_read_or_says_why_not(content, verb):
    answer = Answer(status=200, body=decode(content))
    replies = [
        records.one(answer, verb, "deal"),
        records.one(answer, verb, "contact"),
        records.read_many(answer, "deal"),
        records.associated(answer, "42", "31"),
    ]

    assert all(reply.reason or reply.kind is Kind.DONE for reply in replies)
    pipeline = records.stages(answer, "default")
    assert pipeline.reply is None or pipeline.stage_ids == ()
    assert isinstance(records.is_unique(answer, "deal"), bool | Reply)


@given(_values)
def test_a_record_that_is_read_has_an_id_and_texts(value):
    read = records.one(Answer(status=200, body=value), Verb.READ, "deal").record

    if read is not None:
        assert read.id.isdigit()
        assert all(read.properties.values())


@pytest.mark.parametrize(
    "body",
    [
        error(message=f"{EMAIL} was not a valid email"),
        error(message=f"Property values were not valid: {NAMED} +{PHONE}"),
        error(
            message='Property values were not valid: [{"isValid":false,"message":"'
            f'{NAMED} was not one of the options","error":"INVALID_OPTION","name":"dealstage"}}]'
        ),
        error(errors=[{"message": f"{NAMED}", "code": "INVALID_EMAIL", "in": EMAIL}]),
        error(errors=[{"code": PHONE, "context": {"propertyName": [EMAIL, PHONE, NAMED]}}]),
        error(context={"email": [EMAIL], "id": [PHONE]}),
        error(EMAIL, subCategory=f"{NAMED}"),
        error("CONFLICT", f"Contact already exists for {EMAIL}. Existing ID: 77"),
        error("OBJECT_NOT_FOUND", f"Object not found. objectId {EMAIL} of {NAMED}"),
        taken(value=f"{PHONE} {NAMED} {EMAIL}"),
        error("RATE_LIMITS", f"the limit of {EMAIL} and '{NAMED}' and +55 (11) 95555-0142"),
        error("INVALID_AUTHENTICATION", f'token pat-na1-0123456789abcdef01234567 of "{NAMED}"'),
    ],
)
@pytest.mark.parametrize("status", [400, 401, 404, 409, 429, 500])
def test_nothing_a_message_quotes_is_told(status, body):
    reply = refused(Answer(status=status, body=body), Verb.CREATE)

    for personal in (EMAIL, "example.com", PHONE, "95555", "0142", "Souza", "pat-na1"):
        assert personal not in repr(reply)


def test_what_helps_is_told():
    body = error(
        subCategory="crm.properties.INVALID",
        errors=[
            {"code": "INVALID_OPTION", "context": {"propertyName": ["dealstage"]}},
            {"code": "INVALID_DATE", "in": "closedate"},
        ],
    )

    assert told(Answer(status=400, body=body)).detail == (
        "crm.properties.INVALID; dealstage INVALID_OPTION; closedate INVALID_DATE"
    )


def test_what_an_account_is_told_is_passed_on():
    scopes = error(
        "MISSING_SCOPES",
        "This app hasn't been granted all required scopes.",
        errors=[{"context": {"requiredGranularScopes": ["crm.objects.deals.write", "a b"]}}],
    )
    limit = error("RATE_LIMITS", "You have reached your secondly limit.")

    assert (told(Answer(status=403, body=scopes)).detail or "").endswith("crm.objects.deals.write")
    assert told(Answer(status=429, body=limit)).detail == "You have reached your secondly limit."


def test_a_long_list_of_what_is_wrong_is_cut():
    errors = [{"code": "INVALID_OPTION", "in": f"property_{n % 90}"} for n in range(5_000)]
    said = told(Answer(status=400, body=error(errors=errors)))

    assert said.detail is not None
    assert len(said.detail) == SHOWN
    assert len(said.invalid) == 20


def test_a_record_of_our_fixtures_is_one():
    assert records.one(Answer(status=200, body=record()), Verb.READ, "deal").kind is Kind.DONE

"""What the adapter asks of HubSpot is what HubSpot's own interface files say, and so is what it reads.

The files are read from `../shared/hubspot-openapi` beside the checkout, or from LEADS_TEST_OPENAPI;
without them every test here is skipped, by name. Contacts and deals are files of 2026-09, the version
the adapter speaks. Tolerated, for want of files of that version:

- associations and pipelines are of 2026-03: their paths are taken for those of 2026-09;
- properties are of v3, whose paths have the version elsewhere (`/crm/v3/properties/…` for
  `/crm/properties/2026-09/…`);
- a batch may answer 207, which 2026-09 no longer lists: it has the document of 200.

An answer is made of the schema: all that must be there and nothing else, then all that may be there.
"""

from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from adapters.hubspot.bootstrap import bootstrap
from adapters.hubspot.client import HubSpotClient
from domain.crm.replies import Kind, Pipeline, Reply
from tests.support import hubspot_openapi
from tests.support.http_server import Reply as Answered
from tests.support.http_server import http_server
from tests.support.hubspot import CONTACT, DEAL, EMAIL, MOMENT, PHONE, TOKEN, crm_answered

pytestmark = pytest.mark.skipif(not hubspot_openapi.IS_THERE, reason=hubspot_openapi.MISSING)

PARTS = {"segment": "leite", "intent": "compra", "notes": "raca: Gir"}

ASKS = {
    "contact by id": lambda crm: crm.find_contact(by="id", value="31"),
    "contact by phone": lambda crm: crm.find_contact(by="phone_key", value=f"+{PHONE}"),
    "contact by e-mail": lambda crm: crm.find_contact(by="email", value=EMAIL),
    "contacts by phone": lambda crm: crm.search_contacts([PHONE]),
    "contact created": lambda crm: crm.create_contact(CONTACT),
    "contact updated": lambda crm: crm.update_contact("31", {**CONTACT, "email": ""}),
    "deal by id": lambda crm: crm.find_deal(by="id", value="42"),
    "deal by key": lambda crm: crm.find_deal(by="key", value="prod:a", archived=True),
    "deals by key": lambda crm: crm.find_deals(["prod:a", "prod:b"]),
    "deals of a contact": lambda crm: crm.search_deals("31"),
    "archived deals": lambda crm: crm.find_deals(["prod:a"], archived=True),
    "deal created": lambda crm: crm.create_deal({**DEAL, **PARTS}, "31"),
    "deal updated": lambda crm: crm.update_deal("42", {"stage": "101", **PARTS}),
    "deal associated": lambda crm: crm.associate("42", "31"),
    "stages": lambda crm: crm.pipeline(),
    "key of deals": lambda crm: crm.has_unique_key("deal"),
    "key of contacts": lambda crm: crm.has_unique_key("contact"),
}
STATED = {"id": "42", "name": "lead_session_id", "hasUniqueValue": True, "archived": False}
"""What an answer must say to be the one that was hoped for; all else is made of the schema."""

everything = pytest.mark.parametrize("name", ASKS)


def sample(schema: Any, components: Any, *, whole: bool) -> Any:
    """Make a document of a schema: what it must have, or with `whole` what it may have too."""
    if "$ref" in schema:
        schema = components["schemas"][schema["$ref"].rpartition("/")[2]]
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "array":
        return [sample(schema["items"], components, whole=whole)]
    if kind != "object":
        texts = {"date-time": MOMENT, "uuid": "aeb5f871-7f07-4993-9211-075dc63e7cbf"}
        text = texts.get(schema.get("format", ""), "x")
        return {"string": text, "integer": 1, "number": 1.5, "boolean": True}[kind]
    named = schema.get("properties", {})
    wanted = named if whole else schema.get("required", ())
    made = {
        each: STATED[each]
        if each in STATED
        else named[each]["enum"][0]
        if "enum" in named[each]
        else sample(named[each], components, whole=whole)
        for each in wanted
        # A member of itself has no end.
        if each != "errors"
    }
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        made["contacts"] = sample(others, components, whole=whole)
    return made


def undeclared(schema: Any, components: Any, value: Any) -> list[str]:
    """Return the members of a document that its schema does not name."""
    if "$ref" in schema:
        schema = components["schemas"][schema["$ref"].rpartition("/")[2]]
    if isinstance(value, list):
        return [name for each in value for name in undeclared(schema["items"], components, each)]
    if not isinstance(value, dict) or "additionalProperties" in schema:
        return []
    named = schema.get("properties", {})
    inner = [
        name
        for each in value
        if each in named
        for name in undeclared(named[each], components, value[each])
    ]
    return [*(each for each in value if each not in named), *inner]


@cache
def first_asked(name: str) -> Any:
    """Return the request that a method makes."""
    with crm_answered(Answered(503, b"")) as (crm, server):
        ASKS[name](crm)
        (asked,) = server.asked
        return asked


def held(asked: Any) -> Any:
    """Hold a request to the files; return its operation."""
    url = urlsplit(asked.path)
    operation = hubspot_openapi.operation_of(asked.method, url.path)
    assert set(parse_qs(url.query)) <= operation.queries
    if operation.asks is None:
        assert asked.body is None
    else:
        assert hubspot_openapi.asked_wrong(asked.method, url.path, asked.body) is None
        assert undeclared(operation.asks, operation.components, asked.body) == []
    return operation


@everything
def test_every_request_is_one_of_the_interface(name):
    held(first_asked(name))


def test_the_keys_of_an_account_are_made_as_the_interface_says():
    with http_server(Answered(404, {"category": "OBJECT_NOT_FOUND"}), Answered(503, b"")) as server:
        client = HubSpotClient(TOKEN, base_url=server.url)
        bootstrap(client, apply=True)
        client.close()

    assert [each.method for each in server.asked] == ["GET", "POST", "GET", "GET"]
    for asked in server.asked:
        held(asked)


@everything
@pytest.mark.parametrize("whole", [False, True])
def test_every_success_of_the_interface_is_understood(name, whole):
    asked = first_asked(name)
    operation = held(asked)
    status = next(each for each in operation.answers if each != "default")
    body = sample(operation.answers[status], operation.components, whole=whole)
    if name == "stages":
        body["results"][0]["id"] = "default"
    if name == "key of contacts":
        body["name"] = "lead_phone_e164"
    path = urlsplit(asked.path).path
    assert hubspot_openapi.problem(asked.method, path, int(status), body) is None
    with crm_answered(Answered(int(status), body)) as (crm, _):
        found = ASKS[name](crm)

    match found:
        case Reply():
            assert found.kind is Kind.DONE
            assert found.record is not None or found.records or "by phone" in name
        case Pipeline():
            assert found.stage_ids == ("42",)
        case _:
            # A file that need not say whether a property is unique has one that is not.
            assert found is whole


REFUSALS = (400, 401, 403, 404, 409, 423, 429, 477, 500)


@everything
@pytest.mark.parametrize("whole", [False, True])
def test_every_refusal_of_the_interface_is_understood(name, whole):
    asked = first_asked(name)
    operation = held(asked)
    body = sample(operation.answers["default"], operation.components, whole=whole)
    body["category"] = "VALIDATION_ERROR"
    path = urlsplit(asked.path).path
    for status in REFUSALS:
        assert hubspot_openapi.problem(asked.method, path, status, body) is None
    with crm_answered(*(Answered(status, body) for status in REFUSALS)) as (crm, _):
        found = [ASKS[name](crm) for _ in REFUSALS]

    replies = [each.reply if isinstance(each, Pipeline) else each for each in found]
    assert [getattr(reply, "status", None) for reply in replies] == list(REFUSALS)
    for reply in replies:
        assert isinstance(reply, Reply)
        assert reply.kind not in {Kind.DONE, Kind.ABSENT}
        assert reply.category == "VALIDATION_ERROR"
        assert reply.correlation == body["correlationId"]


def test_a_batch_that_is_done_in_part_says_what_is_missing():
    operation = held(first_asked("deals by key"))
    body = sample(operation.answers["200"], operation.components, whole=False)
    missing = {
        "status": "error",
        "category": "OBJECT_NOT_FOUND",
        "message": "Could not get some DEAL objects",
        "context": {"ids": ["prod:b"]},
        "errors": [],
        "links": {},
    }
    body |= {"numErrors": 1, "errors": [missing]}
    path = "/crm/objects/2026-09/deals/batch/read"
    assert hubspot_openapi.problem("POST", path, 207, body) is None
    with crm_answered(Answered(207, body)) as (crm, _):
        found = crm.find_deals(["prod:a", "prod:b"])

    assert (found.kind, [each.id for each in found.records]) == (Kind.DONE, ["42"])

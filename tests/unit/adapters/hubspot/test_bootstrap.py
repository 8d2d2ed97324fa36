"""What an account needs once is listed, and made only when that is asked for."""

import pytest

from adapters.hubspot.bootstrap import bootstrap
from adapters.hubspot.client import HubSpotClient
from domain.crm.replies import Kind
from tests.support.http_server import Reply as Answered
from tests.support.http_server import http_server
from tests.support.hubspot import TOKEN, error

MISSING = Answered(404, error("OBJECT_NOT_FOUND"))
CONTACT_KEY = Answered(200, {"name": "lead_phone_e164", "hasUniqueValue": True})
DEAL_KEY = Answered(200, {"name": "lead_session_id", "hasUniqueValue": True})
MADE = Answered(201, {"name": "lead_session_id", "hasUniqueValue": True})


def done(*answers, apply=True):
    with http_server(*answers) as server:
        client = HubSpotClient(TOKEN, base_url=server.url)
        steps = bootstrap(client, apply=apply)
        client.close()
        return steps, server.asked


def test_a_dry_run_lists_what_is_missing_and_makes_nothing():
    steps, asked = done(MISSING, apply=False)

    assert [(step.kind, step.name, step.state) for step in steps] == [
        ("contact", "lead_phone_e164", "missing"),
        ("deal", "lead_session_id", "missing"),
    ]
    assert [each.method for each in asked] == ["GET", "GET"]


def test_what_stands_is_left_alone():
    steps, asked = done(CONTACT_KEY, DEAL_KEY)

    assert [step.state for step in steps] == ["stands", "stands"]
    assert [each.method for each in asked] == ["GET", "GET"]


def test_what_is_missing_is_made_and_looked_at():
    steps, asked = done(CONTACT_KEY, MISSING, MADE, DEAL_KEY)

    assert [step.state for step in steps] == ["stands", "created"]
    made = asked[2]
    assert (made.method, made.path) == ("POST", "/crm/properties/2026-09/deals")
    assert made.body == {
        "name": "lead_session_id",
        "label": "Sessão do lead (chave)",
        "groupName": "dealinformation",
        "type": "string",
        "fieldType": "text",
        "hasUniqueValue": True,
    }


@pytest.mark.parametrize("answer", [Answered(409, error("CONFLICT")), Answered(502, b"")])
def test_what_somebody_else_made_meanwhile_counts(answer):
    steps, _ = done(CONTACT_KEY, MISSING, answer, DEAL_KEY)

    assert [step.state for step in steps] == ["stands", "created"]


def test_a_property_that_is_not_unique_cannot_be_used():
    plain = Answered(200, {"name": "lead_session_id", "hasUniqueValue": False})
    steps, asked = done(CONTACT_KEY, plain)

    assert steps[1].state == "unfit"
    assert [each.method for each in asked] == ["GET", "GET"]


def test_why_it_is_not_known_is_told():
    refused = Answered(403, error("MISSING_SCOPES"))
    steps, _ = done(CONTACT_KEY, MISSING, refused)

    assert steps[1].state == "unknown"
    assert steps[1].reply is not None
    assert (steps[1].reply.kind, steps[1].reply.reason) == (Kind.BREAKER, "scopes_missing")
    assert done(refused)[0][0].state == "unknown"

"""The simulator's answers against HubSpot's own interface files. Every other test here is held to them too."""

import pytest

from tests.support import hubspot_openapi
from tests.support.hubspot_account import ROOT, deal

pytestmark = pytest.mark.skipif(not hubspot_openapi.IS_THERE, reason=hubspot_openapi.MISSING)


def test_an_answer_that_is_wrong_would_be_seen():
    good = {
        "id": "1",
        "properties": {"dealname": None},
        "createdAt": "2026-03-20T12:00:00.000Z",
        "updatedAt": "2026-03-20T12:00:00.000Z",
        "archived": False,
    }
    wrong = [
        {**good, "id": 1},
        {**good, "createdAt": "ontem"},
        {**good, "properties": {"amount": 7}},
        {key: value for key, value in good.items() if key != "updatedAt"},
    ]
    path = f"{ROOT}/deals/1"

    assert hubspot_openapi.problem("GET", path, 200, good) is None
    assert all(hubspot_openapi.problem("GET", path, 200, each) for each in wrong)
    assert hubspot_openapi.problem("GET", path, 404, {"message": "no"})
    assert hubspot_openapi.problem("GET", "/crm/nada", 200, good)


def test_what_a_program_sends_here_is_what_hubspot_takes(program):
    body = deal(program.contact(), lead_session_id="prod:a")

    assert hubspot_openapi.asked_wrong("POST", f"{ROOT}/deals", body) is None
    assert hubspot_openapi.asked_wrong("POST", f"{ROOT}/deals", {"properties": {"a": 1}})
    assert program.post("deals", body).status_code == 201


def test_all_that_is_asked_of_an_account_in_a_day_answers_as_declared(program):
    contact = program.contact(email="ana@example.com", lead_phone_e164="+5511955550142")
    made = program.deal(contact, lead_session_id="prod:a")
    path = f"deals/{made}"
    asked = {
        "associations": "contacts",
        "propertiesWithHistory": "dealstage",
        "properties": "dealstage",
    }
    answers = [
        program.get(path, **asked),
        program.get("deals", **asked),
        program.patch(path, {"properties": {"dealstage": "1000002"}}),
        program.search("deals", "lead_session_id", "prod:a"),
        program.post("deals/batch/read", {"inputs": [{"id": made}, {"id": "404"}]}),
        program.ask("PUT", f"{path}/associations/default/contacts/{contact}"),
        program.get(f"{path}/associations/contacts"),
        program.get("/crm/pipelines/2026-09/deals"),
        program.get("/crm/properties/2026-09/deals"),
        program.get("/crm/properties/2026-09/contacts/lead_phone_e164"),
        program.delete(path),
        program.get(path, archived="true"),
    ]
    assert [each.status_code for each in answers] == [200] * 4 + [207] + [200] * 5 + [204, 200]

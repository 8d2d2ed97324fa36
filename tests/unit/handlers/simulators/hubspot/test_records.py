import re
from random import Random

import pytest

from handlers.simulators.hubspot import FAILING, SCOPES, Access, Setup
from tests.support.hubspot_account import STAGE, playing

MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z")


@pytest.mark.parametrize("shown", [{}, {"Authorization": "Bearer outro"}, {"Authorization": "x"}])
def test_without_a_known_token_nothing_is_answered(program, shown):
    answer = program.http.get("/crm/objects/2026-09/deals/1", headers=shown)

    assert answer.status_code == 401
    assert answer.json()["category"] == "INVALID_AUTHENTICATION"


def test_an_expired_token_is_told_since_when():
    access = Access(token="velho", expired_at="2026-03-20T12:00:00.000000Z")
    with playing(access=(access,)) as program:
        answer = program.get("deals/1")

    assert answer.status_code == 401
    assert answer.json()["category"] == "EXPIRED_AUTHENTICATION"
    assert answer.json()["context"]["expire time"] == [access.expired_at]


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("GET", "deals/1", "crm.objects.deals.read"),
        ("POST", "deals/search", "crm.objects.deals.read"),
        ("POST", "contacts/batch/read", "crm.objects.contacts.read"),
        ("POST", "contacts", "crm.objects.contacts.write"),
        ("PATCH", "deals/1", "crm.objects.deals.write"),
        ("GET", "/crm/properties/2026-09/deals/x", "crm.schemas.deals.read"),
        ("POST", "/crm/properties/2026-09/deals", "crm.schemas.deals.write"),
    ],
)
def test_a_scope_that_is_missing_is_named(method, path, scope):
    with playing(access=(Access(scopes=SCOPES - {scope}), Access(token="all"))) as program:
        refused = program.ask(method, path, {})
        other = program.ask(method, path, {}, token="all")

    assert (refused.status_code, refused.json()["category"]) == (403, "MISSING_SCOPES")
    assert refused.json()["errors"][0]["context"]["requiredGranularScopes"] == [scope]
    assert other.status_code != 403


def test_a_record_is_created_read_changed_and_archived(program):
    made = program.post(
        "contacts", {"properties": {"firstname": "Ana", "email": "Ana@Example.com"}}
    )
    path = f"contacts/{made.json()['id']}"
    program.clock.advance(1.5)
    changed = program.patch(path, {"properties": {"lastname": "Souza"}})
    read = program.get(path, properties="firstname,lastname,email,city,nobody_knows")
    gone = program.delete(path)

    assert [each.status_code for each in (made, changed, read, gone)] == [201, 200, 200, 204]
    assert gone.content == b""
    assert made.json()["properties"]["email"] == "ana@example.com"
    assert changed.json()["properties"]["lastname"] == "Souza"
    shown = read.json()
    assert shown["id"].isdigit()
    assert shown["properties"]["city"] is None
    assert "nobody_knows" not in shown["properties"]
    assert MOMENT.fullmatch(shown["createdAt"])
    assert shown["createdAt"] == "2026-03-20T12:00:00.000Z"
    assert shown["updatedAt"] == "2026-03-20T12:00:01.500Z"
    assert shown["properties"]["lastmodifieddate"] == shown["updatedAt"]
    assert program.get(path).status_code == 404


def test_every_value_is_text_whatever_was_sent(program):
    values = {"dealname": 7, "dealstage": 1000001, "pipeline": "default", "amount": 1500.5}
    shown = program.post("deals", {"properties": values}).json()["properties"]
    assert (shown["dealname"], shown["dealstage"], shown["amount"]) == ("7", "1000001", "1500.5")


def test_an_empty_value_clears_and_one_that_is_left_out_stays(program):
    path = f"contacts/{program.contact(city='Recife', state='PE')}"
    program.patch(path, {"properties": {"city": ""}})
    shown = program.get(path, properties="city,state").json()["properties"]

    assert (shown["city"], shown["state"]) == (None, "PE")


def test_a_record_is_found_by_a_unique_property_and_by_no_other(program):
    contact = program.contact(lead_phone_e164="+5511955550142", email="ana@example.com")
    by_key = program.get("contacts/+5511955550142", idProperty="lead_phone_e164")
    by_email = program.get("contacts/ANA@example.com", idProperty="email")

    assert (by_key.json()["id"], by_email.json()["id"]) == (contact, contact)
    assert program.get("contacts/Ana", idProperty="firstname").status_code == 400
    assert program.get(f"contacts/{contact}", idProperty="hs_object_id").status_code == 400


def test_a_key_with_anything_in_it_is_one_segment_of_the_path(program):
    made = program.deal(lead_session_id="prod:a/b?c ç")
    found = program.get("deals/prod%3Aa%2Fb%3Fc%20%C3%A7", idProperty="lead_session_id")
    assert found.json()["id"] == made


def test_what_is_not_there_says_so_in_category_and_header(program):
    answer = program.get("deals/404")

    assert (answer.status_code, answer.json()["category"]) == (404, "OBJECT_NOT_FOUND")
    assert answer.headers["X-HubSpot-NotFound"] == "true"


def test_the_history_of_a_property_has_the_newest_value_first_and_who_wrote_it(program):
    made = program.deal()
    program.clock.advance(60)
    program.account.people.move(made, "1000003")
    shown = program.get(f"deals/{made}", propertiesWithHistory="dealstage").json()
    newest, oldest = shown["propertiesWithHistory"]["dealstage"]

    assert (newest["value"], newest["sourceType"], newest["updatedByUserId"]) == (
        "1000003",
        "CRM_UI",
        1001,
    )
    assert (oldest["value"], oldest["sourceType"]) == (STAGE, "INTEGRATION")
    assert newest["timestamp"] > oldest["timestamp"]


def test_records_are_listed_in_pages(program):
    made = [program.contact() for _ in range(5)]
    first = program.get("contacts", limit=3).json()
    rest = program.get("contacts", limit=3, after=first["paging"]["next"]["after"]).json()

    assert [each["id"] for each in first["results"] + rest["results"]] == made
    assert "paging" not in rest


@pytest.mark.parametrize("body", [b"{", b"[]", b"null", b"\xff", b'{"properties": [1]}'])
def test_a_body_that_is_no_document_is_refused_whole(program, body):
    answer = program.http.post(
        "/crm/objects/2026-09/contacts",
        content=body,
        headers={"Authorization": f"Bearer {program.account.token}"},
    )
    assert answer.status_code == 400
    assert answer.json()["category"] == "VALIDATION_ERROR"
    assert program.account.contacts() == []


def test_a_type_of_record_that_is_not_there_and_a_wrong_verb_are_told_apart(program):
    head = {"Authorization": f"Bearer {program.account.token}"}
    unknown = program.http.get("/crm/objects/2026-09/carros/1", headers=head)
    wrong = program.http.put("/crm/objects/2026-09/deals/1", headers=head)

    assert (unknown.status_code, wrong.status_code) == (403, 405)


def test_one_seed_tells_one_story():
    stories = []
    for seed in (3, 3, 4):
        with playing(seed=seed) as program:
            error = program.get("deals/1").json()["correlationId"]
            stories.append((program.contact(), program.deal(), error))

    assert stories[0] == stories[1]
    assert stories[0] != stories[2]


def test_an_account_that_begins_anew_is_empty_and_has_the_same_address(program):
    address = program.account.url
    program.deal()
    program.account.script(FAILING)
    program.account.reset(Random(1), setup=Setup(keys=False))

    assert (program.account.deals(), program.account.url) == ([], address)
    assert program.get("/crm/properties/2026-09/deals/lead_session_id").status_code == 404

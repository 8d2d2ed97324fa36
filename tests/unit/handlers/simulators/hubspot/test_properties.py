import json

import pytest

from handlers.simulators.hubspot import Shapes
from tests.support.hubspot_account import codes, deal, playing

PROPERTIES = "/crm/properties/2026-09/deals"


def declaration(name="lead_note", **more):
    usual = {"label": "Nota", "type": "string", "fieldType": "text", "groupName": "dealinformation"}
    return {"name": name, **usual, **more}


def test_a_property_nobody_declared_is_refused_in_a_list():
    with playing(shapes=Shapes(validation="errors")) as program:
        answer = program.post("deals", deal(nobody_knows="1"))

    assert answer.status_code == 400
    assert codes(answer) == ["PROPERTY_DOESNT_EXIST"]
    assert answer.json()["errors"][0]["context"] == {"propertyName": ["nobody_knows"]}


def test_a_property_nobody_declared_is_refused_inside_the_message():
    with playing(shapes=Shapes(validation="message")) as program:
        answer = program.post("deals", deal(nobody_knows="1"))
    message = answer.json()["message"]
    listed = json.loads(message.removeprefix("Property values were not valid: "))

    assert "errors" not in answer.json()
    assert listed[0]["name"] == "nobody_knows"
    assert listed[0]["error"] == "PROPERTY_DOESNT_EXIST"
    assert listed[0]["isValid"] is False


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("dealtype", "NewBusiness", "INVALID_OPTION"),
        ("dealtype", " newbusiness", "LEADING_TRAILING_WHITESPACE"),
        ("dealstage", "Novo lead", "INVALID_OPTION"),
        ("pipeline", "outro", "INVALID_OPTION"),
        ("amount", "1,000", "INVALID_INTEGER"),
        ("closedate", "amanhã", "INVALID_LONG"),
        ("hs_object_id", "1", "READ_ONLY_VALUE"),
    ],
)
def test_a_value_that_does_not_fit_a_deal_is_refused(program, name, value, code):
    assert codes(program.post("deals", deal(**{name: value}))) == [code]
    made = program.deal()
    assert codes(program.patch(f"deals/{made}", {"properties": {name: value}})) == [code]


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("email", "ana.example.com", "INVALID_EMAIL"),
        ("birthday", "2026-02-30", "INVALID_DATE"),
        ("birthday", "1774008000001", "INVALID_DATE"),
        ("lifecyclestage", "Lead", "INVALID_OPTION"),
    ],
)
def test_a_value_that_does_not_fit_a_contact_is_refused(program, name, value, code):
    answer = program.post("contacts", {"properties": {"firstname": "Ana", name: value}})
    assert codes(answer) == [code]


@pytest.mark.parametrize(
    ("sent", "kept"), [("2026-03-20", "2026-03-20"), ("1773964800000", "2026-03-20")]
)
def test_a_date_is_kept_as_a_day(program, sent, kept):
    path = f"contacts/{program.contact(birthday=sent)}"
    assert program.get(path, properties="birthday").json()["properties"]["birthday"] == kept


def test_all_that_is_wrong_is_told_at_once_and_nothing_is_written(program):
    answer = program.post("deals", deal(amount="x", nobody_knows="1"))

    assert sorted(codes(answer)) == ["INVALID_INTEGER", "PROPERTY_DOESNT_EXIST"]
    assert program.account.deals() == []


def test_a_stage_of_another_pipeline_is_none(program):
    made = program.post(
        "/crm/pipelines/2026-09/deals",
        {"label": "Outro", "displayOrder": 1, "stages": [{"label": "A", "stageId": "77"}]},
    ).json()

    assert program.post("deals", deal(dealstage="77")).status_code == 400
    assert program.post("deals", deal(dealstage="77", pipeline=made["id"])).status_code == 201


def test_a_lifecycle_stage_never_moves_back_and_nobody_is_told(program):
    path = f"contacts/{program.contact(lifecyclestage='customer')}"
    answer = program.patch(path, {"properties": {"lifecyclestage": "lead"}})

    assert answer.status_code == 200
    assert answer.json()["properties"]["lifecyclestage"] == "customer"


def test_our_keys_are_unique_and_ours(program):
    for kind, name in (("deals", "lead_session_id"), ("contacts", "lead_phone_e164")):
        shown = program.get(f"/crm/properties/2026-09/{kind}/{name}").json()
        assert (shown["hasUniqueValue"], shown["archived"]) == (True, False)


def test_a_property_is_declared_read_changed_and_archived(program):
    made = program.post(PROPERTIES, declaration())
    again = program.post(PROPERTIES, declaration())
    changed = program.patch(f"{PROPERTIES}/lead_note", {"label": "Anotação"})
    listed = {each["name"] for each in program.get(PROPERTIES).json()["results"]}
    gone = program.delete(f"{PROPERTIES}/lead_note")

    assert [each.status_code for each in (made, again, changed, gone)] == [201, 409, 200, 204]
    assert again.json()["category"] == "OBJECT_ALREADY_EXISTS"
    assert changed.json()["label"] == "Anotação"
    assert {"lead_note", "dealname"} <= listed
    assert program.get(f"{PROPERTIES}/lead_note").status_code == 404
    assert program.get(f"{PROPERTIES}/lead_note", archived="true").status_code == 200
    assert program.post("deals", deal(lead_note="x")).status_code == 400


def test_whether_values_are_unique_is_decided_once(program):
    program.post(PROPERTIES, declaration())
    answer = program.patch(f"{PROPERTIES}/lead_note", {"hasUniqueValue": True})

    assert answer.status_code == 400
    assert program.get(f"{PROPERTIES}/lead_note").json()["hasUniqueValue"] is False


def test_there_are_ten_unique_properties_and_no_more(program):
    statuses = [
        program.post(PROPERTIES, declaration(f"key_{number}", hasUniqueValue=True)).status_code
        for number in range(10)
    ]
    # One of the ten is our own.
    assert statuses == [201] * 9 + [400]


@pytest.mark.parametrize(
    "wrong", [{"name": "Não"}, {"type": "text"}, {"groupName": "nenhum"}, {"options": [{}]}]
)
def test_a_property_that_cannot_be_is_refused(program, wrong):
    assert program.post(PROPERTIES, declaration(**wrong)).status_code == 400


def test_a_group_comes_before_its_properties(program):
    groups = f"{PROPERTIES}/groups"
    asked = declaration(groupName="leads")

    assert program.post(PROPERTIES, asked).status_code == 400
    assert program.post(groups, {"name": "leads", "label": "Leads"}).status_code == 201
    assert program.post(groups, {"name": "leads", "label": "Leads"}).status_code == 409
    assert program.post(PROPERTIES, asked).status_code == 201
    assert "leads" in {each["name"] for each in program.get(groups).json()["results"]}

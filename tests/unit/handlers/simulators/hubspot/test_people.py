"""What people do by hand: merge, archive, restore, edit, and change the pipeline."""

import pytest

from handlers.simulators.hubspot import Refused
from tests.support.hubspot_account import deal, playing

KEY = "lead_session_id"


def test_a_merge_makes_a_new_record_that_both_ids_lead_to(program):
    contact = program.contact()
    first = program.deal(contact, lead_session_id="a", dealname="Ana")
    second = program.deal(lead_session_id="b", amount="7", dealname="Bia")
    survivor = program.account.people.merge("deals", first, second)
    asked = f"dealname,amount,{KEY},hs_merged_object_ids"
    shown = [program.get(f"deals/{each}", properties=asked).json() for each in (first, second)]

    assert survivor not in {first, second}
    assert [each["id"] for each in shown] == [survivor, survivor]
    values = shown[0]["properties"]
    assert (values["dealname"], values["amount"], values[KEY]) == ("Ana", "7", "a")
    assert values["hs_merged_object_ids"] == f"{first};{second}"
    assert program.account.contacts_of(survivor) == [contact]
    assert program.get("deals/a", idProperty=KEY).json()["id"] == survivor
    assert program.get("deals/b", idProperty=KEY).status_code == 404
    assert program.patch(f"deals/{first}", {"properties": {"amount": "8"}}).json()["id"] == survivor


def test_a_merge_may_keep_the_first_id():
    with playing(preserve_id=True) as program:
        first, second = program.deal(), program.deal()
        body = {"primaryObjectId": first, "objectIdToMerge": second}
        merged = program.post("deals/merge", body).json()

        assert merged["id"] == first
        assert program.get(f"deals/{second}").json()["id"] == first
        assert len(program.account.deals()) == 1


def test_what_was_merged_can_be_merged_again(program):
    first, second, third = (program.deal() for _ in range(3))
    once = program.account.people.merge("deals", first, second)
    twice = program.account.people.merge("deals", third, once)
    assert program.get(f"deals/{first}").json()["id"] == twice


@pytest.mark.parametrize("ids", [("1", "1"), ("1", None), (None, None)])
def test_what_cannot_be_merged_is_refused(program, ids):
    made = program.deal()
    body = dict(
        zip(("primaryObjectId", "objectIdToMerge"), [each and made for each in ids], strict=True)
    )
    assert program.post("deals/merge", body).status_code == 400


def test_an_archived_record_is_shown_where_it_is_asked_for(program):
    made = program.deal(lead_session_id="a")
    before = program.get(f"deals/{made}").json()
    program.clock.advance(60)
    program.account.people.archive("deals", made)
    shown = program.get(f"deals/{made}", archived="true").json()

    assert program.get(f"deals/{made}").status_code == 404
    assert (shown["archived"], shown["archivedAt"]) == (True, "2026-03-20T12:01:00.000Z")
    assert shown["updatedAt"] == before["updatedAt"]
    assert program.get("deals/a", idProperty=KEY, archived="true").json()["id"] == made
    assert program.patch(f"deals/{made}", {"properties": {"amount": "1"}}).status_code == 404
    assert program.get(f"deals/{program.deal()}", archived="true").status_code == 404


def test_an_account_may_not_know_archived_records_by_their_keys():
    with playing(archived_by_key=False) as program:
        made = program.deal(lead_session_id="a")
        program.account.people.archive("deals", made)

        assert program.get("deals/a", idProperty=KEY, archived="true").status_code == 404
        assert program.get(f"deals/{made}", archived="true").status_code == 200


def test_a_restored_record_is_what_it_was(program):
    made = program.deal(lead_session_id="a")
    program.account.people.archive("deals", made)
    program.account.people.restore("deals", made)
    assert program.get("deals/a", idProperty=KEY).json()["id"] == made


def test_a_record_whose_value_was_taken_meanwhile_is_not_restored():
    with playing(reserved=False) as program:
        first = program.deal(lead_session_id="a")
        program.account.people.archive("deals", first)
        program.deal(lead_session_id="a")

        with pytest.raises(Refused):
            program.account.people.restore("deals", first)
        assert len(program.account.deals()) == 1


def test_people_leave_no_trace_in_the_journal_and_their_name_in_the_history(program):
    contact = program.account.people.create("contacts", firstname="Ana")
    made = program.account.people.create_deal(contact, dealname="Ana", dealstage="1000001")
    program.account.people.edit("deals", made, dealname="Ana Souza")

    assert len(program.account.journal) == 0
    assert program.account.contacts_of(made) == [contact]
    (record,) = program.account.deals()
    assert {each.by.source_type for each in record.history["dealname"]} == {"CRM_UI"}
    program.account.people.dissociate(made, contact)
    assert program.account.contacts_of(made) == []


def test_a_stage_that_was_deleted_takes_no_more_deals_and_keeps_its_own(program):
    made = program.deal()
    program.account.people.remove_stage("1000001")

    assert program.post("deals", deal()).status_code == 400
    shown = program.get(f"deals/{made}").json()["properties"]
    assert shown["dealstage"] == "1000001"


def test_pipelines_and_stages_are_made_renamed_and_deleted(program):
    root = "/crm/pipelines/2026-09/deals"
    stage = {"label": "Novo", "displayOrder": 0, "metadata": {"probability": "0.1"}}
    made = program.post(root, {"label": "B2B", "displayOrder": 1, "stages": [stage]}).json()
    path = f"{root}/{made['id']}"
    (first,) = made["stages"]
    second = program.post(f"{path}/stages", {**stage, "label": "Fim"}).json()
    program.patch(f"{path}/stages/{first['id']}", {"label": "Novíssimo"})
    program.patch(path, {"label": "Empresas"})
    shown = program.get(path).json()

    assert shown["label"] == "Empresas"
    assert [each["label"] for each in shown["stages"]] == ["Novíssimo", "Fim"]
    assert program.get(f"{path}/stages/{second['id']}").json()["metadata"] == stage["metadata"]
    assert program.delete(f"{path}/stages/{first['id']}").status_code == 204
    assert [each["id"] for each in program.get(f"{path}/stages").json()["results"]] == [
        second["id"]
    ]
    assert program.delete(path).status_code == 204
    assert program.get(path).status_code == 404
    assert [each["id"] for each in program.get(root).json()["results"]] == ["default"]


def test_the_stages_of_a_new_account_are_open_but_for_two(program):
    (first,) = program.get("/crm/pipelines/2026-09/deals").json()["results"]
    closed = [each["id"] for each in first["stages"] if each["metadata"]["isClosed"] == "true"]
    assert closed == ["closedwon", "closedlost"]


def test_what_an_administrator_requires_is_enforced_since_2026_09():
    with playing(required={"deals": ("amount",)}) as program:
        strict = program.post("deals", deal())
        older = [
            program.post(f"{root}/deals", deal())
            for root in ("/crm/objects/2026-03", "/crm/v3/objects")
        ]
        made = program.deal(amount="7")
        cleared = program.patch(f"deals/{made}", {"properties": {"amount": ""}})
        laxer = program.patch(f"/crm/v3/objects/deals/{made}", {"properties": {"amount": ""}})

    assert (strict.status_code, strict.json()["category"]) == (400, "VALIDATION_ERROR")
    assert strict.json()["errors"][0]["context"] == {"propertyName": ["amount"]}
    assert [each.status_code for each in older] == [201, 201]
    assert (cleared.status_code, laxer.status_code) == (400, 200)


def test_what_every_record_needs_is_named_when_it_is_missing(program):
    bare = program.post("deals", {"properties": {"dealname": "Ana"}})
    nameless = program.post("contacts", {"properties": {"phone": "+5511955550142"}})
    lax = {"properties": {"dealstage": "1000001"}}

    assert bare.json()["context"] == {"properties": ["dealstage", "pipeline"]}
    assert nameless.json()["context"] == {"properties": ["firstname", "lastname", "email"]}
    assert program.post("/crm/v3/objects/deals", lax).json()["properties"]["pipeline"] == "default"
    assert program.post("/crm/v3/objects/contacts", {"properties": {}}).status_code == 201


def test_a_version_past_its_end_answers_404_without_a_category():
    with playing(gone=frozenset({"v3", "2026-03"})) as program:
        made = program.deal()
        for root in ("/crm/v3/objects", "/crm/objects/2026-03"):
            answer = program.get(f"{root}/deals/{made}")
            assert answer.status_code == 404
            assert "category" not in answer.json()
            assert "X-HubSpot-NotFound" not in answer.headers
        assert program.get(f"deals/{made}").status_code == 200
        assert program.get(f"/crm/objects/2031-03/deals/{made}").status_code == 404


def test_an_account_can_be_changed_while_it_runs(program):
    made = program.deal()
    program.account.configure(ignored=frozenset({"deals.dealstage"}))
    answer = program.patch(f"deals/{made}", {"properties": {"dealstage": "1000002"}})

    assert answer.status_code == 200
    assert answer.json()["properties"]["dealstage"] == "1000001"

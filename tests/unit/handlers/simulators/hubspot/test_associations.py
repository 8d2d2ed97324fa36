import pytest

from tests.support.hubspot_account import deal, link, playing


def contacts_of(program, deal_id):
    shown = program.get(f"deals/{deal_id}", associations="contacts").json()
    return shown.get("associations", {}).get("contacts", {}).get("results", [])


def test_a_deal_is_created_with_its_contact(program):
    contact = program.contact()
    made = program.deal(contact)

    assert contacts_of(program, made) == [{"id": contact, "type": "deal_to_contact"}]
    back = program.get(f"contacts/{contact}", associations="deals").json()
    assert back["associations"]["deals"]["results"] == [{"id": made, "type": "contact_to_deal"}]


def test_a_contact_that_is_not_there_refuses_the_deal(program):
    answer = program.post("deals", deal("404"))

    assert (answer.status_code, answer.json()["category"]) == (404, "OBJECT_NOT_FOUND")
    assert answer.json()["subCategory"] == "crm.associations.TO_OBJECT_NOT_FOUND"
    assert program.account.deals() == []


@pytest.mark.parametrize("wrong", [link("1", type_id=4), {"to": {}}, {"to": {"id": "1"}}, 7])
def test_an_association_that_is_none_is_refused(program, wrong):
    body = {**deal(), "associations": [wrong]}
    assert program.post("deals", body).status_code == 400


def test_an_association_can_be_left_out_without_a_word():
    with playing(drop_associations=True) as program:
        contact = program.contact()
        made = program.deal(contact)
        assert contacts_of(program, made) == []

        program.ask("PUT", f"deals/{made}/associations/default/contacts/{contact}")
        assert [each["id"] for each in contacts_of(program, made)] == [contact]


def test_associating_twice_is_as_good_as_once(program):
    contact, made = program.contact(), program.deal()
    path = f"deals/{made}/associations/default/contacts/{contact}"
    answers = [program.ask("PUT", path) for _ in range(2)]

    assert [each.status_code for each in answers] == [200, 200]
    assert answers[1].json()["results"][0]["associationSpec"]["associationTypeId"] == 3
    assert program.account.contacts_of(made) == [contact]
    listed = program.get(f"deals/{made}/associations/contacts").json()["results"]
    assert [each["toObjectId"] for each in listed] == [contact]


def test_who_is_not_there_cannot_be_associated(program):
    made = program.deal()
    answer = program.ask("PUT", f"deals/{made}/associations/default/contacts/404")

    assert answer.status_code == 404
    assert answer.json()["subCategory"] == "crm.associations.TO_OBJECT_NOT_FOUND"
    assert program.ask("PUT", "deals/1/associations/default/contacts/404").status_code == 404


def test_an_association_can_be_taken_away_and_an_archived_contact_is_not_shown(program):
    ana, bia = program.contact(), program.contact()
    made = program.deal(ana)
    program.ask("PUT", f"deals/{made}/associations/default/contacts/{bia}")
    program.account.people.archive("contacts", bia)
    assert program.account.contacts_of(made) == [ana]

    assert program.delete(f"deals/{made}/associations/contacts/{ana}").status_code == 204
    assert program.account.contacts_of(made) == []

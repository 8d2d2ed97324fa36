import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from handlers.simulators.hubspot import Shapes
from tests.support.hubspot_account import ROOT, codes, deal, playing

TAKEN = re.compile(r"propertyName=(\w+), value=(.+)\} on (\d+)\. (\d+) already has that value\.")
KEY = "prod:session-1"


def test_a_value_that_is_taken_names_the_record_in_the_making_and_the_holder(program):
    holder = program.deal(lead_session_id=KEY)
    answer = program.post("deals", deal(lead_session_id=KEY))
    found = TAKEN.search(answer.json()["message"])

    assert (answer.status_code, answer.json()["category"]) == (400, "VALIDATION_ERROR")
    assert found is not None
    assert (found[1], found[2], found[4]) == ("lead_session_id", KEY, holder)
    assert "legacyObjectType=DEAL" in answer.json()["message"]
    assert program.get(f"deals/{found[3]}").status_code == 404
    assert int(program.deal()) == int(found[3]) + 1  # The id it was to have is used up.


def test_a_value_that_is_taken_can_be_one_of_many_that_are_not_valid():
    with playing(shapes=Shapes(conflict="validation")) as program:
        holder = program.deal(lead_session_id=KEY)
        answer = program.post("deals", deal(lead_session_id=KEY))

    assert codes(answer) == ["CONFLICTING_UNIQUE_VALUE"]
    assert f"{holder} already has that value" in answer.json()["message"]


def test_a_change_cannot_take_a_value_either_but_may_keep_its_own(program):
    program.deal(lead_session_id=KEY)
    other = program.deal(lead_session_id="prod:session-2")
    refused = program.patch(f"deals/{other}", {"properties": {"lead_session_id": KEY}})
    same = program.patch(f"deals/{other}", {"properties": {"lead_session_id": "prod:session-2"}})

    assert (refused.status_code, same.status_code) == (400, 200)
    assert f"on {other}." in refused.json()["message"]


def test_a_value_that_was_cleared_is_free(program):
    first = program.deal(lead_session_id=KEY)
    program.patch(f"deals/{first}", {"properties": {"lead_session_id": ""}})
    second = program.deal(lead_session_id=KEY)

    assert program.get(f"deals/{KEY}", idProperty="lead_session_id").json()["id"] == second


def test_an_email_that_is_taken_names_the_holder_in_words():
    with playing(shapes=Shapes(email="message")) as program:
        holder = program.contact(email="ana@example.com")
        answer = program.post("contacts", {"properties": {"email": "ANA@example.com"}})

    assert (answer.status_code, answer.json()["category"]) == (409, "CONFLICT")
    assert answer.json()["message"] == f"Contact already exists. Existing ID: {holder}"


def test_an_email_that_is_taken_names_the_holder_in_a_document():
    with playing(shapes=Shapes(email="identity")) as program:
        holder = program.contact(email="ana@example.com")
        answer = program.post("contacts", {"properties": {"email": "ana@example.com"}})
    document = answer.json()

    assert (answer.status_code, document["category"]) == (409, "OBJECT_ALREADY_EXISTS")
    assert document["subCategory"] == "CONTACT_EXISTS"
    assert document["identityProfile"]["vid"] == int(holder)


@pytest.fixture
def restless():
    """Let threads take turns all the time, so that what is not one step comes apart."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_of_many_at_once_one_is_created(program, restless):
    head = {
        "Authorization": f"Bearer {program.account.token}",
        "Content-Type": "application/json",
    }
    address = f"{program.account.url}{ROOT}/deals"

    def post(number):
        body = json.dumps(deal(lead_session_id=f"prod:{number // 8}"))
        return many_at_once.post(address, content=body, headers=head).status_code

    with httpx2.Client(trust_env=False, timeout=20) as many_at_once, ThreadPoolExecutor(8) as many:
        statuses = list(many.map(post, range(320)))

    assert sorted(statuses) == [201] * 40 + [400] * 280
    assert len(program.account.deals()) == 40


@pytest.mark.parametrize("reserved", [True, False])
def test_an_archived_record_keeps_its_value_or_lets_it_go(reserved):
    with playing(reserved=reserved) as program:
        first = program.deal(lead_session_id=KEY)
        program.account.people.archive("deals", first)
        again = program.post("deals", deal(lead_session_id=KEY))
        found = program.get(f"deals/{KEY}", idProperty="lead_session_id")

        assert again.status_code == (400 if reserved else 201)
        assert found.status_code == (404 if reserved else 200)
        if reserved:
            assert f"{first} already has that value" in again.json()["message"]


def test_an_archived_email_is_free(program):
    first = program.contact(email="ana@example.com")
    program.account.people.archive("contacts", first)
    assert program.contact(email="ana@example.com") != first

import json
import sqlite3

import pytest

from tests.support.cli import purchases
from tests.support.service import purchase

SECRET = "segredo-4711"


def send(leads, *events, end="\n", options=()):
    data = end.join(json.dumps(each) for each in events).encode()
    return leads("send", "-", *options, stdin=data)


def test_a_single_event_is_answered_as_the_api_answers(leads):
    answer = send(leads, purchase(), options=["--json"])

    assert answer.code == 0
    assert answer.document | {"id": "…"} == {
        "status": "created",
        "id": "…",
        "leadOrganizationId": "lead-1",
        "sequence": 1,
        "mapped": True,
    }


def test_the_same_event_again_has_the_first_id(leads):
    first = send(leads, purchase(), options=["--json"]).document
    again = send(leads, purchase(), options=["--json"])

    assert again.code == 0
    assert again.document == first | {"status": "duplicate"}


def test_other_content_under_a_used_id_is_a_conflict(leads):
    first = send(leads, purchase(), options=["--json"]).document
    other = send(leads, purchase(payload={"amount": "151.00"}), options=["--json"])

    assert other.code == 4
    assert other.document["id"] == first["id"]
    assert "/problems/idempotency-conflict" in other.err


def test_an_event_that_breaks_a_rule_is_refused_by_field_and_never_by_value(leads):
    wrong = purchase(payload={"amount": "-1.00", "productName": SECRET})
    answer = send(leads, wrong, options=["--json"])

    assert answer.code == 2
    assert "/payload/amount" in answer.err
    assert answer.document["problem"]["type"] == "/problems/invalid-event"
    assert SECRET not in answer.err + answer.out


def test_an_unknown_type_is_stored_and_said_not_to_be_mapped(leads):
    answer = send(leads, purchase(eventType="moon_landed"), options=["--json"])

    assert answer.code == 0
    assert answer.document["mapped"] is False


@pytest.mark.parametrize("form", ["one a line", "crlf", "bom", "blank lines", "a batch"])
def test_a_batch_comes_in_every_form_it_has(leads, form):
    events = purchases("lead-1", 3)
    lines = [json.dumps(each) for each in events]
    data = {
        "one a line": "\n".join(lines),
        "crlf": "\r\n".join(lines) + "\r\n",
        "bom": "\ufeff" + "\n".join(lines),
        "blank lines": "\n\n" + "\n \n".join(lines) + "\n\n",
        "a batch": json.dumps({"events": events}, indent=2),
    }[form]
    answer = leads("send", "-", "--json", stdin=data.encode())

    assert answer.code == 0
    assert [each["sequence"] for each in answer.document["results"]] == [1, 2, 3]
    assert answer.document["created"] == 3


def test_a_file_is_sent_as_stdin_is(leads):
    file = leads.file([purchase()], "one.json")

    assert leads("send", file).code == 0
    assert "status\tduplicate" in leads("send", file).out
    assert leads("send", "missing.json").code == 2


def test_one_wrong_event_of_a_batch_is_answered_for_itself(leads):
    events = [*purchases("lead-1", 2), purchase(externalEventId="x", occurredAt="2026-03-15")]
    answer = send(leads, *events, options=["--json"])

    assert answer.code == 6
    assert [each["status"] for each in answer.document["results"]] == [
        *("created", "created", "rejected")
    ]


def test_a_line_that_cannot_be_read_is_named_by_its_number(leads):
    data = json.dumps(purchase()).encode() + b'\n{"half": \n'
    answer = leads("send", "-", "--json", stdin=data)

    assert answer.code == 6
    assert "Line 2" in answer.document["results"][1]["problem"]["detail"]


def test_a_batch_in_which_all_is_wrong_in_one_way_has_the_code_of_that(leads):
    wrong = [purchase(externalEventId=str(number), source=None) for number in range(2)]

    assert send(leads, *wrong).code == 2


@pytest.mark.parametrize("data", [b"", b"  \n", b"hello", b'{"a":', b"[1]", b'{"events":[]}'])
def test_what_is_no_event_at_all_is_refused(leads, data):
    answer = leads("send", "-", stdin=data)

    assert answer.code == 2
    assert "Traceback" not in answer.err


def test_more_than_a_batch_may_hold_is_sent_to_import(leads):
    answer = send(leads, *purchases("lead-1", 501))

    assert answer.code == 2
    assert "leads import" in answer.err
    assert "/problems/limit-exceeded" in answer.err
    assert leads("events", "lead-1").code == 3


def test_checking_stores_nothing(leads):
    answer = send(leads, purchase(), options=["--json", "--check"])

    assert answer.code == 0
    assert answer.document["status"] == "created"
    assert leads("events", "lead-1").code == 3


def test_a_lead_of_another_organization_is_not_found(leads):
    send(leads, purchase(), options=["--org", "one"])
    answer = send(leads, purchase(externalEventId="HT-2"), options=["--org", "two"])

    assert answer.code == 3


def test_a_store_that_is_locked_is_unavailable_and_a_retry_is_safe(leads):
    send(leads, purchase())
    other = sqlite3.connect(leads.db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    env = {"LEADS_SQLITE_BUSY_MS": "1"}
    data = json.dumps(purchase(externalEventId="HT-2")).encode()
    locked = leads("send", "-", stdin=data, env=env)
    other.execute("ROLLBACK")
    other.close()

    assert locked.code == 5
    assert "/problems/unavailable" in locked.err
    assert leads("send", "-", stdin=data, env=env).code == 0

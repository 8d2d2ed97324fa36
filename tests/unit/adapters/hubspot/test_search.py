"""A search by phone finds too much; what it returns really has the phone."""

import json

import pytest

from adapters.hubspot import phones
from adapters.hubspot.pacing import Pacer
from domain.crm.replies import Kind, Reply
from tests.support.http_server import Reply as Answered
from tests.support.hubspot import crm_answered, error, record

WITH_NINE, WITHOUT = "5511955550142", "551155550142"


def searched(numbers, *answers):
    with crm_answered(*answers) as (crm, server):
        return crm.search_contacts(numbers), [(each.path, each.body) for each in server.asked]


def page(*records, after=None):
    paging = {"paging": {"next": {"after": after}}} if after else {}
    return Answered(200, {"total": len(records), "results": list(records), **paging})


def test_a_search_asks_for_the_number_without_its_country_and_for_what_people_write():
    _, ((path, body),) = searched([WITH_NINE, WITHOUT], page())

    assert path == "/crm/objects/2026-09/contacts/search"
    filters = {
        each["propertyName"]: (each["operator"], each["values"])
        for group in body["filterGroups"]
        for each in group["filters"]
    }
    raw = ("IN", [WITH_NINE, WITHOUT, f"+{WITH_NINE}", f"+{WITHOUT}"])
    national = ("IN", ["11955550142", "1155550142"])
    assert filters == {
        "phone": raw,
        "mobilephone": raw,
        "hs_searchable_calculated_phone_number": national,
        "hs_searchable_calculated_mobile_number": national,
    }
    assert len(body["filterGroups"]) <= 5
    assert all(len(group["filters"]) == 1 for group in body["filterGroups"])
    assert (body["limit"], body["after"], body["sorts"]) == (200, "0", [])


@pytest.mark.parametrize(
    ("phone", "is_theirs"),
    [
        ("5511955550142", True),
        ("+5511955550142", True),
        ("+55 (11) 95555-0142", True),
        ("(11) 95555-0142", True),
        ("011 95555-0142", True),
        ("0055 11 95555-0142", True),
        ("551155550142", True),
        ("11 5555-0142", True),
        # The same digits behind another country's code are another person.
        ("+1 195 555 0142", False),
        ("+11955550142", False),
        ("955550142", False),
        ("5521955550142", False),
        ("5511955550143", False),
        ("", False),
        (None, False),
        (5511955550142, False),
    ],
)
@pytest.mark.parametrize("name", ["phone", "mobilephone"])
def test_only_who_has_the_phone_is_found(name, phone, is_theirs):
    reply, _ = searched([WITH_NINE, WITHOUT], page(record("31", **{name: phone})))

    assert reply.kind is Kind.DONE
    assert [each.id for each in reply.records] == (["31"] if is_theirs else [])


def test_all_who_have_it_are_found_page_by_page_each_once():
    reply, asked = searched(
        [WITH_NINE],
        page(record("31", phone=WITH_NINE), record("32", phone="0"), after="200"),
        page(record("31", phone=WITH_NINE), record("33", mobilephone=WITH_NINE)),
    )

    assert [each.id for each in reply.records] == ["31", "33"]
    assert [body["after"] for _, body in asked] == ["0", "200"]


def test_a_search_that_has_no_end_is_ended():
    pages = [page(record("31", phone="0"), after=str(n)) for n in range(1, 100)]
    unpaced = Pacer(lambda: 0.0, lambda _: None)
    with crm_answered(*pages, pacer=unpaced) as (crm, server):
        reply = crm.search_contacts([WITH_NINE])

    assert (reply.kind, reply.records, len(server.asked)) == (Kind.DONE, (), 50)


def test_a_page_that_names_itself_as_the_next_is_the_last():
    reply, asked = searched([WITH_NINE], page(record("31", phone=WITH_NINE), after="1"))

    assert ([each.id for each in reply.records], len(asked)) == (["31"], 2)


def test_who_cannot_be_told_apart_is_not_counted_to_the_last():
    many = [record(str(n), phone=WITH_NINE) for n in range(100, 130)]
    reply, asked = searched([WITH_NINE], page(*many, after="200"))

    assert (len(reply.records), len(asked)) == (30, 1)


@pytest.mark.parametrize("numbers", [[], [""], ["BR.1500000000001"], ["+"], ["12"]])
def test_a_search_for_no_phone_is_not_made_for_it_would_find_everybody(numbers):
    assert searched(numbers, page()) == (Reply(kind=Kind.REFUSED, reason="client_bug"), [])


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, b"", Kind.TRANSIENT),
        (200, {"results": [{"properties": {}}]}, Kind.TRANSIENT),
        (200, {"total": 0}, Kind.TRANSIENT),
        (503, b"", Kind.TRANSIENT),
        (429, error("RATE_LIMITS"), Kind.PAUSED),
    ],
)
def test_a_search_that_says_nothing_is_not_one_that_found_nobody(status, body, kind):
    reply, _ = searched([WITH_NINE], Answered(status, body))

    assert (reply.kind, reply.records) == (kind, ())


def test_a_page_that_fails_leaves_nothing_found():
    reply, _ = searched(
        [WITH_NINE],
        page(record("31", phone=WITH_NINE), after="200"),
        Answered(503, b""),
    )

    assert (reply.kind, reply.records) == (Kind.TRANSIENT, ())


def test_a_number_of_no_country_is_looked_for_as_it_is():
    assert phones.sought(["9999999999"]).whole == ("9999999999",)


def test_a_search_for_many_phones_is_as_long_as_one_may_be():
    _, ((_, body),) = searched([f"55119555{n:05}" for n in range(500)], page())

    assert len(json.dumps(body)) <= 3_000


def test_the_deals_of_a_contact_are_searched_by_their_association_alone():
    with crm_answered(page(record("42", dealname="Ana"))) as (crm, server):
        reply = crm.search_deals("31")

    [asked] = server.asked
    assert asked.path == "/crm/objects/2026-09/deals/search"
    of = {"propertyName": "associations.contact", "operator": "EQ", "value": "31"}
    assert asked.body["filterGroups"] == [{"filters": [of]}]
    assert [(each.id, each.properties["name"]) for each in reply.records] == [("42", "Ana")]


def test_deals_of_what_is_no_contact_are_not_searched_and_no_list_is_no_answer():
    with crm_answered(Answered(200, {"total": 0})) as (crm, server):
        assert crm.search_deals("x") == Reply(kind=Kind.REFUSED, reason="client_bug")
        assert server.asked == []
        assert crm.search_deals("31").kind is Kind.TRANSIENT

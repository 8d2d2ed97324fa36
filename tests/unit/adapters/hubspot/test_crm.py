"""Each method of the port is one request, and reads what comes back with care."""

import pytest

from adapters.hubspot.client import MAX_ANSWER_BYTES
from domain.crm.replies import Kind, Pipeline, Remote, Reply
from tests.support.http_server import Reply as Answered
from tests.support.hubspot import CONTACT, DEAL, EMAIL, PHONE, crm_answered, error, record

NOT_FOUND = error("OBJECT_NOT_FOUND")
DEAL_PROPERTIES = "dealname%2Cdealstage%2Cpipeline%2Clead_session_id%2Cdescription"
CONTACT_PROPERTIES = "phone%2Clead_phone_e164%2Cemail%2Cfirstname%2Clastname"


def asked_by(act, *answers):
    """Do something once: what it returned, and each request as method, path and body."""
    with crm_answered(*(answers or (Answered(200, record()),))) as (crm, server):
        result = act(crm)
        return result, [(each.method, each.path, each.body) for each in server.asked]


@pytest.mark.parametrize(
    ("by", "value", "path"),
    [
        ("id", "31", f"31?properties={CONTACT_PROPERTIES}"),
        (
            "phone_key",
            f"+{PHONE}",
            f"%2B{PHONE}?properties={CONTACT_PROPERTIES}&idProperty=lead_phone_e164",
        ),
        (
            "email",
            EMAIL,
            f"ana.souza%40example.com?properties={CONTACT_PROPERTIES}&idProperty=email",
        ),
    ],
)
def test_a_contact_is_read_by_each_of_its_keys(by, value, path):
    _, asked = asked_by(lambda crm: crm.find_contact(by=by, value=value))

    assert asked == [("GET", f"/crm/objects/2026-09/contacts/{path}", None)]


@pytest.mark.parametrize(
    ("key", "quoted"),
    [
        ("a/b?c", "a%2Fb%3Fc"),
        ("prod:sessão é", "prod%3Asess%C3%A3o%20%C3%A9"),
        ("../contacts", "..%2Fcontacts"),
        ("a%2Fb", "a%252Fb"),
        ("a&idProperty=email#x", "a%26idProperty%3Demail%23x"),
        ("a\r\nHost: b", "a%0D%0AHost%3A%20b"),
        ("\x00😀", "%00%F0%9F%98%80"),
    ],
)
def test_a_key_is_one_segment_of_the_path_whatever_it_holds(key, quoted):
    _, asked = asked_by(lambda crm: crm.find_deal(by="key", value=key))

    query = f"properties={DEAL_PROPERTIES}&idProperty=lead_session_id&associations=contacts"
    assert asked == [("GET", f"/crm/objects/2026-09/deals/{quoted}?{query}", None)]


@pytest.mark.parametrize("key", ["", ".", "..", "a\ud83d", "x" * 501])
def test_a_key_that_is_none_is_not_asked_for(key):
    reply, asked = asked_by(lambda crm: crm.find_deal(by="key", value=key))

    assert (reply, asked) == (Reply(kind=Kind.REFUSED, reason="client_bug"), [])


@pytest.mark.parametrize("bad", ["", "a", "1/2", "-1", "1" * 21, "\u0661", " 1", "1\n", "../1"])
@pytest.mark.parametrize(
    "act",
    [
        lambda crm, bad: crm.find_contact(by="id", value=bad),
        lambda crm, bad: crm.update_contact(bad, {"name": "Ana"}),
        lambda crm, bad: crm.find_deal(by="id", value=bad),
        lambda crm, bad: crm.create_deal(DEAL, bad),
        lambda crm, bad: crm.update_deal(bad, {"stage": "1"}),
        lambda crm, bad: crm.associate(bad, "1"),
        lambda crm, bad: crm.associate("1", bad),
    ],
)
def test_an_id_that_is_none_is_not_sent(act, bad):
    reply, asked = asked_by(lambda crm: act(crm, bad))

    assert (reply, asked) == (Reply(kind=Kind.REFUSED, reason="client_bug"), [])


def test_a_property_nobody_knows_is_not_sent():
    for act in (
        lambda crm: crm.create_contact({"stage": "1"}),
        lambda crm: crm.update_contact("1", {"stage": "1"}),
        lambda crm: crm.create_deal({"email": EMAIL}, "1"),
        lambda crm: crm.update_deal("1", {"dealname": "Ana"}),
    ):
        reply, asked = asked_by(act)
        assert (reply, asked) == (Reply(kind=Kind.REFUSED, reason="client_bug"), [])


def test_a_contact_is_created_without_what_is_empty():
    reply, asked = asked_by(
        lambda crm: crm.create_contact({**CONTACT, "name": "Ana"}),
        Answered(201, record("31", firstname="Ana", email=EMAIL)),
    )

    assert reply.record == Remote(id="31", properties={"name": "Ana", "email": EMAIL})
    assert reply.status == 201
    body = {
        "properties": {
            "phone": f"+{PHONE}",
            "lead_phone_e164": f"+{PHONE}",
            "firstname": "Ana",
            "email": EMAIL,
        },
        "associations": [],
    }
    assert asked == [("POST", "/crm/objects/2026-09/contacts", body)]


def test_a_deal_is_created_with_its_key_and_its_contact_in_one_request():
    _, asked = asked_by(lambda crm: crm.create_deal(DEAL, "31"), Answered(201, record()))

    body = {
        "properties": {
            "dealname": "Ana Souza",
            "dealstage": "101",
            "lead_session_id": "prod:session-1",
            "pipeline": "default",
        },
        "associations": [
            {
                "to": {"id": "31"},
                "types": [{"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": 3}],
            }
        ],
    }
    assert asked == [("POST", "/crm/objects/2026-09/deals", body)]


def test_an_update_clears_what_is_empty_and_names_nothing_else():
    reply, asked = asked_by(lambda crm: crm.update_contact("31", {"email": ""}))

    assert reply.kind is Kind.DONE
    assert asked == [
        ("PATCH", "/crm/objects/2026-09/contacts/31", {"properties": {"email": ""}}),
    ]


def test_half_of_a_surrogate_pair_is_sent_and_breaks_nothing():
    reply, asked = asked_by(lambda crm: crm.update_contact("31", {"name": "A\ud83da"}))

    assert reply.kind is Kind.DONE
    assert asked[0][2] == {"properties": {"firstname": "A\ud83da", "lastname": ""}}


def test_a_deal_is_read_with_its_contacts_each_once():
    linked = {"id": "31", "type": "deal_to_contact"}
    body = record("42", dealstage="101", lead_session_id="prod:s", description="Segmento: leite")
    body["associations"] = {
        "contacts": {"results": [linked, {**linked, "type": "x"}, {"id": "32", "type": "x"}]}
    }
    reply, _ = asked_by(lambda crm: crm.find_deal(by="id", value="42"), Answered(200, body))

    assert reply.record == Remote(
        id="42",
        properties={"stage": "101", "key": "prod:s", "segment": "leite"},
        contact_ids=("31", "32"),
    )


def test_an_archived_deal_is_asked_for_and_says_so():
    body = {**record(), "archived": True}
    reply, asked = asked_by(
        lambda crm: crm.find_deal(by="key", value="k", archived=True), Answered(200, body)
    )

    assert reply.record is not None
    assert reply.record.archived
    assert asked[0][1].endswith("&archived=true")


PARTS = {"segment": "leite", "intent": "compra", "notes": "raca: Gir"}
WHOLE = "Segmento: leite\nIntenção: compra\nAnotações:\nraca: Gir"


def test_all_of_a_description_is_written_in_one_request():
    _, asked = asked_by(lambda crm: crm.update_deal("42", PARTS))

    assert [(method, body) for method, _, body in asked] == [
        ("PATCH", {"properties": {"description": WHOLE}})
    ]


@pytest.mark.parametrize("read_before", [True, False])
def test_a_part_of_a_description_leaves_the_others_as_they_were_read(read_before):
    def act(crm):
        if read_before:
            crm.find_deal(by="id", value="42")
        return crm.update_deal("42", {"intent": "venda"})

    _, asked = asked_by(act, Answered(200, record("42", description=WHOLE)))

    # Read once, whoever asked for it.
    assert [method for method, _, _ in asked] == ["GET", "PATCH"]
    assert asked[1][2] == {"properties": {"description": WHOLE.replace("compra", "venda")}}


def test_what_was_read_is_not_taken_for_what_stands_once_it_was_written_over():
    def act(crm):
        crm.find_deal(by="id", value="42")
        crm.update_deal("42", PARTS)
        crm.update_deal("42", {"intent": "venda"})

    _, asked = asked_by(act, Answered(200, record("42", description=WHOLE)))

    assert [method for method, _, _ in asked] == ["GET", "PATCH", "GET", "PATCH"]


@pytest.mark.parametrize(
    ("answered", "kind"),
    [(Answered(404, NOT_FOUND), Kind.ABSENT), (Answered(503, b""), Kind.TRANSIENT)],
)
def test_a_part_is_not_written_over_what_could_not_be_read(answered, kind):
    reply, asked = asked_by(lambda crm: crm.update_deal("42", {"intent": "venda"}), answered)

    assert reply.kind is kind
    assert [method for method, _, _ in asked] == ["GET"]


def linked(**more):
    return {
        "status": "COMPLETE",
        "results": [
            {
                "from": {"id": "42"},
                "to": {"id": "31"},
                "associationSpec": {"associationCategory": "HUBSPOT_DEFINED"},
            }
        ],
        **more,
    }


def test_an_association_is_made_without_a_label():
    reply, asked = asked_by(lambda crm: crm.associate("42", "31"), Answered(200, linked()))

    assert reply.kind is Kind.DONE
    assert reply.record == Remote(id="42", contact_ids=("31",))
    path = "/crm/objects/2026-09/deals/42/associations/default/contacts/31"
    assert asked == [("PUT", path, None)]


@pytest.mark.parametrize(
    ("status", "body", "kind", "reason"),
    [
        (200, linked(results=[]), Kind.AMBIGUOUS, "silent_no_op"),
        (200, {}, Kind.AMBIGUOUS, "silent_no_op"),
        (207, linked(results=[], errors=[NOT_FOUND]), Kind.ABSENT, "not_found"),
        (207, linked(errors=[error()]), Kind.AMBIGUOUS, "partly_done"),
        (404, NOT_FOUND, Kind.ABSENT, "not_found"),
    ],
)
def test_an_association_that_was_not_made_is_not_taken_for_one(status, body, kind, reason):
    reply, _ = asked_by(lambda crm: crm.associate("42", "31"), Answered(status, body))

    assert (reply.kind, reply.reason) == (kind, reason)


def batch(*records, **more):
    return {"status": "COMPLETE", "results": list(records), **more}


def missing(*keys):
    return error("OBJECT_NOT_FOUND", context={"ids": list(keys)})


def test_many_deals_are_read_a_hundred_a_request_and_each_key_once():
    keys = [f"prod:{n}" for n in range(250)]
    reply, asked = asked_by(
        lambda crm: crm.find_deals([*keys, *keys], archived=True),
        Answered(200, batch(record("1"), record("2"))),
        Answered(207, batch(record("3"), errors=[missing("prod:101")])),
        Answered(207, batch(errors=[missing("prod:200")])),
    )

    assert reply.kind is Kind.DONE
    assert [each.id for each in reply.records] == ["1", "2", "3"]
    assert [(method, path) for method, path, _ in asked] == [
        ("POST", "/crm/objects/2026-09/deals/batch/read?archived=true")
    ] * 3
    assert [each["id"] for _, _, body in asked for each in body["inputs"]] == keys
    assert asked[0][2]["idProperty"] == "lead_session_id"


def test_no_keys_are_no_request():
    assert asked_by(lambda crm: crm.find_deals([])) == (Reply(kind=Kind.DONE), [])


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (200, batch(), "silent_no_op"),
        (200, batch(errors=[]), "silent_no_op"),
        (207, batch(record("1"), errors=[error()]), "partly_done"),
        (200, {}, "no_records"),
        (200, batch({"properties": {}}), "no_records"),
        (200, b"<html>", "no_records"),
    ],
)
def test_a_batch_that_says_nothing_is_read_again_later(status, body, reason):
    reply, _ = asked_by(lambda crm: crm.find_deals(["k"]), Answered(status, body))

    assert (reply.kind, reply.reason, reply.records) == (Kind.TRANSIENT, reason, ())


def test_one_batch_that_fails_is_the_reply():
    reply, asked = asked_by(
        lambda crm: crm.find_deals([f"prod:{n}" for n in range(101)]),
        Answered(200, batch(record("1"))),
        Answered(429, error("RATE_LIMITS")),
    )

    assert (reply.kind, reply.records, len(asked)) == (Kind.PAUSED, (), 2)


def test_a_batch_that_is_too_large_is_read_in_halves():
    large = Answered(200, {**batch(record("9")), "more": "x" * MAX_ANSWER_BYTES})
    reply, asked = asked_by(
        lambda crm: crm.find_deals(["a", "b", "c"]),
        large,
        Answered(200, batch(record("1"))),
        Answered(200, batch(record("2"), record("3"))),
    )

    assert [each.id for each in reply.records] == ["1", "2", "3"]
    sizes = [len(body["inputs"]) for _, _, body in asked]
    assert sizes == [3, 1, 2]


def test_one_deal_that_is_too_large_is_said_to_be():
    large = Answered(200, {**batch(record("9")), "more": "x" * MAX_ANSWER_BYTES})
    reply, asked = asked_by(lambda crm: crm.find_deals(["a", "b"]), large)

    assert (reply.kind, reply.reason, len(asked)) == (Kind.TRANSIENT, "answer_too_large", 2)


def pipeline(pipeline_id="default", *stages, **more):
    return {"id": pipeline_id, "label": "x", "stages": list(stages), "archived": False, **more}


def stage(stage_id, order, **more):
    return {"id": stage_id, "displayOrder": order, "archived": False, **more}


def test_the_stages_are_those_of_our_pipeline_in_the_order_people_see():
    body = {
        "results": [
            pipeline("other", stage("9", 0)),
            pipeline("default", stage("2", 1), stage("1", 0), stage("3", 2, archived=True)),
        ]
    }
    found, asked = asked_by(lambda crm: crm.pipeline(), Answered(200, body))

    assert found == Pipeline(stage_ids=("1", "2"))
    assert asked == [("GET", "/crm/pipelines/2026-09/deals", None)]


@pytest.mark.parametrize(
    ("status", "body", "kind", "reason"),
    [
        (200, {"results": [pipeline("other")]}, Kind.REFUSED, "pipeline_missing"),
        (200, {"results": [pipeline(archived=True)]}, Kind.REFUSED, "pipeline_missing"),
        (200, b"", Kind.TRANSIENT, "no_pipelines"),
        (401, error("INVALID_AUTHENTICATION"), Kind.BREAKER, "token_refused"),
    ],
)
def test_why_there_are_no_stages_is_told(status, body, kind, reason):
    found, _ = asked_by(lambda crm: crm.pipeline(), Answered(status, body))

    assert found.stage_ids == ()
    assert found.reply is not None
    assert (found.reply.kind, found.reply.reason) == (kind, reason)


@pytest.mark.parametrize(
    ("status", "body", "unique"),
    [
        (200, {"name": "lead_session_id", "hasUniqueValue": True}, True),
        (200, {"name": "lead_session_id", "hasUniqueValue": True, "archived": False}, True),
        (200, {"name": "lead_session_id", "hasUniqueValue": True, "archived": True}, False),
        (200, {"name": "lead_session_id", "hasUniqueValue": False}, False),
        (200, {"name": "lead_session_id"}, False),
        (404, NOT_FOUND, False),
    ],
)
def test_whether_the_account_has_our_key_is_told(status, body, unique):
    told, asked = asked_by(lambda crm: crm.has_unique_key("deal"), Answered(status, body))

    assert told is unique
    assert asked == [("GET", "/crm/properties/2026-09/deals/lead_session_id", None)]


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, {}, Kind.TRANSIENT),
        (200, {"name": "other", "hasUniqueValue": True}, Kind.TRANSIENT),
        (404, b"<html>", Kind.BREAKER),
        (503, b"", Kind.TRANSIENT),
    ],
)
def test_what_is_not_known_of_our_key_is_not_taken_for_a_no(status, body, kind):
    told, asked = asked_by(lambda crm: crm.has_unique_key("contact"), Answered(status, body))

    assert isinstance(told, Reply)
    assert told.kind is kind
    assert asked[0][1] == "/crm/properties/2026-09/contacts/lead_phone_e164"

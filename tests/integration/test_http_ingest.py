import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from projections.memories import Memories
from tests.support.service import purchase, running_service


@pytest.fixture
def service(tmp_path):
    with running_service(tmp_path) as service:
        yield service


@pytest.fixture
def auth(service):
    return service.key()


def stored(service, lead="lead-1"):
    return service.app.log.store.select_events(lead)


def test_a_new_event_is_created_at_the_address_its_location_names(service, auth):
    answer = service.http.post("/v1/events", json=purchase(), headers=auth)

    assert answer.status_code == 201
    assert answer.json() | {"id": "…"} == {
        "status": "created",
        "id": "…",
        "leadOrganizationId": "lead-1",
        "sequence": 1,
        "mapped": True,
    }
    assert answer.headers["location"] == "/v1/leads/lead-1/events/1"
    found = service.http.get(answer.headers["location"], headers=auth).json()
    assert found["id"] == answer.json()["id"]
    assert found["payload"]["amount"] == "150.00"


def test_the_same_event_again_has_the_first_id(service, auth):
    first = service.http.post("/v1/events", json=purchase(), headers=auth)
    again = service.http.post("/v1/events", json=purchase(), headers=auth)

    assert again.status_code == 200
    assert again.json() == first.json() | {"status": "duplicate"}


def test_other_content_under_a_used_key_is_a_conflict_and_the_first_stands(service, auth):
    first = service.http.post("/v1/events", json=purchase(), headers=auth)
    other = service.http.post(
        "/v1/events", json=purchase(payload={"amount": "151.00"}), headers=auth
    )

    assert other.status_code == 409
    assert other.json()["type"] == "/problems/idempotency-conflict"
    assert other.json()["id"] == first.json()["id"]
    assert b"150.00" in stored(service)[0].state


def test_an_unknown_type_is_stored_and_said_to_be_unmapped(service, auth):
    event = purchase(eventType="badge_earned", sourceType="EXTERNAL")
    answer = service.http.post("/v1/events", json=event, headers=auth)

    assert (answer.status_code, answer.json()["mapped"]) == (201, False)
    assert len(stored(service)) == 1


def test_an_idempotency_key_stands_in_for_a_missing_external_event_id(service, auth):
    event = purchase(externalEventId=None)
    headers = auth | {"Idempotency-Key": "try-1"}

    assert service.http.post("/v1/events", json=event, headers=headers).status_code == 201
    assert service.http.post("/v1/events", json=event, headers=headers).status_code == 200
    assert service.http.post("/v1/events", json=event, headers=auth).status_code == 422


@pytest.mark.parametrize(
    ("event", "pointer"),
    [
        (purchase(occurredAt="2026-03-15T14:00:00"), "/occurredAt"),
        (purchase(occurredAt="2026-03-20T12:05:01Z"), "/occurredAt"),
        (purchase(payload={"discount": 1}), "/payload/discount"),
        (purchase(payload={"amount": "-1.00"}), "/payload/amount"),
        (purchase(payload={"amount": {}}), "/payload/amount"),
        (purchase(payload={"currency": "XXZ"}), "/payload/currency"),
        (purchase(payload={"productName": "a\x00b"}), "/payload/productName"),
        (purchase(externalEventId=""), "/externalEventId"),
        (purchase(sourceType="DIRECT"), "/sourceType"),
        (purchase(source="lead_service", eventType="identity_linked"), "/source"),
        (purchase(eventType="Purchase"), "/eventType"),
        (purchase(leadOrganizationId="a#b"), "/leadOrganizationId"),
        ([], ""),
    ],
)
def test_what_breaks_a_rule_is_refused_by_field_and_without_its_value(
    service, auth, event, pointer
):
    answer = service.http.post("/v1/events", json=event, headers=auth)

    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert pointer in [each["pointer"] for each in answer.json()["errors"]]
    assert "XXZ" not in answer.text
    assert "14:00:00" not in answer.text
    assert stored(service) == []


@pytest.mark.parametrize(
    ("body", "media_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b'{"a": NaN}', "application/json", 400),
        (b"", "application/json", 400),
        (b"[" * 40 + b"]" * 40, "application/json", 422),
        (b"[" * 100_000, "application/json", 400),
        (b'{"payload": "\\ud800"}', "application/json", 422),
        (b'{"payload": {"n": 1e999}}', "application/json", 422),
        (b"{}", "text/plain", 415),
        (b" " * (256 * 1024 + 1), "application/json", 413),
    ],
)
def test_a_body_that_cannot_be_read_is_a_problem_and_never_a_500(
    service, auth, body, media_type, status
):
    headers = auth | {"Content-Type": media_type}
    answer = service.http.post("/v1/events", content=body, headers=headers)

    assert answer.status_code == status
    assert answer.json()["requestId"] == answer.headers["x-request-id"]
    assert answer.json()["detail"]


def test_one_bad_item_of_a_batch_leaves_the_others_alone(service, auth):
    events = [
        purchase(),
        purchase(externalEventId="HT-2", payload={"amount": "-1.00"}),
        purchase(externalEventId="HT-3"),
        purchase(),
        purchase(payload={"amount": "9.00"}),
        "not an event",
    ]
    answer = service.http.post("/v1/events:batch", json={"events": events}, headers=auth)
    body = answer.json()

    assert answer.status_code == 207
    assert [each["status"] for each in body["results"]] == [
        "created",
        "rejected",
        "created",
        "duplicate",
        "conflict",
        "rejected",
    ]
    assert body["results"][1]["problem"]["errors"][0]["pointer"] == "/payload/amount"
    assert (body["accepted"], body["duplicates"], body["conflicts"], body["rejected"]) == (
        2,
        1,
        1,
        2,
    )
    assert [record.originator_version for record in stored(service)] == [1, 2]


def test_a_batch_answers_200_422_and_reads_lines(service, auth):
    def post(*events, **headers):
        lines = "\n".join(json.dumps(event) for event in events)
        return service.http.post(
            "/v1/events:batch",
            content=lines,
            headers=auth | {"Content-Type": "application/x-ndjson"} | headers,
        )

    assert post(purchase(), purchase(externalEventId="HT-2")).status_code == 200
    assert post(purchase(source="!")).status_code == 422
    cut = service.http.post(
        "/v1/events:batch",
        content=json.dumps(purchase(externalEventId="HT-3")) + '\n{"cut":',
        headers=auth | {"Content-Type": "application/x-ndjson"},
    )
    assert cut.status_code == 207
    assert [each["status"] for each in cut.json()["results"]] == ["created", "rejected"]


@pytest.mark.parametrize(
    ("document", "status"),
    [({"events": []}, 422), ({"events": {}}, 422), ([], 422), ({"events": [{}] * 501}, 413)],
)
def test_a_batch_that_is_none_is_refused_whole(service, auth, document, status):
    answer = service.http.post("/v1/events:batch", json=document, headers=auth)

    assert answer.status_code == status


def test_validate_gives_the_answers_of_a_batch_and_writes_nothing(service, auth):
    service.http.post("/v1/events", json=purchase(), headers=auth)
    events = [
        purchase(),
        purchase(externalEventId="new"),
        purchase(payload={"amount": "9.00"}),
        purchase(externalEventId="bad", payload={"amount": "-1"}),
        {"event": {"key": "purchase_completed", "data": {}}},
    ]
    answer = service.http.post("/v1/events:validate", json={"events": events}, headers=auth)

    assert answer.status_code == 200
    assert [each["status"] for each in answer.json()["results"]] == [
        "duplicate",
        "created",
        "conflict",
        "rejected",
        "rejected",
    ]
    assert len(stored(service)) == 1
    assert service.app.quarantine.list("acme", now=service.app.now()).items == []


def test_an_event_is_found_by_its_key_in_its_own_organization_only(service, auth):
    service.http.post("/v1/events", json=purchase(), headers=auth)
    wanted = {"source": "hotmart", "externalEventId": "HT-1"}

    assert service.http.get("/v1/events", params=wanted, headers=auth).json()["sequence"] == 1
    other = service.key("other")
    assert service.http.get("/v1/events", params=wanted, headers=other).status_code == 404


def test_keys_decide_who_may_do_what(service, auth):
    post = service.http.post
    assert post("/v1/events", json=purchase()).status_code == 401
    assert post("/v1/events", json=purchase(), headers={"Authorization": "x"}).status_code == 401
    reader = service.key(scopes=["events:read"])
    assert post("/v1/events", json=purchase(), headers=reader).status_code == 403
    stripe = service.key(sources=["stripe"])
    assert post("/v1/events", json=purchase(), headers=stripe).status_code == 403
    token, key = service.app.api_keys.create("acme")
    service.app.api_keys.revoke("acme", key.key_id)
    revoked = {"Authorization": f"Bearer {token}"}
    assert post("/v1/events", json=purchase(), headers=revoked).status_code == 401
    assert stored(service) == []


def test_two_organizations_never_see_each_others_leads(service, auth):
    service.http.post("/v1/events", json=purchase(), headers=auth)
    other = service.key("other")

    taken = service.http.post("/v1/events", json=purchase(externalEventId="x"), headers=other)
    assert taken.status_code == 404
    for path in (
        "events",
        "events/1",
        "memories",
        "context",
        "features",
        "memories/purchase/totals",
    ):
        missing = service.http.get(f"/v1/leads/nobody/{path}", headers=other)
        foreign = service.http.get(f"/v1/leads/lead-1/{path}", headers=other)
        assert (foreign.status_code, foreign.json()["type"]) == (404, missing.json()["type"])
    same_key = service.http.post(
        "/v1/events", json=purchase(leadOrganizationId="lead-2"), headers=other
    )
    assert same_key.status_code == 201


def test_fifty_deliveries_of_one_event_by_an_unknown_address_make_one_event_of_one_lead(
    service, auth
):
    event = purchase(leadOrganizationId=None) | {
        "lead": {"channel": "whatsapp", "channelIdentifier": "+55 11 95555-0101"}
    }

    def post(_):
        return service.http.post("/v1/events", json=event, headers=auth)

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(post, range(50)))

    assert sorted(each.status_code for each in answers) == [200] * 49 + [201]
    assert len({each.json()["id"] for each in answers}) == 1
    assert len({each.json()["leadOrganizationId"] for each in answers}) == 1
    assert len(service.app.log.store.leads("acme", limit=10).items) == 1


def test_what_others_pass_on_and_cannot_be_translated_is_kept_raw(service, auth):
    event = {
        "metadata": {"eventId": "e1", "timestamp": "2026-03-15T14:00:00Z"},
        "source": {"sourceType": "CHECKOUT", "source": "hotmart"},
        "event": {"key": "purchase_completed", "data": {"lead": {"email": "ana@example.com"}}},
    }
    answer = service.http.post("/v1/events", json=event, headers=auth)

    assert answer.status_code == 422
    kept = service.app.quarantine.show("acme", answer.json()["quarantineId"], now=service.app.now())
    assert json.loads(kept.raw or b"") == event


def test_a_broken_projection_stores_the_event_and_names_the_lead_as_lagging(tmp_path):
    def fail(*_):
        raise ZeroDivisionError

    with running_service(tmp_path) as service:
        auth = service.key()
        with pytest.MonkeyPatch.context() as bug:
            bug.setattr(Memories, "evolve", fail)
            created = service.http.post("/v1/events", json=purchase(), headers=auth)
            assert created.status_code == 201
            assert list(service.app.maintenance.lagging()) == [("acme", "lead-1")]
            answer = service.http.get("/v1/leads/lead-1/memories", headers=auth)
            assert (answer.status_code, answer.json()["type"]) == (503, "/problems/view-broken")
            assert answer.headers["retry-after"] == "1"
            assert [each.state for each in service.app.maintenance.sweep()] == ["broken"]

        assert service.http.get("/v1/leads/lead-1/memories", headers=auth).json()["memories"]
        assert [each.state for each in service.app.maintenance.sweep()] == ["repaired"]
        assert list(service.app.maintenance.lagging()) == []


@pytest.mark.parametrize("name", ["native", "normalized"])
def test_the_examples_of_the_openapi_document_are_taken(service, auth, name):
    document = service.http.get("/v1/openapi.json").json()
    body = document["paths"]["/v1/events"]["post"]["requestBody"]["content"]["application/json"]
    example = body["examples"][name]["value"]

    answer = service.http.post("/v1/events", json=example, headers=auth)
    assert answer.status_code == 201
    assert answer.json()["mapped"]
    lead = answer.json()["leadOrganizationId"]
    assert service.http.get(f"/v1/leads/{lead}/memories", headers=auth).json()["memories"]

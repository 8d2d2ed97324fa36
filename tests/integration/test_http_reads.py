import sqlite3

import pytest

from handlers.reads import Reads
from tests.support.service import purchase, running_service

PRODUCTS = ("whey", "creatine", "whey")


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with running_service(tmp_path_factory.mktemp("reads")) as service:
        auth = service.key()
        for number, product in enumerate(PRODUCTS, start=1):
            event = purchase(
                externalEventId=f"HT-{number}",
                occurredAt=f"2026-03-{20 - number:02d}T12:00:00Z",
                payload={"productId": product, "amount": f"{number}0.00"},
                rawPayload={"as": "sent", "n": number},
            )
            assert service.http.post("/v1/events", json=event, headers=auth).status_code == 201
        view = {"productId": "whey", "amount": None, "currency": None}
        event = purchase(
            externalEventId="V-1",
            source="web",
            eventType="product_viewed",
            occurredAt="2026-03-01T12:00:00Z",
        )
        event["payload"] = {name: value for name, value in view.items() if value}
        assert service.http.post("/v1/events", json=event, headers=auth).status_code == 201
        yield service


@pytest.fixture(scope="module")
def get(service):
    auth = service.key()

    def get(path, **parameters):
        return service.http.get(f"/v1/leads/lead-1/{path}", params=parameters, headers=auth)

    return get


def test_events_are_listed_in_the_order_they_occurred_page_by_page(get):
    seen, cursor = [], None
    while True:
        page = get("events", limit=3, **({"cursor": cursor} if cursor else {})).json()
        seen += [each["occurredAt"][8:10] for each in page["events"]]
        cursor = page["cursor"]
        if cursor is None:
            break

    assert seen == ["01", "17", "18", "19"]
    newest = get("events", order="desc", limit=1).json()["events"]
    assert newest[0]["externalEventId"] == "HT-1"


def test_events_of_one_type_and_time_are_selected(get):
    listed = get(
        "events",
        type="purchase_completed",
        since="2026-03-17T12:00:00Z",
        until="2026-03-19T12:00:00Z",
    )

    assert [each["externalEventId"] for each in listed.json()["events"]] == ["HT-3", "HT-2"]


@pytest.mark.parametrize(
    "parameters",
    [{"since": "2026-03-17"}, {"limit": "0"}, {"order": "up"}, {"cursor": "x"}, {"typ": "a"}],
)
def test_a_parameter_that_is_not_valid_is_named(get, parameters):
    answer = get("events", **parameters)

    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


def test_one_event_comes_with_what_its_sender_sent(get):
    assert get("events/2").json()["rawPayload"] == {"as": "sent", "n": 2}
    assert get("events/9").status_code == 404
    assert get("events/x").status_code == 422


def test_memories_are_listed_read_and_explained(get):
    listed = get("memories", type="purchase").json()["memories"]
    assert [each["key"] for each in listed] == [
        "last_transaction",
        "product:creatine",
        "product:whey",
        "totals",
    ]
    one = get("memories/purchase/product:whey").json()
    assert one["value"]["totalSpent"] == {"BRL": "40.00"}
    assert one in listed
    explained = get("memories/purchase/product:whey/explain").json()
    assert [each["sequence"] for each in explained["events"]] == [3, 1]
    assert get("memories/purchase/product:none").status_code == 404


def test_memories_can_be_read_as_of_a_moment_of_either_time(get):
    def total(**moment):
        found = get("memories/purchase/totals", **moment)
        return found.json()["value"]["totalSpent"] if found.status_code == 200 else None

    assert total() == {"BRL": "60.00"}
    assert total(as_of="2026-03-18T12:00:00Z") == {"BRL": "50.00"}
    assert total(known_at="2026-03-20T11:59:59Z") is None


def test_a_context_keeps_its_budget(get):
    for budget in (50, 120, 400):
        found = get("context", budget=budget).json()
        assert found["tokens"] <= budget
    assert get("context", budget=10).status_code == 422


def test_a_context_names_the_days_of_the_deployment(service):
    def days(timezone):
        reads = Reads(service.app.log, service.app.now, timezone)
        return reads.context("acme", "lead-1", budget=400).text

    assert "19/03/2026" in days("America/Sao_Paulo")
    assert "20/03/2026" in days("Pacific/Auckland")


def test_features_are_of_their_instant(get):
    now = get("features").json()
    then = get("features", as_of="2026-03-18T12:00:00Z").json()

    assert (now["features"]["monetary_total"], then["features"]["monetary_total"]) == (60.0, 50.0)
    assert then["computedAt"] == "2026-03-18T12:00:00.000000Z"


def test_schemas_and_health_need_no_key(service):
    listed = service.http.get("/v1/schemas").json()["schemas"]
    assert {"purchase_completed", "purchase_refunded", "agent_insight"} <= {
        each["eventType"] for each in listed
    }
    for each in listed:
        assert service.http.get(each["href"]).json()["title"] == each["eventType"]
    assert service.http.get("/v1/schemas/nothing").status_code == 404
    assert service.http.get("/healthz").json() == {"status": "ok"}
    assert service.http.get("/readyz").json() == {"status": "ok"}


def test_paths_and_methods_that_are_not_there_are_problems(service):
    assert service.http.get("/v1/nothing").json()["status"] == 404
    assert service.http.delete("/v1/events").json()["status"] == 405


def test_a_locked_store_is_unavailable_and_nothing_is_half_written(tmp_path, monkeypatch):
    monkeypatch.setenv("LEADS_SQLITE_BUSY_MS", "50")
    with running_service(tmp_path) as service:
        auth = service.key()
        other = sqlite3.connect(service.app.settings.db, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        answer = service.http.post("/v1/events", json=purchase(), headers=auth)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        batch = service.http.post("/v1/events:batch", json={"events": [purchase()]}, headers=auth)
        assert (batch.status_code, batch.json()["results"][0]["status"]) == (503, "retry")
        other.execute("ROLLBACK")
        other.close()
        assert service.http.get("/v1/leads/lead-1/events", headers=auth).status_code == 404
        assert service.http.post("/v1/events", json=purchase(), headers=auth).status_code == 201


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("01980a5e-7c00-7000-8000-0000000000aa", True),
        ("4bf92f3577b34da6a3ce929d0e0e4736", True),
        ("5511955550101", False),
        ("maria da silva", False),
    ],
)
def test_a_request_keeps_the_id_of_its_caller_if_it_is_an_id(service, given, kept):
    answer = service.http.get("/healthz", headers={"X-Request-Id": given})

    assert (answer.headers["x-request-id"] == given) is kept

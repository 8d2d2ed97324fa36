from handlers.simulators.hubspot import Access, Shapes
from tests.support.hubspot_account import playing


def test_the_burst_is_counted_down_in_headers_and_then_refused():
    with playing(burst=3) as program:
        answers = [program.get("deals/1") for _ in range(4)]
        refused = answers[-1]
        program.clock.advance(10)
        later = program.get("deals/1")

    left = [each.headers["X-HubSpot-RateLimit-Remaining"] for each in answers]
    assert [each.status_code for each in answers] == [404, 404, 404, 429]
    assert left == ["2", "1", "0", "0"]
    assert answers[0].headers["X-HubSpot-RateLimit-Max"] == "3"
    assert answers[0].headers["X-HubSpot-RateLimit-Interval-Milliseconds"] == "10000"
    assert "X-HubSpot-RateLimit-Secondly-Remaining" in answers[0].headers
    assert "Retry-After" not in refused.headers
    assert refused.json()["policyName"] == "TEN_SECONDLY_ROLLING"
    assert refused.json()["errorType"] == "RATE_LIMIT"
    assert later.status_code == 404


def test_a_burst_can_be_refused_in_words_only():
    with playing(burst=0, shapes=Shapes(burst="plain")) as program:
        document = program.get("deals/1").json()

    assert "policyName" not in document
    assert document["category"] == "RATE_LIMITS"
    assert "ten_secondly" in document["message"]


def test_each_token_has_a_burst_of_its_own():
    with playing(burst=1, access=(Access(), Access(token="other"))) as program:
        statuses = [
            program.get("deals/1", token=each).status_code for each in (None, None, "other")
        ]
    assert statuses == [404, 429, 404]


def test_a_day_ends_where_the_account_is():
    # It is noon UTC, nine in the morning in São Paulo.
    with playing(daily=2, utc_offset_hours=-3) as program:
        statuses = [program.get("deals/1").status_code for _ in range(3)]
        program.clock.advance(14.9 * 3600)
        refused = program.get("deals/1")
        program.clock.advance(0.2 * 3600)
        tomorrow = program.get("deals/1")

    assert statuses == [404, 404, 429]
    assert (refused.status_code, refused.json()["policyName"]) == (429, "DAILY")
    assert tomorrow.status_code == 404
    assert tomorrow.headers["X-HubSpot-RateLimit-Daily-Remaining"] == "1"


def test_a_request_that_is_one_too_many_does_nothing():
    with playing(burst=1) as program:
        program.contact()
        refused = program.post("contacts", {"properties": {"firstname": "Bia"}})

        assert refused.status_code == 429
        assert len(program.account.contacts()) == 1

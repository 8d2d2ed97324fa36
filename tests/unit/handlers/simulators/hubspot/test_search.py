import pytest

from tests.support.hubspot_account import playing

PHONE = "hs_searchable_calculated_phone_number"


def ids(answer):
    assert answer.status_code == 200, answer.text
    return [each["id"] for each in answer.json()["results"]]


def test_a_search_sees_a_record_late_and_every_record_at_its_own_time():
    with playing(lag_s=(2.0, 6.0)) as program:
        made = [program.contact(city="Recife") for _ in range(12)]
        seen = []
        for _ in range(13):
            seen.append(len(ids(program.search("contacts", "city", "Recife", limit=100))))
            program.clock.advance(0.5)

    assert seen[:4] == [0, 0, 0, 0]
    assert seen[-1] == len(made)
    assert any(0 < each < len(made) for each in seen)
    assert seen == sorted(seen)


def test_a_read_by_id_sees_what_a_search_does_not_yet(program):
    made = program.contact(email="ana@example.com")

    assert program.get("contacts/ana@example.com", idProperty="email").json()["id"] == made
    assert ids(program.search("contacts", "email", "ana@example.com")) == []


def test_an_archived_record_is_found_for_a_while_and_then_never(program):
    made = program.contact(city="Recife")
    program.clock.advance(10)
    program.delete(f"contacts/{made}")

    assert ids(program.search("contacts", "city", "Recife")) == [made]
    program.clock.advance(10)
    assert ids(program.search("contacts", "city", "Recife")) == []


def test_a_change_is_searched_as_it_was_until_it_is_seen(program):
    made = program.contact(city="Recife")
    program.clock.advance(10)
    program.patch(f"contacts/{made}", {"properties": {"city": "Olinda"}})

    assert ids(program.search("contacts", "city", "Olinda")) == []
    program.clock.advance(10)
    assert ids(program.search("contacts", "city", "Olinda")) == [made]


def test_a_phone_is_searched_without_its_country():
    with playing(lag_s=(0.0, 0.0)) as program:
        made = program.contact(phone="+55 (11) 95555-0142", mobilephone="5511955550143")

        assert ids(program.search("contacts", PHONE, "11955550142")) == [made]
        assert ids(program.search("contacts", PHONE, "5511955550142")) == []
        mobile = "hs_searchable_calculated_mobile_number"
        assert ids(program.search("contacts", mobile, "11955550143")) == [made]


def test_an_area_code_that_is_the_country_code_too_stays():
    with playing(lag_s=(0.0, 0.0)) as program:
        made = program.contact(phone="55955550142")
        assert ids(program.search("contacts", PHONE, "55955550142")) == [made]


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({"operator": "EQ", "value": "recife"}, "AC"),
        ({"operator": "NEQ", "value": "Recife"}, "BD"),
        ({"operator": "IN", "values": ["olinda", "natal"]}, "B"),
        ({"operator": "NOT_IN", "values": ["recife"]}, "BD"),
        ({"operator": "HAS_PROPERTY"}, "ABC"),
        ({"operator": "NOT_HAS_PROPERTY"}, "D"),
        ({"operator": "CONTAINS_TOKEN", "value": "oli*"}, "B"),
        ({"operator": "GT", "value": "Olinda"}, "AC"),
        ({"operator": "LTE", "value": "Olinda"}, "B"),
        ({"operator": "BETWEEN", "value": "o", "highValue": "p"}, "B"),
    ],
)
def test_what_a_filter_finds(condition, found):
    with playing(lag_s=(0.0, 0.0)) as program:
        for name, city in zip("ABCD", ["Recife", "Olinda", "Recife", ""], strict=True):
            program.contact(firstname=name, city=city)
        filters = [{"propertyName": "city", **condition}]
        body = {"filterGroups": [{"filters": filters}], "properties": ["firstname"]}
        results = program.post("contacts/search", body).json()["results"]

    assert "".join(each["properties"]["firstname"] for each in results) == found


def test_filters_hold_together_and_groups_are_alternatives():
    with playing(lag_s=(0.0, 0.0)) as program:
        ana = program.contact(firstname="Ana", city="Recife")
        bia = program.contact(firstname="Bia", city="Olinda")
        program.contact(firstname="Ana", city="Olinda")
        groups = [
            [("firstname", "Ana"), ("city", "Recife")],
            [("firstname", "Bia")],
        ]
        body = {
            "filterGroups": [
                {"filters": [{"propertyName": n, "operator": "EQ", "value": v} for n, v in each]}
                for each in groups
            ]
        }
        assert ids(program.post("contacts/search", body)) == [ana, bia]


def test_deals_are_searched_by_their_contact():
    with playing(lag_s=(0.0, 0.0)) as program:
        contact = program.contact()
        made = program.deal(contact)
        program.deal()
        assert ids(program.search("deals", "associations.contact", contact)) == [made]


def test_what_is_found_comes_in_pages_in_the_order_asked_for():
    with playing(lag_s=(0.0, 0.0)) as program:
        for amount in ("10", "9", "100"):
            program.deal(amount=amount, dealname="Ana")
        sort = [{"propertyName": "amount", "direction": "DESCENDING"}]
        body = {"sorts": sort, "limit": 2, "properties": ["amount"]}
        first = program.search("deals", "dealname", "Ana", **body).json()
        after = first["paging"]["next"]["after"]
        rest = program.search("deals", "dealname", "Ana", **body, after=after).json()

    amounts = [each["properties"]["amount"] for each in first["results"] + rest["results"]]
    assert amounts == ["100", "10", "9"]
    assert (first["total"], "paging" in rest) == (3, False)


@pytest.mark.parametrize(
    "body",
    [
        {"limit": 201},
        {"limit": 100, "after": 9_901},
        {"filterGroups": [{"filters": []}] * 6},
        {"filterGroups": [{"filters": [{"propertyName": "city", "operator": "HAS_PROPERTY"}] * 7}]},
        {"filterGroups": [{"filters": [{"propertyName": "nada", "operator": "EQ"}]}]},
        {"filterGroups": [{"filters": [{"propertyName": "city", "operator": "LIKE"}]}]},
        {"query": "x" * 3_000},
        {"filterGroups": [1]},
    ],
)
def test_a_search_that_asks_too_much_is_refused(program, body):
    assert program.post("contacts/search", body).status_code == 400


def test_five_searches_a_second_and_no_more_for_the_account():
    with playing(searches=5) as program:
        answers = [program.search("contacts", "city", "Recife") for _ in range(6)]
        program.clock.advance(1.0)
        later = program.search("deals", "dealname", "Ana")
    refused = answers[-1]

    assert [each.status_code for each in answers] == [200] * 5 + [429]
    assert later.status_code == 200
    assert "Retry-After" not in refused.headers
    assert "policyName" not in refused.json()
    assert refused.json()["message"] == "You have reached your secondly limit."
    assert refused.json()["category"] == "RATE_LIMITS"


def test_no_search_tells_the_burst_and_half_of_them_tell_the_day(program):
    headers = [program.search("contacts", "city", "Recife").headers for _ in range(4)]

    assert not any("X-HubSpot-RateLimit-Max" in each for each in headers)
    assert sum("X-HubSpot-RateLimit-Daily" in each for each in headers) == 2

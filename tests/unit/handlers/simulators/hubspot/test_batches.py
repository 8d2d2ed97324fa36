import pytest

from tests.support.hubspot_account import playing

KEY = "lead_session_id"


def inputs(*ids, **more):
    return {"inputs": [{"id": each} for each in ids], **more}


def change(record_id, trace=None, **values):
    one = {"id": record_id, "properties": values}
    return one if trace is None else {**one, "objectWriteTraceId": trace}


def upserted(key, trace=None, **values):
    usual = {"dealname": "Ana", "dealstage": "1000001", "pipeline": "default"}
    return {**change(key, trace, **{**usual, **values}), "idProperty": KEY}


def test_many_are_read_by_key_and_what_is_missing_is_named(program):
    first = program.deal(lead_session_id="a")
    second = program.deal(lead_session_id="b")
    body = inputs("a", "nada", "b", idProperty=KEY, properties=["dealstage", KEY])
    answer = program.post("deals/batch/read", body)
    told = answer.json()

    assert answer.status_code == 207
    assert [each["id"] for each in told["results"]] == [first, second]
    assert told["results"][0]["properties"][KEY] == "a"
    assert (told["numErrors"], told["errors"][0]["category"]) == (1, "OBJECT_NOT_FOUND")
    assert told["errors"][0]["context"]["ids"] == ["nada"]


def test_what_is_archived_is_read_where_it_is_asked_for(program):
    made = program.deal(lead_session_id="a")
    program.delete(f"deals/{made}")

    assert program.post("deals/batch/read", inputs(made)).status_code == 207
    answer = program.post("deals/batch/read", inputs(made), archived="true")
    assert answer.json()["results"][0]["archived"] is True


@pytest.mark.parametrize("batch", ["read", "update", "upsert"])
def test_a_batch_has_a_hundred_inputs_and_no_more(program, batch):
    body = {"inputs": [upserted(str(number)) for number in range(101)]}
    assert program.post(f"deals/batch/{batch}", body).status_code == 400
    assert program.account.deals() == []


@pytest.mark.parametrize("batch", ["read", "update", "upsert"])
def test_a_batch_without_its_wrapper_answers_well_and_does_nothing(program, batch):
    answer = program.post(f"deals/batch/{batch}", {"input": [upserted("a")]})

    assert (answer.status_code, answer.json()["results"]) == (200, [])
    assert program.account.deals() == []


def test_an_upsert_makes_what_is_not_there_and_changes_what_is(program):
    made = program.deal(lead_session_id="a")
    body = {"inputs": [upserted("a", dealname="Bia"), upserted("b", trace="t-2")]}
    first, second = program.post("deals/batch/upsert", body).json()["results"]

    assert (first["id"], first["new"], first["properties"]["dealname"]) == (made, False, "Bia")
    assert (second["new"], second["objectWriteTraceId"]) == (True, "t-2")
    assert second["properties"][KEY] == "b"


@pytest.mark.parametrize("batch", ["update", "upsert"])
def test_an_input_that_comes_twice_refuses_the_batch(program, batch):
    body = {"inputs": [upserted("a"), upserted("a")]}
    assert program.post(f"deals/batch/{batch}", body).status_code == 400
    assert program.account.deals() == []


def test_what_is_wrong_with_an_input_is_told_by_its_trace(program):
    made = program.deal()
    body = {
        "inputs": [
            change(made, "t-1", dealname="Bia"),
            change("404", "t-2", dealname="Bia"),
            change(program.deal(), "t-3", amount="x"),
        ]
    }
    answer = program.post("deals/batch/update", body)
    told = answer.json()

    assert (answer.status_code, told["numErrors"]) == (207, 2)
    assert [each["objectWriteTraceId"] for each in told["results"]] == ["t-1"]
    assert [each["context"] for each in told["errors"]] == [
        {"ids": ["404"]},
        {"objectWriteTraceId": ["t-3"]},
    ]


def test_what_is_wrong_with_an_input_without_a_trace_refuses_the_batch(program):
    made = program.deal(dealname="Ana")
    body = {"inputs": [change(made, dealname="Bia"), change(program.deal(), amount="x")]}

    assert program.post("deals/batch/update", body).status_code == 400
    assert program.account.deals()[0].values["dealname"] == "Ana"


def test_a_conflict_refuses_the_whole_batch_and_takes_it_back():
    with playing(lag_s=(0.0, 0.0)) as program:
        program.contact(email="ana@example.com")
        bia, caio = program.contact(), program.contact()
        body = {
            "inputs": [
                change(bia, "t-1", email="bia@example.com"),
                change(caio, "t-2", email="ana@example.com"),
            ]
        }
        answer = program.post("contacts/batch/update", body)

        assert answer.status_code == 409
        by_email = program.get("contacts/bia@example.com", idProperty="email")
        assert by_email.status_code == 404
        assert program.search("contacts", "email", "bia@example.com").json()["total"] == 0


@pytest.mark.parametrize("by", ["email", "firstname", None])
def test_an_upsert_goes_by_a_unique_property_and_not_by_email(program, by):
    one = {"id": "ana@example.com", "properties": {"firstname": "Ana"}, "idProperty": by}
    assert program.post("contacts/batch/upsert", {"inputs": [one]}).status_code == 400

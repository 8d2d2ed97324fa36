"""What operations cost on DynamoDB, counted at the client (DESIGN §4; index entries not counted)."""

import pytest

from domain import keys, limits
from domain.records import Refused
from tests.support import make
from tests.support.dynamodb import on_ministack
from tests.support.faults import READ, WRITE, counted


@pytest.fixture
def factory(ministack, account):
    with on_ministack(ministack, account) as factory:
        yield factory


@pytest.fixture
def recorder(factory):
    return factory.recorder


def insert(recorder, write):
    recorder.insert_events(write.events, commit=write.commit)


def test_an_append_of_a_small_event_without_rows_is_two_trips_and_six_units(factory, recorder):
    insert(recorder, make.write())

    with counted(factory.client) as calls:
        (wanted,) = make.write(2).commit.receipts
        head = recorder.snapshot("lead-one", receipts=[wanted.key]).head
        insert(recorder, make.write(2, after=head))

    assert calls.operations == [READ, WRITE]
    assert calls.write_units == 6


def test_an_event_of_a_whole_kilobyte_of_payload_costs_one_unit_pair_more(factory, recorder):
    record = make.record(payload={"text": "x" * 1024})

    with counted(factory.client) as calls:
        recorder.insert_events([record], commit=make.commit([record]))

    assert calls.write_units == 8


def test_a_duplicate_that_was_looked_up_is_one_trip_and_no_unit(factory, recorder):
    write = make.write()
    insert(recorder, write)

    with counted(factory.client) as calls:
        (receipt,) = write.commit.receipts
        assert recorder.snapshot("lead-one", receipts=[receipt.key]).receipts

    assert calls.operations == [READ]
    assert calls.write_units == 0


def test_a_duplicate_that_was_not_looked_up_is_one_trip_and_six_units(factory, recorder):
    write = make.write()
    insert(recorder, write)

    with counted(factory.client) as calls, pytest.raises(Refused) as caught:
        insert(recorder, write)

    assert calls.operations == [WRITE]
    assert calls.write_units <= 6
    assert caught.value.receipts


def test_each_small_row_of_a_commit_costs_two_units_and_no_trip(factory, recorder):
    record = make.record()
    rows = tuple(make.row(keys.memory("lead-one", "t", str(n)), n=n) for n in range(6))

    with counted(factory.client) as calls:
        recorder.snapshot("lead-one", [row.key for row in rows])
        recorder.insert_events([record], commit=make.commit([record], puts=rows))

    assert calls.operations == [READ, WRITE]
    assert calls.write_units == 6 + 2 * len(rows)


@pytest.mark.parametrize("event_type", [None, "purchase_completed"])
@pytest.mark.parametrize("desc", [False, True])
def test_a_page_of_events_is_one_query_that_reads_what_it_returns(
    factory, recorder, event_type, desc
):
    records = [
        make.record(n, event_type="purchase_completed" if n % 2 else "purchase_abandoned")
        for n in range(1, 13)
    ]
    recorder.insert_events(records, commit=make.commit(records))

    with counted(factory.client) as calls:
        page = recorder.select_by_time("lead-one", event_type=event_type, desc=desc, limit=4)

    (call,) = calls
    assert call.operation == "Query"
    assert "FilterExpression" not in call.request
    # One item more than the page holds, to know whether there is another page.
    assert call.request["Limit"] == len(page.items) + 1


def test_no_list_of_events_fetches_the_senders_own_bytes(factory, recorder):
    record = make.record(raw_payload=b"x" * 20_000)
    recorder.insert_events([record], commit=make.commit([record]))

    with counted(factory.client) as calls:
        recorder.select_events("lead-one")
        recorder.select_by_time("lead-one")
        recorder.select_by_time("lead-one", event_type="purchase_completed")

    for call in calls:
        fetched = call.request["ProjectionExpression"].split(", ")
        names = {call.request["ExpressionAttributeNames"][name] for name in fetched}
        assert "payload" in names
        assert "rawPayload" not in names


def test_a_page_of_rows_is_one_query(factory):
    state = factory.state_table()
    for number in range(5):
        state.put(make.row(keys.memory("lead-one", "t", str(number)), n=number))

    with counted(factory.client) as calls:
        page = state.query(keys.memory_partition("lead-one"), prefix="t#", limit=3)

    assert len(page.items) == 3
    assert calls.operations == ["Query"]


@pytest.fixture
def megabytes(recorder):
    """Twelve events of 300 KB: DynamoDB ends every answer at 1 MB."""
    for start in range(1, 13, 4):
        records = [make.record(n, payload={"text": "x" * 300_000}) for n in range(start, start + 4)]
        head = recorder.snapshot("lead-one").head
        recorder.insert_events(records, commit=make.commit(records, after=head))
    return list(range(1, 13))


def test_a_stream_is_read_in_as_many_queries_as_it_has_megabytes(factory, recorder, megabytes):
    with counted(factory.client) as calls:
        found = recorder.select_events("lead-one")

    assert [event.originator_version for event in found] == megabytes
    assert 3 <= len(calls) <= 5


@pytest.mark.parametrize("event_type", [None, "purchase_completed"])
def test_a_page_that_dynamodb_cuts_short_is_short_and_goes_on(
    factory, recorder, megabytes, event_type
):
    found, cursor = [], None
    with counted(factory.client) as calls:
        while not calls or cursor:
            page = recorder.select_by_time("lead-one", event_type=event_type, cursor=cursor)
            found += [event.originator_version for event in page.items]
            cursor = page.cursor

    assert found == megabytes
    assert 3 <= len(calls) <= 5


def test_our_units_are_those_the_engine_counts(factory, recorder):
    record = make.record(payload={"text": "ção" * 900})
    commit = make.commit([record], puts=(make.row(note="é" * 5000, n=10**20),))
    with counted(factory.client) as calls:
        recorder.insert_events([record], commit=commit)
    request = calls[0].request

    answer = factory.client.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": put["TableName"], "Item": put["Item"]}}
            for action in request["TransactItems"]
            for put in [action["Put"]]
        ],
        ReturnConsumedCapacity="TOTAL",
    )

    assert calls.write_units == sum(each["CapacityUnits"] for each in answer["ConsumedCapacity"])
    assert calls.write_units > 6 + limits.write_units(10_000)

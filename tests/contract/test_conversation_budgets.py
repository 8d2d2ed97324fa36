"""What a conversation costs on DynamoDB, counted at the client (DESIGN §4; index entries not counted)."""

import pytest

from domain import keys
from tests.support.backends import ministack_backend
from tests.support.crashes import log_of, of_type
from tests.support.faults import READ, WRITE, counted
from tests.support.talks import World, lead_of, receive


@pytest.fixture
def store(ministack, account):
    with ministack_backend(ministack, account) as made:
        yield made


@pytest.fixture
def client(store):
    return store.factory.client


@pytest.fixture
def world(store, tmp_path):
    return World(store, tmp_path)


@pytest.fixture
def open_session(world):
    """A process that has answered the lead twice, a little while ago."""
    process = world.process()
    turn(world, process, "oi")
    turn(world, process, "tudo bem?")
    world.pass_time(seconds=5)
    return process


def turn(world, process, text):
    receive(process, world.says(text))
    process.talks.worker.work("default", lead_of(process))


def test_the_first_message_of_a_lead_is_no_more_than_five_trips_and_34_units(world, client):
    process = world.process()

    with counted(client) as calls:
        receive(process, world.says("Oi, bom dia! Vocês fazem sequenciamento de DNA?"))

    # The last trip looks for what an earlier deployment left of the lead.
    assert calls.operations == ["BatchGetItem", READ, WRITE, "Query"]
    assert calls.write_units <= 34


def test_a_message_in_an_open_session_is_two_trips_and_no_more_than_16_units(
    world, client, open_session
):
    with counted(client) as calls:
        receive(open_session, world.says("Quero sequenciamento, quanto custa?"))

    assert calls.operations == [READ, WRITE]
    assert calls.write_units <= 16


def test_a_message_to_a_process_that_just_started_is_no_more_than_five_trips(
    world, client, open_session
):
    cold = world.process()

    with counted(client) as calls:
        receive(cold, world.says("Quero sequenciamento, quanto custa?"))

    assert len(calls) <= 5
    assert calls.write_units <= 16


def test_a_message_delivered_twice_writes_nothing(world, client, open_session):
    message = world.says("Quero sequenciamento, quanto custa?")
    receive(open_session, message)

    with counted(client) as calls:
        receive(open_session, message)

    assert calls.operations == [READ]
    assert calls.write_units == 0


def test_a_whole_turn_is_no_more_than_12_trips_and_48_units(world, client, open_session):
    lead = lead_of(open_session)

    with counted(client) as calls:
        receive(open_session, world.says("Quero sequenciamento, quanto custa?"))
        open_session.talks.worker.work("default", lead)

    assert of_type(log_of(open_session), "reply_sent")[2:], "the turn was not whole"
    assert len(calls) <= 12
    assert calls.write_units <= 48


def test_a_status_is_two_trips_and_writes_only_what_it_is_about(world, client, open_session):
    status = world.status(world.phone.texts[0], "delivered")

    with counted(client) as calls:
        receive(open_session, status)

    assert calls.operations == [READ, WRITE]
    assert calls.write_units <= 8


def test_a_history_of_a_thousand_messages_costs_the_turn_one_page(world, client, open_session):
    lead = lead_of(open_session)
    with_a_long_history(world, open_session)
    receive(open_session, world.says("Quero sequenciamento, quanto custa?"))

    with counted(client) as calls:
        open_session.talks.worker.work("default", lead)

    pages = [each.request for each in calls if is_of(each, keys.session_partition(lead))]
    assert len(pages) == 1
    assert pages[0]["Limit"] <= 61
    assert len(calls) <= 12
    assert len(world.phone.texts) == 3


def with_a_long_history(world, process):
    """Let a thousand messages of the lead be known from before, in commits that carry their rows."""
    lead = lead_of(process)
    for start in range(0, 1000, 25):
        process.talks.deciding.record(
            "default",
            lead,
            lambda _, facts, start=start: [
                facts.fact(
                    "message_imported",
                    "whatsapp_history",
                    f"wamid.OLD{start + number}",
                    occurred_at=f"2026-03-19T12:{start // 25:02d}:{number:02d}.000000Z",
                    channel="whatsapp",
                    direction="inbound",
                    media_type="text",
                    text="uma mensagem de antes",
                )
                for number in range(25)
            ],
        )
    head = process.log.reader.head(lead)
    assert head.projected == head.version > 1000


def is_of(call, partition):
    """Tell whether a call is a query of a partition."""
    values = call.request.get("ExpressionAttributeValues", {}).values()
    return call.operation == "Query" and {"S": partition} in values

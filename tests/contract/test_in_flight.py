"""The recorder that shows a commit item by item: what plain reads see, and what a snapshot refuses."""

from dataclasses import replace

import pytest

from domain import keys
from domain.errors import Unavailable
from domain.records import Identity
from tests.support import make
from tests.support.dynamodb import on_moto
from tests.support.in_flight import InFlightLog

CLAIM = Identity(keys.identity("org-one", "whatsapp", "5511900000000"), "lead-one")
TOTALS = keys.memory("lead-one", "purchase", "totals")
LAST = keys.memory("lead-one", "purchase", "last")
INDEX = "org-one#STATE#OPEN"


def row(key, value, state="OPEN"):
    return replace(make.row(key, value=value), gsi1=(f"org-one#STATE#{state}", key.sk))


@pytest.fixture
def log():
    with on_moto() as factory:
        log = InFlightLog(factory.recorder, factory.state_table())
        first = [make.record(1)]
        log.insert_events(first, commit=make.commit(first, puts=(row(TOTALS, 1), row(LAST, 1))))
        yield log


@pytest.fixture
def second():
    return make.record(2)


@pytest.fixture
def flight(log, second):
    flight = log.hold()
    commit = make.commit(
        [second],
        after=make.head(),
        identities=(CLAIM,),
        puts=(row(TOTALS, 2, "CLOSED"),),
        deletes=(LAST,),
    )
    log.insert_events([second], commit=commit)
    return flight


def seen(log):
    """What plain reads see, by kind of item."""
    (key,) = [receipt.key for receipt in make.commit([make.record(2)]).receipts]
    events = [event.originator_version for event in log.select_events("lead-one")]
    by_time = [event.originator_version for event in log.select_by_time("lead-one").items]
    assert events == by_time
    return {
        "events": events,
        "receipt": log.receipt(key) is not None,
        "identity": log.resolve([CLAIM.key]),
        "rows": [(each.key, each.attributes["value"]) for each in log.state.query(TOTALS.pk).items],
        "index": [each.key for each in log.state.query_index(INDEX).items],
        "totals": log.state.get(TOTALS).attributes["value"],
        "last": log.state.get(LAST) is not None,
    }


BEFORE = {
    "events": [1],
    "receipt": False,
    "identity": {},
    "rows": [(LAST, 1), (TOTALS, 1)],
    "index": [LAST, TOTALS],
    "totals": 1,
    "last": True,
}
AFTER = {
    "events": [1, 2],
    "receipt": True,
    "identity": {CLAIM.key: "lead-one"},
    "rows": [(TOTALS, 2)],
    "index": [],
    "totals": 2,
    "last": False,
}


def test_a_commit_in_flight_is_not_seen_and_one_that_landed_is(log, flight):
    assert seen(log) == BEFORE

    flight.land()

    assert seen(log) == AFTER
    assert log.snapshot("lead-one", [TOTALS]).head.version == 2


def test_items_show_one_by_one_in_any_order(log, flight, second):
    flight.show("row", TOTALS)
    assert seen(log) == {
        **BEFORE,
        "rows": [(LAST, 1), (TOTALS, 2)],
        "index": [LAST],
        "totals": 2,
    }

    flight.show("event", 2)
    assert log.select_events("lead-one")[-1] == second
    flight.show("identity", CLAIM.key)
    flight.show("row", LAST)
    (receipt,) = make.commit([second]).receipts
    flight.show("receipt", receipt.key)
    assert seen(log) == AFTER
    assert flight.hidden == {("head", "lead-one")}


def test_an_item_shows_once(flight):
    flight.show("event", 2)

    with pytest.raises(KeyError):
        flight.show("event", 2)


@pytest.mark.parametrize("key", [TOTALS, LAST])
def test_a_snapshot_of_what_is_in_flight_is_refused(log, flight, key):
    flight.show("head", "lead-one")

    assert log.snapshot("lead-one").head.version == 2
    with pytest.raises(Unavailable):
        log.snapshot("lead-one", [key])
    flight.show("row", key)
    log.snapshot("lead-one", [key])


def test_no_write_touches_what_is_in_flight(log, flight):
    third = make.write(3, after=make.head(version=2, projected=2, rev=2))

    with pytest.raises(Unavailable):
        log.insert_events(third.events, commit=third.commit)
    with pytest.raises(Unavailable):
        log.state.put(row(TOTALS, 9))
    with pytest.raises(Unavailable):
        log.state.delete(LAST)
    other = make.write(lead="lead-two")
    log.insert_events(other.events, commit=other.commit)
    flight.land()
    log.insert_events(third.events, commit=third.commit)


def test_settling_lets_everything_land(log, flight):
    log.settle()

    assert seen(log) == AFTER
    assert log.settled == 1


def test_a_commit_that_failed_leaves_the_next_to_be_held(log, second):
    flight = log.hold()
    wrong = make.write(2, after=make.head(rev=7))
    (answer,) = log.insert_many([wrong])
    assert answer is not None
    assert flight.hidden == set()

    right = make.write(2, after=make.head())
    log.insert_events(right.events, commit=right.commit)
    assert log.select_events("lead-one", desc=True, limit=1)[0].originator_version == 1
    flight.land()
    assert log.select_events("lead-one", desc=True, limit=1) == [second]

"""What could not be translated is kept as it came, and leaves when it can be."""

import itertools
import random
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from adapters.sqlite import Factory
from domain import instants, keys
from domain.errors import FieldError, InvalidEvent, LeadError, LimitExceeded, NotFound
from domain.ports.storage import StateTable
from handlers.ingest import Item, Sender, Status
from handlers.quarantine import KEPT_FOR, MAX_RAW_BYTES, Quarantine, Reason

NOW = "2026-03-20T12:00:00.000000Z"
GONE = instants.shift(NOW, KEPT_FOR)
RAW = b'{"event": {"key": "x"}, "name": "Ana"}\n'
WHY = InvalidEvent(
    "Not valid.", hint="Correct it.", fields=[FieldError("/event/data", "is required")]
)
SENDER = Sender(organization_id="org-one")


class Door:
    """Takes documents in as it is told to, and remembers what it was given."""

    def __init__(self, status: Status, *, then: Status | None = None) -> None:
        self.answers: dict[str, Status] = {"validate": status, "batch": then or status}
        self.calls: list[tuple[str, list[Any], Sender]] = []

    def validate(self, documents: Iterable[Any], sender: Sender) -> list[Item]:
        return self._answer("validate", documents, sender)

    def batch(self, documents: Iterable[Any], sender: Sender) -> list[Item]:
        return self._answer("batch", documents, sender)

    def _answer(self, name: str, documents: Iterable[Any], sender: Sender) -> list[Item]:
        self.calls.append((name, list(documents), sender))
        return [Item(index=0, status=self.answers[name])]


@pytest.fixture
def table() -> Iterator[StateTable]:
    factory = Factory({"LEADS_DB": ":memory:"})
    yield factory.state_table()
    factory.close()


@pytest.fixture
def quarantine(table) -> Quarantine:
    return Quarantine(table)


@pytest.fixture
def keep(quarantine):
    numbers = itertools.count(1)

    def kept(organization_id="org-one", raw=RAW, *, now=NOW):
        return quarantine.keep(
            organization_id,
            raw,
            WHY,
            "normalized",
            now=now,
            new_id=lambda: f"id-{next(numbers):03}",
        )

    return kept


def test_a_thing_is_kept_as_it_came_with_the_reason(quarantine, keep):
    quarantine_id = keep()
    found = quarantine.show("org-one", quarantine_id, now=NOW)

    assert found.raw == RAW
    assert found.size == len(RAW)
    assert found.reason == Reason("invalid-event", "Not valid.", WHY.fields)
    assert (found.adapter, found.received_at, found.expires_at) == ("normalized", NOW, GONE)


def test_things_are_listed_by_arrival_without_their_bytes_page_by_page(quarantine, keep):
    made = [keep() for _ in range(3)]
    first = quarantine.list("org-one", now=NOW, limit=2)
    second = quarantine.list("org-one", now=NOW, limit=2, cursor=first.cursor)
    listed = [*first.items, *second.items]

    assert [each.quarantine_id for each in listed] == made
    assert {each.raw for each in listed} == {None}


def test_organizations_do_not_see_each_others_quarantine(quarantine, keep):
    quarantine_id = keep("org-two")

    assert quarantine.list("org-one", now=NOW).items == []
    with pytest.raises(NotFound):
        quarantine.show("org-one", quarantine_id, now=NOW)
    with pytest.raises(NotFound):
        quarantine.redrive(SENDER, quarantine_id, Door("created"), now=NOW, apply=True)
    assert quarantine.show("org-two", quarantine_id, now=NOW).raw == RAW


def test_a_thing_is_gone_after_thirty_days_whether_the_store_took_it_or_not(
    quarantine, keep, table
):
    quarantine_id = keep()
    row = table.get(keys.quarantine("org-one", quarantine_id))
    last = instants.shift(GONE, -instants.to_datetime(GONE).resolution)

    assert row.ttl == instants.to_datetime(GONE).timestamp()
    assert GONE == "2026-04-19T12:00:00.000000Z"
    assert quarantine.show("org-one", quarantine_id, now=last)
    assert quarantine.list("org-one", now=last).items
    assert quarantine.list("org-one", now=GONE).items == []
    with pytest.raises(NotFound):
        quarantine.show("org-one", quarantine_id, now=GONE)


@pytest.mark.parametrize("quarantine_id", ["", "nothing", "a#b", "x" * 5000, "\x00"])
def test_a_thing_nobody_kept_is_not_found(quarantine, quarantine_id):
    with pytest.raises(NotFound):
        quarantine.show("org-one", quarantine_id, now=NOW)


def test_what_the_store_could_not_hold_is_refused(quarantine, keep):
    noise = random.Random(1).randbytes(MAX_RAW_BYTES + 1000)
    keep(raw=noise[: MAX_RAW_BYTES - 1000])
    with pytest.raises(LimitExceeded):
        keep(raw=noise)

    assert keep(raw=b"x" * 5_000_000)
    assert len(quarantine.list("org-one", now=NOW).items) == 2


def test_reading_again_says_what_would_change_and_writes_nothing(quarantine, keep):
    quarantine_id = keep()
    door = Door("created")
    redriven = quarantine.redrive(SENDER, quarantine_id, door, now=NOW)

    assert redriven.before == Reason("invalid-event", "Not valid.", WHY.fields)
    assert redriven.after.status == "created"
    assert not redriven.released
    assert door.calls == [("validate", [{"event": {"key": "x"}, "name": "Ana"}], SENDER)]
    assert quarantine.show("org-one", quarantine_id, now=NOW)


@pytest.mark.parametrize("status", ["created", "duplicate"])
def test_what_can_be_recorded_now_is_and_leaves(quarantine, keep, status):
    quarantine_id = keep()
    door = Door("created", then=status)
    redriven = quarantine.redrive(SENDER, quarantine_id, door, now=NOW, apply=True)

    assert redriven.released
    assert redriven.after.status == status
    assert [name for name, *_ in door.calls] == ["validate", "batch"]
    with pytest.raises(NotFound):
        quarantine.show("org-one", quarantine_id, now=NOW)


@pytest.mark.parametrize("status", ["rejected", "conflict", "retry"])
def test_what_is_still_wrong_stays_and_is_not_sent(quarantine, keep, status):
    quarantine_id = keep()
    door = Door(status)
    redriven = quarantine.redrive(SENDER, quarantine_id, door, now=NOW, apply=True)

    assert not redriven.released
    assert [name for name, *_ in door.calls] == ["validate"]
    assert quarantine.show("org-one", quarantine_id, now=NOW)


def test_what_the_log_does_not_take_after_all_stays(quarantine, keep):
    quarantine_id = keep()
    redriven = quarantine.redrive(
        SENDER, quarantine_id, Door("created", then="retry"), now=NOW, apply=True
    )

    assert not redriven.released
    assert redriven.after.status == "retry"
    assert quarantine.show("org-one", quarantine_id, now=NOW)


def test_bytes_that_are_no_document_reach_the_door_as_the_error_that_says_so(quarantine, keep):
    door = Door("rejected")
    quarantine.redrive(SENDER, keep(raw=b"<xml/>"), door, now=NOW)
    ((_, (document,), _),) = door.calls

    assert isinstance(document, LeadError)

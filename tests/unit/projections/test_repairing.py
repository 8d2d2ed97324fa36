import pytest

from domain import limits
from domain.items import row_item
from domain.keys import Key
from domain.records import Row
from projections.committing import lag_row
from projections.repairing import _changes, _chunks
from tests.support import toy
from tests.support.make import LEAD


def rows(count, size=1):
    keys = [Key("TOY#lead-one", f"row#{n:04d}") for n in range(count)]
    return {key: Row(key, {"leadOrganizationId": LEAD, "pad": "x" * size}) for key in keys}


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, [0]), (1, [1]), (97, [97]), (98, [97, 1]), (250, [97, 97, 56])]
)
def test_a_chunk_holds_ninety_seven_rows_and_there_is_always_one(count, sizes):
    changed = rows(count)
    chunks = list(_chunks(changed))
    assert [len(chunk) for chunk in chunks] == sizes
    assert {key: row for chunk in chunks for key, row in chunk.items()} == changed


def test_a_chunk_stays_below_the_bytes_of_a_transaction():
    chunks = list(_chunks(rows(30, 300_000)))
    assert len(chunks) == 3
    for chunk in chunks:
        size = sum(limits.item_size(row_item(row)) for row in chunk.values() if row is not None)
        assert size < limits.MAX_TRANSACTION_BYTES


def test_only_what_differs_is_written_and_what_is_not_expected_is_deleted():
    stored, expected = rows(3), rows(2)
    changed_key = next(iter(expected))
    expected[changed_key] = Row(changed_key, {"leadOrganizationId": LEAD, "pad": "y"})
    orphan = next(key for key in stored if key not in expected)
    assert _changes(stored, expected) == {changed_key: expected[changed_key], orphan: None}


def test_a_lag_row_without_a_gap_is_dropped(world):
    world.log().append([toy.counted(1, "a")])
    world.rows.put(lag_row(LEAD, "org-one"))
    assert world.log().repairer.repair(LEAD).state == "current"
    assert not world.lags()


def test_a_lag_row_is_kept_when_a_gap_opens_meanwhile(world):
    world.log().append([toy.counted(1, "a")])
    world.rows.put(lag_row(LEAD, "org-one"))
    sweeper = world.log()
    sweeper.steps.before("insert_events", lambda: world.log(2).append([toy.counted(2, "b")]))
    sweeper.repairer.repair(LEAD)
    assert world.head().version == 2
    assert world.lags()


def test_a_row_that_could_never_be_written_is_reported_before_anything_is_given_up(world):
    world.log().append([toy.counted(1, "a")])
    world.log(2).append([toy.fact("toy_shelved", "b", item="x" * 3000)])
    assert world.log().repairer.repair(LEAD).state == "broken"
    assert world.head().projected == 1


def test_an_event_whose_bytes_are_damaged_is_named_and_nothing_is_changed(world):
    world.log().append([toy.counted(1, "a")])
    log = world.log(2)
    log.steps.change(
        "select_events",
        lambda found: [type(found[0])(**{**vars(found[0]), "state": b"{"})],
    )
    repaired = log.repairer.repair(LEAD)
    assert repaired.state == "corrupt"
    assert "Event 1" in repaired.detail
    assert world.head().fold_version == 1

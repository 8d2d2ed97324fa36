"""Rule 9: rows are listed after commits in flight have settled; only declared keys are touched."""

import pytest

from projections import verifying
from projections.reading import PAGE, Reader
from projections.repairing import Repaired, Repairer
from projections.verifying import Folds, Verifier
from tests.support import toy
from tests.support.head_world import BOTH, caught, driven, dying
from tests.support.in_flight import InFlightLog
from tests.support.make import LEAD


def take_every_row(self, lead, projection, prefix=""):
    """List a partition whole, whoever's the rows are."""
    return [
        row
        for pk in projection.partitions(lead)
        for row in self.table.query(pk, prefix=prefix, limit=PAGE).items
    ]


def an_upgrade_meets_a_commit_in_flight(world, flights):
    world.log(1).append([toy.counted(10, "a")])
    flight = flights.hold()
    world.log(1).append([toy.counted(-9, "b")])
    for item in sorted(flight.hidden - {("row", toy.count_key())}, key=repr):
        flight.show(*item)
    world.repair(world.log(2))
    return world.violations


def a_rebuild_meets_a_chunk_in_flight(world, flights):
    world.log(1).append([toy.counted(1, "a"), toy.fact("toy_opened", "b")])
    world.damage(toy.count_key(), 10)
    world.damage(toy.open_key(), 70)
    older = world.log(1, most_rows=1)
    older.steps.before("insert_events", flights.hold, n=2)
    older.steps.die(n=3)
    with dying():
        older.repairer.repair(LEAD, force=True)
    world.repair(world.log(2, most_rows=1))
    return world.violations


def a_verify_meets_a_commit_in_flight(world, flights):
    world.log(1).append([toy.counted(1, "a")])
    flight = flights.hold()
    world.log(1).append([toy.counted(2, "b")])
    for item in sorted(flight.hidden - {("row", toy.count_key())}, key=repr):
        flight.show(*item)
    if world.log(1).verifier.verify(LEAD).state != "equal":
        world.violations.append("a commit in flight was reported as drift")
    return world.violations


UNSETTLED = [an_upgrade_meets_a_commit_in_flight, a_rebuild_meets_a_chunk_in_flight]


def an_edition_drops_a_row_outside_the_partition(world):
    world.log(1).append([toy.fact("toy_shelved", "a", item="whey")])
    world.repair(world.log(2))
    return world.violations


def records_share_partitions_with_views(world):
    world.keep(toy.lease_key())
    world.keep(toy.shelf_lock_key("whey"))
    world.log(1).append([toy.fact("toy_shelved", "a", item="whey"), toy.counted(1, "b")])
    world.damage(toy.count_key(), 70)
    world.repair(world.log(1), force=True)
    world.repair(world.log(2))
    return world.violations


def a_row_is_damaged_beside_a_lag(world):
    world.log(1).append([toy.counted(1, "a")])
    world.log(2).append([toy.fact("toy_opened", "b")])
    world.rows.delete(toy.count_key())
    repaired = world.log(1).repairer.repair(LEAD)
    if repaired.verified is None or repaired.verified.state != "drift":
        world.violations.append("a repair ended well on rows that are wrong")
    return [each for each in world.violations if "rows are not the fold" not in each]


@driven(*UNSETTLED)
def test_rule_9_a_repair_waits_for_commits_in_flight_before_it_reads_rows(
    hazy, log_in_flight, one_row_a_chunk, scenario
):
    assert scenario(hazy, log_in_flight) == []
    assert hazy.head().projected == hazy.head().version


@pytest.mark.parametrize("scenario", UNSETTLED)
def test_reading_rows_unsettled_is_caught_when_rule_9_is_taken_out(
    hazy, log_in_flight, one_row_a_chunk, scenario, monkeypatch
):
    monkeypatch.setattr(InFlightLog, "settle", lambda *_: None)
    assert caught(scenario(hazy, log_in_flight), "rows are not the fold")


def test_rule_9_a_difference_is_read_again_before_it_is_reported(hazy, log_in_flight):
    assert a_verify_meets_a_commit_in_flight(hazy, log_in_flight) == []


def compare_once(self, lead, folds=None):
    """Report what the first look shows."""
    return self._compare(lead, folds or Folds(self._reader, lead))


def test_a_difference_reported_at_once_is_caught_when_rule_9_is_taken_out(
    hazy, log_in_flight, monkeypatch
):
    monkeypatch.setattr(Verifier, "verify", compare_once)
    violations = a_verify_meets_a_commit_in_flight(hazy, log_in_flight)
    assert caught(violations, "reported as drift")


@BOTH
def test_rule_9_an_orphan_outside_the_partition_is_found(world):
    assert an_edition_drops_a_row_outside_the_partition(world) == []
    assert world.rows.get(toy.shelf_key("whey")) is None


def test_an_orphan_nobody_names_is_caught_when_rule_9_is_taken_out(world, monkeypatch):
    monkeypatch.setattr(verifying, "foreign", lambda *_: [])
    violations = an_edition_drops_a_row_outside_the_partition(world)
    assert caught(violations, "rows are not the fold")


@BOTH
def test_rule_9_a_repair_deletes_no_lock_and_no_record(world):
    assert records_share_partitions_with_views(world) == []


def test_deleting_by_partition_is_caught_when_rule_9_is_taken_out(world, monkeypatch):
    monkeypatch.setattr(Reader, "list_rows", take_every_row)
    assert caught(records_share_partitions_with_views(world), "a record is gone")


def test_rule_9_the_last_step_of_a_repair_is_a_verify(world):
    assert a_row_is_damaged_beside_a_lag(world) == []


def test_a_repair_that_trusts_itself_is_caught_when_rule_9_is_taken_out(world, monkeypatch):
    def trust(self, head, *_):
        return Repaired(lead=head.lead, state="repaired")

    monkeypatch.setattr(Repairer, "_finish", trust)
    assert caught(a_row_is_damaged_beside_a_lag(world), "a repair ended well")


@pytest.mark.parametrize("most_rows", [None, 1], ids=["at-once", "in-chunks"])
def test_a_forced_repair_of_a_lagging_lead_compares_before_it_catches_up(
    world, one_row_a_chunk, most_rows
):
    world.log(1).append([toy.counted(1, "a"), toy.fact("toy_opened", "b")])
    world.log(2).append([toy.counted(2, "c")])
    world.damage(toy.count_key(), 70)
    world.damage(toy.open_key(), 70)
    repaired = world.log(1, most_rows=most_rows).repairer.repair(LEAD, force=True)
    assert repaired.verified.state == "equal"
    world.look()
    assert world.violations == []


def test_a_row_under_a_key_of_ours_that_another_lead_wrote_is_left_alone(world):
    world.log(1).append([toy.fact("toy_shelved", "a", item="whey", lead="lead-two")])
    world.log(2).append([toy.fact("toy_shelved", "b", item="whey")])
    assert world.repair(world.log(2)).verified.state == "equal"
    assert world.rows.get(toy.shelf_key("whey")) is not None

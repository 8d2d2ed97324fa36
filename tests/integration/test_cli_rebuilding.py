import sqlite3

import pytest

from handlers.ingest import Sender
from projections import FOLD_VERSION
from projections.committing import Edition
from projections.memories import Memories
from tests.support.cli import purchases

LEADS = ("lead-1", "lead-2", "lead-3")


class Miscounting(Memories):
    """Counts every event twice."""

    def encode(self, lead, key, state):
        counted = {name: 2 * state[name] for name in ("add:events",) if name in state}
        return super().encode(lead, key, state | counted)


class Failing(Memories):
    def evolve(self, rows, event):
        raise KeyError(event.payload["productId"])


def record(leads, names=LEADS, organization="default", projection=None):
    edition = None if projection is None else Edition((projection,), FOLD_VERSION)
    app = leads.app(edition)
    for name in names:
        items = app.ingest.batch(purchases(name, 3), Sender(organization_id=organization))
        assert {item.status for item in items} == {"created"}
    app.close()


def corrupt(leads, lead, sequence):
    """Damage the stored bytes of one event, as a disk would: past every trigger."""
    connection = sqlite3.connect(leads.db)
    connection.execute("DROP TRIGGER events_are_never_updated")
    connection.execute(
        "UPDATE events SET payload = '{' WHERE lead = ? AND sequence = ?", (lead, sequence)
    )
    connection.commit()
    connection.close()


def summary(answer, *names):
    return tuple(answer.document["summary"][name] for name in names)


def test_what_was_lived_through_equals_what_is_rebuilt(leads):
    record(leads)
    verified = leads("verify", "--all", "--json")
    rebuilt = leads("rebuild", "--all", "--json")

    assert verified.code == rebuilt.code == 0
    assert summary(verified, "leads", "events", "differences", "equal") == (3, 9, 0, 3)
    assert summary(rebuilt, "leads", "written", "differences", "equal") == (3, 0, 0, 3)
    assert verified.document["leads"] == []


def test_a_projection_that_was_changed_shows_field_by_field_and_is_repaired(leads):
    record(leads, projection=Miscounting())
    drifted = leads("verify", "--all", "--json")

    assert drifted.code == 4
    assert summary(drifted, "drift") == (3,)
    differences = drifted.document["leads"][0]["differences"]
    (totals,) = [each for each in differences if each["sk"] == "purchase#totals"]
    assert (totals["field"], totals["stored"], totals["expected"]) == ("cells.add:events", 6, 3)

    dry = leads("rebuild", "--all", "--dry-run", "--json")
    assert dry.document == drifted.document
    assert dry.code == 4

    rebuilt = leads("rebuild", "--all", "--json")
    assert rebuilt.code == 0
    assert summary(rebuilt, "written", "differences")[1] == 0
    assert summary(rebuilt, "written") == (
        sum(len(each["differences"]) for each in drifted.document["leads"]),
    )
    assert leads("verify", "--all").code == 0


def test_differences_are_told_to_people_too(leads):
    record(leads, names=["lead-1"], projection=Miscounting())
    answer = leads("verify", "--lead", "lead-1")

    assert "purchase#totals cells.add:events: stored 6, events say 3" in answer.err
    assert "drift\t1" in answer.out
    assert "leads rebuild" in answer.err
    repaired = leads("rebuild", "--lead", "lead-1")
    assert "row(s) repaired" in repaired.err


@pytest.mark.parametrize("workers", [1, 2])
def test_a_corrupt_event_is_named_and_other_leads_go_on(leads, workers):
    record(leads, projection=Miscounting())
    corrupt(leads, "lead-2", 2)
    rebuilt = leads("rebuild", "--all", "--json", "--workers", workers)

    assert rebuilt.code == 4
    assert summary(rebuilt, "equal", "corrupt", "failed") == (2, 1, 0)
    (named,) = [each for each in rebuilt.document["leads"] if each["state"] == "corrupt"]
    assert named["leadOrganizationId"] == "lead-2"
    assert "Event 2 of this lead" in named["detail"]
    verified = leads("verify", "--all", "--workers", workers)
    assert verified.code == 4
    assert "Event 2 of this lead" in verified.err
    assert "corrupt\t1" in verified.out


def test_reading_a_corrupt_event_has_the_same_code(leads):
    record(leads, names=["lead-1"])
    corrupt(leads, "lead-1", 2)
    answer = leads("events", "lead-1")

    assert answer.code == 4
    assert "/problems/corrupt-event" in answer.err


def test_views_that_lag_are_told_apart_and_caught_up(leads):
    record(leads, projection=Failing())
    verified = leads("verify", "--all", "--json")

    assert verified.code == 0
    assert summary(verified, "lagging", "drift") == (3, 0)
    assert leads("memories", "lead-1", "--type", "purchase", "--jsonl").lines
    found = leads("doctor", "--json")
    assert found.code == 0
    lag = [each for each in found.document["checks"] if each["check"] == "views"]
    assert {each["state"] for each in lag} == {"warning"}
    assert "0 of 3 events" in lag[0]["detail"]

    assert leads("rebuild", "--all").code == 0
    assert summary(leads("verify", "--all", "--json"), "lagging", "equal") == (0, 3)


def test_a_projection_that_fails_is_shown_by_the_doctor_with_the_event(leads, monkeypatch):
    record(leads, projection=Failing())
    monkeypatch.setattr(Memories, "evolve", Failing.evolve)
    found = leads("doctor", "--json")
    rebuilt = leads("rebuild", "--all", "--json")

    assert found.code == rebuilt.code == 4
    wrong = [each for each in found.document["checks"] if each["state"] == "wrong"]
    assert len(wrong) == 3
    assert "event 1" in wrong[0]["detail"]
    assert "whey" not in found.out + rebuilt.out
    assert summary(rebuilt, "broken") == (3,)


def test_all_means_all_of_the_organization(leads):
    record(leads, ["lead-1"], "one", projection=Miscounting())
    record(leads, ["lead-2", "lead-3"], "two", projection=Miscounting())

    assert summary(leads("rebuild", "--all", "--json", "--org", "one"), "leads") == (1,)
    assert leads("verify", "--all", "--org", "one").code == 0
    assert summary(leads("verify", "--all", "--json", "--org", "two"), "drift") == (2,)
    assert leads("rebuild", "--lead", "lead-2", "--org", "one").code == 3


def test_every_lead_is_a_json_line_and_the_last_line_sums_up(leads):
    record(leads)
    *each, last = leads("verify", "--all", "--jsonl", "--workers", "2").lines

    assert {one["leadOrganizationId"] for one in each} == set(LEADS)
    assert last["summary"]["leads"] == 3


@pytest.mark.parametrize("options", [[], ["--all", "--lead", "lead-1"]])
def test_which_leads_must_be_clear(leads, options):
    record(leads, ["lead-1"])

    assert leads("verify", *options).code == 2
    assert leads("rebuild", *options).code == 2

"""`leads restored`: a log that came back from a backup, before anything writes to it."""

import sqlite3

from handlers.ingest import Sender
from tests.support.cli import purchases

LEADS = ("lead-1", "lead-2", "lead-3")


def record(leads):
    app = leads.app()
    for name in LEADS:
        app.ingest.batch(purchases(name, 3), Sender(organization_id="acme"))
    app.close()


def tear(leads, *statements):
    """Leave what a restore may have left: heads and receipts of another moment than the events."""
    with sqlite3.connect(leads.db) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


HEAD_BEHIND = "UPDATE heads SET version = 1, projected = 1 WHERE lead = 'lead-1'"
HEAD_AHEAD = "UPDATE heads SET version = 5 WHERE lead = 'lead-2'"
NO_HEAD = "DELETE FROM heads WHERE lead = 'lead-3'"


def test_without_apply_it_only_says_what_is_missing(leads):
    record(leads)
    tear(leads, HEAD_BEHIND, NO_HEAD)

    first, second = leads("restored", "--json"), leads("restored", "--json")

    assert first.code == second.code == 0
    assert first.document == second.document
    assert first.document["summary"] == {
        "leads": 3,
        "whole": 1,
        "mended": 2,
        "torn": 0,
        "failed": 0,
        "lost": 0,
        "receipts": 0,
        "applied": False,
    }
    assert [
        (each["leadOrganizationId"], each["headAt"], each["version"])
        for each in first.document["leads"]
    ] == [("lead-1", 1, 3), ("lead-3", 0, 3)]
    assert "--apply" in first.err
    assert "lead-1  to be mended: head at 1 of 3" in leads("restored").err


def test_applied_it_leaves_a_log_that_verifies_and_goes_on(leads):
    record(leads)
    tear(leads, HEAD_BEHIND, NO_HEAD)

    done = leads("restored", "--apply", "--json")
    again = leads("restored", "--json")

    assert done.code == again.code == 0
    assert {each["verified"] for each in done.document["leads"]} == {"equal"}
    assert again.document["summary"]["whole"] == 3
    assert leads("verify", "--all", "--org", "acme").code == 0
    assert leads("import", "--org", "acme", leads.file(purchases("lead-1", 4))).code == 0
    listed = leads("events", "lead-1", "--org", "acme", "--json").document["events"]
    assert sorted(each["sequence"] for each in listed) == [1, 2, 3, 4]


def test_what_is_lost_is_named_and_ends_with_four(leads):
    record(leads)
    tear(leads, HEAD_AHEAD)

    done = leads("restored", "--apply")

    assert done.code == 4
    assert "lead-2  mended: head at 5 of 5; lost: 4, 5" in done.err
    assert leads("verify", "--all", "--org", "acme").code == 0
    assert leads("restored").code == 0


def test_a_stream_that_cannot_be_read_keeps_no_other_from_being_made_whole(leads):
    record(leads)
    tear(
        leads,
        HEAD_BEHIND,
        "INSERT INTO events (lead, sequence, event_type, payload) VALUES ('lead-0', 1, 'x', '{}')",
    )

    done = leads("restored", "--apply", "--jsonl")

    *each, last = done.lines
    assert done.code == 5
    assert [one["state"] for one in each] == ["failed", "mended", "whole", "whole"]
    assert last["summary"]["failed"] == 1

import csv
import io
import json

import pytest

from tests.support.cli import CommandLine, purchases
from tests.support.service import purchase

WHATSAPP = {"channel": "whatsapp", "channelIdentifier": "+55 11 9 5555-0101"}
ESCAPE = "\x1b"

READING = {
    "events": "events lead-1",
    "timeline": "timeline lead-1",
    "memories": "memories lead-1",
    "explain": "explain lead-1 purchase/totals",
    "context": "context lead-1 --budget 300",
    "features": "features lead-1",
    "verify": "verify --lead lead-1",
    "rebuild": "rebuild --lead lead-1",
    "keys": "keys list",
    "schemas": "schemas list",
    "schema": "schemas show purchase_completed",
    "quarantine": "quarantine list",
    "config": "config show --origin",
    "doctor": "doctor",
}
OF_A_LEAD = [name for name, line in READING.items() if "lead-1" in line]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reading")
    events = [
        *purchases("lead-1", 3),
        purchase(leadOrganizationId=None, lead=WHATSAPP, externalEventId="W-1"),
        purchase(
            externalEventId="late", occurredAt="2026-03-01T00:00:00Z", payload={"productId": "tea"}
        ),
        purchase(
            externalEventId="hostile",
            occurredAt="2026-03-16T00:00:00Z",
            payload={"productName": f"{ESCAPE}[2J\tred\u202e"},
        ),
        purchase(externalEventId="strange", eventType="moon_landed", payload={"crew": 3}),
    ]
    line = CommandLine(folder)
    assert line("import", line.file(events)).code == 0
    return folder


@pytest.fixture
def leads(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return CommandLine(folder)


@pytest.mark.parametrize("line", READING.values(), ids=READING)
def test_every_reading_command_writes_one_json_document(leads, line):
    answer = leads(*line.split(), "--json")

    assert answer.code == 0, answer.err
    assert isinstance(answer.document, dict)


@pytest.mark.parametrize("line", READING.values(), ids=READING)
def test_every_reading_command_writes_one_json_document_a_line(leads, line):
    answer = leads(*line.split(), "--jsonl")

    assert answer.code == 0, answer.err
    assert all(isinstance(each, dict) for each in answer.lines)


@pytest.mark.parametrize("line", READING.values(), ids=READING)
def test_in_a_pipe_nothing_but_lines_of_plain_cells_is_written(leads, line):
    answer = leads(*line.split())

    assert answer.code == 0
    assert ESCAPE not in answer.out + answer.err
    assert "─" not in answer.out
    assert "\u202e" not in answer.out


@pytest.mark.parametrize("name", OF_A_LEAD)
def test_a_lead_of_another_organization_is_not_found(leads, name):
    missing = leads(*READING[name].replace("lead-1", "nobody").split())
    foreign = leads(*READING[name].split(), "--org", "other")

    assert missing.code == foreign.code == 3
    assert missing.err == foreign.err
    assert missing.out == foreign.out == ""
    assert "/problems/not-found" in foreign.err


def test_options_may_stand_before_the_command(leads, tmp_path):
    before = leads("--json", "--db", leads.db, "memories", "lead-1", env={"LEADS_DB": "none.db"})
    after = leads("memories", "lead-1", "--json")

    assert before.document == after.document


def test_a_lead_is_found_by_an_address_however_it_is_written(leads):
    for address in (
        "whatsapp:+5511955550101",
        "whatsapp:5511955550101",
        "WhatsApp:+55 11 95555-0101",
    ):
        found = leads("events", address, "--type", "purchase_completed", "--json")
        assert [each["externalEventId"] for each in found.document["events"]] == ["W-1"]
    assert leads("events", "whatsapp:+5511955550102").code == 3
    assert leads("events", "whatsapp:nobody at all").code == 3
    assert leads("events", "whatsapp:+5511955550101", "--org", "other").code == 3


def test_reading_a_database_that_is_not_there_makes_none(leads, tmp_path):
    for line in READING.values():
        if line.startswith(("schemas", "config", "doctor")):
            continue
        answer = leads(*line.split(), "--db", tmp_path / "none.db")
        assert answer.code == 3
        assert "--db" in answer.err
    assert list(tmp_path.iterdir()) == []


def test_events_are_listed_by_type_time_and_order(leads):
    def ids(*options):
        answer = leads("events", "lead-1", "--json", *options)
        return [each["externalEventId"] for each in answer.document["events"]]

    assert ids() == ["late", "strange", "lead-1-1", "lead-1-2", "lead-1-3", "hostile"]
    assert ids("--order", "desc", "--limit", "2") == ["hostile", "lead-1-3"]
    assert ids("--type", "moon_landed") == ["strange"]
    assert ids("--since", "2026-03-15", "--until", "2026-03-15T14:00:02Z") == [
        "strange",
        "lead-1-1",
    ]
    assert ids("--since", "1d") == []
    assert ids("--since", "999w", "--limit", "1") == ["late"]


def test_pages_join_without_a_gap(leads):
    whole = leads("events", "lead-1", "--json").document["events"]
    first = leads("events", "lead-1", "--json", "--limit", "4").document
    rest = leads("events", "lead-1", "--json", "--cursor", first["cursor"]).document

    assert first["events"] + rest["events"] == whole
    assert rest["cursor"] is None


def test_more_events_than_a_page_holds_are_listed_in_one_go(tmp_path):
    leads = CommandLine(tmp_path)
    leads("import", leads.file(purchases("busy", 450)))

    assert len(leads("events", "busy", "--limit", "1000", "--jsonl").lines) == 450
    assert len(leads("timeline", "busy", "--jsonl").lines) == 450
    some = leads("events", "busy", "--limit", "401", "--json").document
    assert len(some["events"]) == 401
    assert some["cursor"] is not None


def test_csv_has_the_payload_as_json(leads):
    answer = leads("events", "lead-1", "--csv", "--type", "purchase_completed")

    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert [row["externalEventId"] for row in rows] == [
        *("late", "lead-1-1", "lead-1-2", "lead-1-3", "hostile")
    ]
    assert json.loads(rows[0]["payload"])["productId"] == "tea"
    assert leads("events", "lead-1", "--csv", "--json").code == 2


def test_lines_of_a_pipe_have_a_name_on_top_of_every_cell(leads):
    header, *rows = leads("events", "lead-1").out.splitlines()

    assert header.split("\t")[:3] == ["#", "occurredAt", "eventType"]
    assert {row.count("\t") for row in rows} == {header.count("\t")}


def test_a_timeline_marks_what_arrived_late(leads):
    told = leads("timeline", "lead-1", "--json").document

    late = [each["externalEventId"] for each in told["events"] if each["late"]]
    assert late == ["late", "strange"]
    assert told["leadOrganizationId"] == "lead-1"


def test_memories_are_read_at_a_moment_of_the_past(leads):
    def count(*options):
        (memory,) = [
            each
            for each in leads("memories", "lead-1", "--jsonl", "--include-expired", *options).lines
            if each["key"] == "totals"
        ]
        return memory["value"]["purchaseCount"]

    assert count() == 5
    assert count("--as-of", "2026-03-10") == 1
    assert count("--as-of", "2026-03-15T14:00:02Z") == 3
    assert leads("memories", "lead-1", "--known-at", "2026-03-20T00:00:00Z", "--jsonl").lines == []


def test_memories_of_one_type_are_listed_alone(leads):
    found = leads("memories", "lead-1", "--type", "purchase", "--json").document["memories"]

    assert {each["memoryType"] for each in found} == {"purchase"}
    assert {"totals", "product:whey", "product:tea"} <= {each["key"] for each in found}


def test_a_memory_is_explained_by_the_events_it_stands_on(leads):
    found = leads("explain", "lead-1", "purchase/product:tea", "--json").document

    assert [each["sequence"] for each in found["events"]] == [4]
    assert found["status"] == "stands"
    assert leads("explain", "lead-1", "purchase/product:none").code == 3
    assert leads("explain", "lead-1", "totals").code == 2


def test_a_context_keeps_its_budget(leads):
    found = leads("context", "lead-1", "--budget", "80", "--format", "markdown", "--locale", "en")

    assert len(found.out.encode()) <= 80 * 4
    assert found.out.startswith("# ")
    assert "left out" in found.err
    assert leads("context", "lead-1", "--budget", "10").code == 2


def test_features_are_computed_for_the_moment_asked_for(leads):
    now = leads("features", "lead-1", "--json").document
    then = leads("features", "lead-1", "--json", "--as-of", "2026-03-10").document

    assert now["features"]["monetary_total"] == 750.0
    assert then["features"]["monetary_total"] == 150.0
    assert then["computedAt"] == "2026-03-10T03:00:00.000000Z"


@pytest.mark.parametrize("typed", ["yesterday", "2026-03-15T14:00:00", "999999w", "2026-13-01"])
def test_a_time_that_is_none_is_refused_by_the_name_of_its_option(leads, typed):
    answer = leads("events", "lead-1", "--since", typed)

    assert answer.code == 2
    assert "--since" in answer.err
    assert typed not in answer.err
    assert "Traceback" not in answer.err


def test_quiet_leaves_the_data_alone(leads):
    told = leads("context", "lead-1")
    quiet = leads("context", "lead-1", "-q")

    assert told.out == quiet.out
    assert told.err
    assert quiet.err == ""

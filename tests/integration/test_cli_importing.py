import json

import pytest

from tests.support.cli import purchases
from tests.support.service import purchase

COUNTS = ("created", "duplicate", "conflict", "rejected")


def counts(answer):
    return tuple(answer.document[name] for name in COUNTS)


def rejects(leads, name="events.jsonl.rejects.jsonl"):
    return [json.loads(line) for line in (leads.folder / name).read_text().splitlines()]


def test_an_import_counts_what_became_of_each_line(leads):
    events = [
        *purchases("lead-1", 3),
        *purchases("lead-1", 1),
        purchase(externalEventId="lead-1-2", payload={"amount": "1.00"}),
        purchase(externalEventId="bad", payload={"amount": "-1.00"}),
    ]
    answer = leads("import", leads.file(events), "--json")

    assert answer.code == 6
    assert counts(answer) == (3, 1, 1, 1)


def test_lines_that_were_not_recorded_are_written_with_their_problem(leads):
    wrong = purchase(externalEventId="bad", payload={"amount": "-1.00"})
    file = leads.file([purchase(), wrong, purchase(payload={"amount": "2.00"})])
    answer = leads("import", file)

    assert answer.code == 6
    rejected, conflict = rejects(leads)
    assert (rejected["line"], rejected["status"], rejected["event"]) == (2, "rejected", wrong)
    assert rejected["problem"]["errors"][0]["pointer"] == "/payload/amount"
    assert (conflict["line"], conflict["status"]) == (3, "conflict")
    assert conflict["problem"]["type"] == "/problems/idempotency-conflict"


def test_rejects_go_where_they_are_told_to(leads):
    file = leads.file([purchase(payload={"amount": "-1.00"})])
    answer = leads("import", file, "--rejects", "elsewhere.jsonl", "--json")

    assert answer.code == 2
    assert answer.document["rejectsFile"] == "elsewhere.jsonl"
    assert len(rejects(leads, "elsewhere.jsonl")) == 1
    assert not (leads.folder / "events.jsonl.rejects.jsonl").exists()


def test_an_import_that_goes_well_leaves_nothing_behind(leads):
    file = leads.file(purchases("lead-1", 3))
    before = set(leads.folder.iterdir())
    answer = leads("import", file)

    assert answer.code == 0
    assert answer.out == "created\t3\nduplicate\t0\nconflict\t0\nrejected\t0\n"
    made = {path.name for path in set(leads.folder.iterdir()) - before}
    assert made <= {"leads.db", "leads.db-wal", "leads.db-shm"}


def test_importing_again_makes_duplicates_only(leads):
    file = leads.file(purchases("lead-1", 600))

    assert counts(leads("import", file, "--json")) == (600, 0, 0, 0)
    assert counts(leads("import", file, "--json")) == (0, 600, 0, 0)
    again = leads("import", file, "--json", "--resume")
    assert counts(again) == (0, 600, 0, 0)
    assert "beginning at the first line" in again.err


def test_the_rejects_of_an_earlier_import_are_not_kept(leads):
    file = leads.file([purchase(payload={"amount": "-1.00"})])
    leads("import", file)
    leads("import", file)

    assert len(rejects(leads)) == 1
    leads.file([purchase()])
    leads("import", file)
    assert not (leads.folder / "events.jsonl.rejects.jsonl").exists()


def test_only_conflicts_have_the_code_of_a_conflict(leads):
    leads("import", leads.file([purchase()]))
    answer = leads("import", leads.file([purchase(payload={"amount": "2.00"})]))

    assert answer.code == 4


def test_stdin_is_imported_without_a_position(leads):
    data = b"\n".join(json.dumps(each).encode() for each in purchases("lead-1", 3))
    answer = leads("import", "-", "--json", stdin=data)

    assert counts(answer) == (3, 0, 0, 0)
    assert leads("import", "-", "--resume", stdin=data).code == 2


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", "\n  \n"])
def test_ends_of_lines_and_a_byte_order_mark_do_not_matter(leads, end):
    file = leads.file(purchases("lead-1", 3), end=end)
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())

    assert counts(leads("import", file, "--json")) == (3, 0, 0, 0)


def test_lines_that_cannot_be_read_are_named_by_number_among_blank_ones(leads):
    good = [json.dumps(each) for each in purchases("lead-1", 2)]
    file = leads.folder / "events.jsonl"
    file.write_text("\n".join([good[0], "", "not json", good[1], "[1]", ""]))
    answer = leads("import", file, "--json")

    assert counts(answer) == (2, 0, 0, 2)
    first, second = rejects(leads)
    assert (first["line"], first["raw"]) == (3, "not json")
    assert first["problem"]["type"] == "/problems/malformed-body"
    assert "Line 3" in first["problem"]["detail"]
    assert (second["line"], second["event"]) == (5, [1])


def test_a_line_longer_than_an_event_may_be_is_refused_and_the_next_is_read(leads):
    long = json.dumps(purchase(payload={"productName": "x" * 3_000_000}))
    first, last = (json.dumps(each) for each in purchases("lead-1", 2))
    file = leads.folder / "events.jsonl"
    file.write_text(f"{first}\n{long}\n{last}\n")
    answer = leads("import", file, "--json")

    assert counts(answer) == (2, 0, 0, 1)
    (refused,) = rejects(leads)
    assert refused["line"] == 2
    assert refused["problem"]["type"] == "/problems/limit-exceeded"
    assert len(json.dumps(refused)) < 1000
    assert json.loads(file.read_bytes()[refused["offset"] :].splitlines()[0]) == json.loads(long)


def test_a_last_line_that_was_cut_is_read_when_the_file_is_complete(leads):
    file = leads.file(purchases("lead-1", 502))
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    cut = leads("import", file, "--json")

    assert cut.code == 6
    assert counts(cut) == (501, 0, 0, 1)
    assert "Line 502, the last one, ends before" in rejects(leads)[0]["problem"]["detail"]
    assert "--resume" in cut.err

    file.write_bytes(whole + json.dumps(purchases("lead-1", 1, first=503)[0]).encode())
    resumed = leads("import", file, "--json", "--resume")
    assert resumed.code == 0
    assert "after line 501" in resumed.err
    assert counts(resumed) == (503, 0, 0, 0)
    assert not (leads.folder / "events.jsonl.rejects.jsonl").exists()


def test_the_position_of_another_file_is_no_position(leads):
    file = leads.file(purchases("lead-1", 502))
    file.write_bytes(file.read_bytes()[:-20])
    leads("import", file)
    leads.file(purchases("lead-2", 502))
    answer = leads("import", file, "--resume")

    assert answer.code == 4
    assert "without --resume" in answer.err
    assert leads("events", "lead-2").code == 3
    assert leads("import", file).code == 0


def test_two_organizations_have_an_import_each(leads):
    file = leads.file(
        [
            purchase(
                leadOrganizationId=None,
                lead={"channel": "email", "channelIdentifier": "a@exemplo.test"},
            )
        ]
    )

    assert counts(leads("import", file, "--json", "--org", "one")) == (1, 0, 0, 0)
    assert counts(leads("import", file, "--json", "--org", "two")) == (1, 0, 0, 0)
    one, two = (
        leads("timeline", "email:a@exemplo.test", "--json", "--org", org).document
        for org in ("one", "two")
    )
    assert one["leadOrganizationId"] != two["leadOrganizationId"]

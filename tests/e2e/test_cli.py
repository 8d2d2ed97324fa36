import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys

import httpx2
import pytest

from tests.support.cli import CommandLine, purchases
from tests.support.processes import LEADS, environment, interrupted, run, start, wait_until

COUNT = 2000


@pytest.fixture
def leads(tmp_path):
    return CommandLine(tmp_path)


@pytest.fixture
def long_file(leads):
    """A file that takes some seconds to import."""
    events = [event for number in range(COUNT // 100) for event in purchases(f"lead-{number}", 100)]
    return leads.file(events)


def importing(leads, file, *options):
    """Start an import and wait until its first batch is durable."""
    progress = leads.folder / f"{file.name}.progress.json"
    process = start("import", file.name, "--db", "leads.db", *options, cwd=leads.folder)
    wait_until(progress.exists, process)
    return process


def stored(leads):
    """Every event of the log, as (lead, sequence) of each externalEventId."""
    app = leads.app()
    try:
        return {
            (lead, event.external_event_id): event.sequence
            for lead in app.maintenance.leads("default")
            for event in app.log.reader.events(lead, lte=app.log.reader.head(lead).version)
        }
    finally:
        app.close()


def test_an_import_that_was_killed_and_repeated_loses_and_doubles_nothing(leads, long_file):
    process = importing(leads, long_file)
    code, _, _ = interrupted(process, signal.SIGKILL)
    assert code == -signal.SIGKILL
    some = stored(leads)
    assert 0 < len(some) < COUNT

    again = run("import", long_file.name, "--db", "leads.db", "--json", cwd=leads.folder)

    assert again.returncode == 0
    counts = json.loads(again.stdout)
    assert (counts["created"] + counts["duplicate"], counts["duplicate"]) == (COUNT, len(some))
    every = stored(leads)
    assert len(every) == COUNT
    assert some.items() <= every.items()
    verified = run("verify", "--all", "--db", "leads.db", "--json", cwd=leads.folder)
    assert json.loads(verified.stdout)["summary"]["differences"] == 0


def test_an_interrupted_import_says_how_to_go_on_and_does(leads, long_file):
    process = importing(leads, long_file, "--rejects", "refused here.jsonl")
    code, _, words = interrupted(process, signal.SIGINT)
    assert code == 130
    assert "Traceback" not in words
    (line,) = re.findall(r"^  (leads import .*)$", words, re.MULTILINE)
    name, *arguments = shlex.split(line)
    assert name == "leads"
    assert "--resume" in arguments

    resumed = run(*arguments, "--json", cwd=leads.folder)

    assert resumed.returncode == 0
    assert json.loads(resumed.stdout)["created"] == COUNT
    assert len(stored(leads)) == COUNT
    assert not (leads.folder / f"{long_file.name}.progress.json").exists()


def test_a_reader_that_has_seen_enough_ends_the_command_without_a_word(leads):
    leads("import", leads.file(purchases("lead-1", 500)))
    # More than a pipe holds: else it is a race who ends first.
    line = f"{shlex.join(LEADS)} events lead-1 --limit 500 --jsonl --db leads.db | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f'{line}; echo "${{PIPESTATUS[0]}}"'],
        cwd=leads.folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    first, code = done.stdout.splitlines()
    assert json.loads(first)["eventType"] == "purchase_completed"
    assert code == "141"
    assert done.stderr == ""


def on_a_terminal(*arguments, cwd, **env):
    """Run a command with a terminal on both streams and return what appears on it."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*LEADS, *arguments],
        cwd=cwd,
        env=environment(TERM="xterm-256color", COLUMNS="120", **env),
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = bytearray()
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:
            # How Linux says that nobody writes into a terminal any more.
            break
        if not data:
            break
        shown += data
    os.close(ours)
    return process.wait(), shown.decode()


def test_a_terminal_gets_tables_and_colours_unless_they_are_declined(leads):
    leads("import", leads.file(purchases("lead-1", 2)))
    command = ("timeline", "lead-1", "--db", "leads.db")
    code, plain = on_a_terminal(*command, cwd=leads.folder, NO_COLOR="1")
    _, declined = on_a_terminal(*command, "--no-color", cwd=leads.folder)
    _, colored = on_a_terminal(*command, cwd=leads.folder)

    color = re.compile(r"\x1b\[[0-9;]*3[0-7][0-9;]*m")
    assert code == 0
    assert "───" in colored
    assert "2026-03-15 14:00:01" in colored
    assert not color.search(plain)
    assert not color.search(declined)


def test_the_demo_shows_the_whole_service_and_proves_itself(leads, monkeypatch):
    done = run("demo", "--db", "leads.db", "--leads", "12", cwd=leads.folder)

    assert done.returncode == 0, done.stderr
    told = done.stdout
    assert re.search(r"created +duplicate +conflict +rejected", told)
    assert told.index("demo-lead-0001") < told.index("purchase/product:whey_1kg")
    assert "<lead_memory" in told
    assert told.count("0 differences") == 2
    assert "\x1b" not in told
    following = re.findall(r"^  leads (.*?)(?: +#.*)?$", told, re.MULTILINE)
    assert len(following) >= 4
    monkeypatch.chdir(leads.folder)
    for line in following:
        if not line.startswith("serve"):
            assert leads(*shlex.split(line)).code in {0, 6}


def test_the_api_is_served_until_the_process_is_told_to_stop(leads):
    process = start("serve", "--db", "leads.db", "--port", "0", cwd=leads.folder)
    assert process.stderr is not None
    url = re.search(r"http://127\.0\.0\.1:\d+", process.stderr.readline())
    assert url is not None
    assert "leads keys create --db leads.db" in process.stderr.readline()
    key = run("keys", "create", "--db", "leads.db", cwd=leads.folder).stdout.strip()
    with httpx2.Client(base_url=url[0], timeout=30, trust_env=False) as http:
        assert http.get("/readyz").status_code == 200
        headers = {"Authorization": f"Bearer {key}"}
        answer = http.post("/v1/events", json=purchases("lead-1", 1)[0], headers=headers)
        assert answer.status_code == 201
        assert http.get("/v1/leads/lead-1/events").status_code == 401

    code, out, words = interrupted(process, signal.SIGTERM)

    assert (code, out) == (0, "")
    assert words.endswith("Stopped.\n")
    assert (
        "lead-1" in run("events", "lead-1", "--db", "leads.db", "--json", cwd=leads.folder).stdout
    )


def test_help_loads_nothing_that_only_some_commands_need():
    code = (
        "import sys; from handlers.entrypoints.cli import main; sys.argv = ['leads', '--help']\n"
        "try: main()\n"
        "except SystemExit: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )

    heavy = {"fastapi", "starlette", "uvicorn", "boto3", "botocore", "openai", "pydantic"}
    heavy |= {"eventsourcing", "structlog", "sqlite3", "rich", "phonenumbers"}
    assert heavy & set(done.stderr.split()) == set()

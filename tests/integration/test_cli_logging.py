"""What a command logs goes to stderr, by allow-list: stdout is for data."""

import json
import subprocess
import sys

import pytest
import structlog

from tests.support.every_command import SECRET
from tests.support.processes import environment
from tests.support.service import purchase

WITHOUT_A_STORE = {"config show", "schemas list", "schemas show", "tables create"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The streams of every command that was made to log, and whether it came to its store."""
    folder = tmp_path_factory.mktemp("logging")
    db = folder / "leads.db"
    db.touch()
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.every_command"],
        cwd=folder,
        env=environment(LEADS_DB=str(db), TMPDIR=str(folder)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_every_command_that_opens_a_store_was_made_to_log(runs):
    assert {name for name, (*_, logged) in runs.items() if not logged} == WITHOUT_A_STORE


def test_what_any_command_logs_never_reaches_stdout(runs):
    assert {name for name, (out, *_) in runs.items() if "made_up" in out or SECRET in out} == set()


def test_it_is_on_stderr_without_its_values_and_from_a_service_as_it_is_set(runs):
    for name, (_, err, logged) in runs.items():
        lines = [json.loads(line)["event"] for line in err.splitlines() if line.startswith("{")]
        told = ["made_up_warning", "made_up_error"] if name == "serve" else ["made_up_error"]
        assert lines == (told if logged else []), name
        assert SECRET not in err, name


def test_a_process_that_works_beside_a_command_logs_as_the_command_does(tmp_path):
    code = (
        "import gc, structlog; from handlers.entrypoints.cli import jobs, session\n"
        "jobs._open(session.Options()); jobs._work('verify', []); gc.collect()\n"
        "structlog.get_logger().warning('made_up_warning')\n"
        f"structlog.get_logger().error('made_up_error', lead='{SECRET}')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(LEADS_DB=str(tmp_path / "leads.db")),
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == ""
    assert json.loads(done.stderr)["event"] == "made_up_error"
    assert SECRET not in done.stderr


def test_logging_is_what_it_was_when_a_command_ends(leads):
    before = structlog.get_config()
    leads("send", "-", stdin=json.dumps(purchase()).encode())

    assert leads("doctor").code == 0
    assert structlog.get_config() == before

"""Settings come from one of four places, say from which, and tell everything that is wrong."""

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from domain.errors import Rejected
from handlers.settings import Settings, read_settings, variable

NO_FILE = Path("there-is-no-such.toml")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "leads.toml"


def test_nothing_needs_to_be_set():
    settings = read_settings({}, file=NO_FILE)

    assert (settings.store, settings.db) == ("sqlite", Path("leads.db"))
    assert (settings.host, settings.port, settings.auth) == ("127.0.0.1", 8000, "required")
    assert settings.timezone == "America/Sao_Paulo"
    assert settings.sqlite_synchronous == "FULL"
    assert settings.settle_seconds == 2.0
    assert set(settings.origins().values()) == {"default"}
    assert settings.unknown() == ()


def test_a_flag_counts_before_a_variable_and_that_before_the_file(file):
    file.write_text('port = 1\nhost = "0.0.0.0"\nstore = "dynamodb"\n')
    environ = {"LEADS_PORT": "2", "LEADS_HOST": "::1", "LEADS_AUTH": "", "DYNAMODB_TABLE": "views"}
    settings = read_settings(environ, file=file, port=3, db=None)

    assert (settings.port, settings.host, settings.store) == (3, "::1", "dynamodb")
    assert settings.dynamodb_table == "views"
    origins = settings.origins()
    assert {name: origin for name, origin in origins.items() if origin != "default"} == {
        "port": "flag",
        "host": "env",
        "store": "leads.toml",
        "dynamodb_table": "env",
    }
    assert origins.keys() == Settings.model_fields.keys()


def test_everything_that_is_wrong_is_told_at_once_by_variable_and_without_its_value(file):
    file.write_text('timezone = "Brazil/Brasilia"\nworker_threads = 0\n')
    environ = {"LEADS_PORT": "secret-x", "LEADS_STORE": "secret-y", "DYNAMODB_TABLE": "secret z"}
    with pytest.raises(Rejected) as caught:
        read_settings(environ, file=file, log_level="secret-w")

    assert {field.pointer for field in caught.value.fields} == {
        "LEADS_PORT",
        "LEADS_STORE",
        "LEADS_TIMEZONE",
        "LEADS_WORKER_THREADS",
        "LEADS_LOG_LEVEL",
        "DYNAMODB_TABLE",
    }
    assert "secret" not in str(caught.value)
    assert "in leads.toml" in str(caught.value)


@pytest.mark.parametrize("zone", ["", "America", "../../etc/passwd", "/etc/passwd", "Sao_Paulo"])
def test_a_time_zone_is_one_that_exists(zone):
    with pytest.raises(Rejected):
        read_settings({}, file=NO_FILE, timezone=zone)


@pytest.mark.parametrize("text", ["port =", "\x00", "port = 1\nport = 2"])
def test_a_file_that_is_no_toml_is_refused(file, text):
    file.write_text(text)
    with pytest.raises(Rejected, match=r"leads\.toml cannot be read"):
        read_settings({}, file=file)


def test_what_nothing_reads_is_named_with_what_was_probably_meant(file):
    file.write_text("prot = 1\n")
    environ = {
        "LEADS_TIMEZON": "x",
        "LEADS_52998224725": "x",
        "LEADS_TEST_DYNAMODB": "x",
        "LEADS_KNOWN": "x",
        "PATH": "x",
    }
    settings = read_settings(environ, file=file, also_known=["LEADS_KNOWN"])

    assert settings.unknown() == (
        "* is not a setting.",
        "LEADS_TIMEZON is not a setting; LEADS_TIMEZONE is.",
        "prot in leads.toml is not a setting; port is.",
    )


@pytest.mark.parametrize("name", Settings.model_fields)
def test_settings_do_not_change(name):
    settings = read_settings({}, file=NO_FILE)
    with pytest.raises(ValidationError):
        setattr(settings, name, getattr(settings, name))


def test_secrets_are_not_shown_nor_passed_on():
    settings = read_settings({"LEADS_LOG_KEY": "hush-hush"}, file=NO_FILE)
    shown = {each.variable: each for each in settings.shown()}

    assert settings.log_key is not None
    assert settings.log_key.get_secret_value() == "hush-hush"
    assert shown["LEADS_LOG_KEY"].value == "********"
    assert "hush-hush" not in repr((settings, settings.shown(), settings.variables()))
    assert shown["LEADS_PORT"][1:3] == ("8000", "default")
    assert all(each.description for each in shown.values())


def test_the_stores_read_what_the_settings_say():
    environ = {
        "LEADS_DB": ":memory:",
        "LEADS_SQLITE_SYNCHRONOUS": "normal",
        "LEADS_EVENTS_TABLE": "the-log",
        "LEADS_SETTLE_SECONDS": "0.5",
    }
    variables = read_settings(environ, file=NO_FILE).variables()

    assert variables["LEADS_DB"] == ":memory:"
    assert variables["LEADS_SQLITE_SYNCHRONOUS"] == "NORMAL"
    assert variables["LEADS_EVENTS_TABLE"] == "the-log"
    assert variables["LEADS_SETTLE_SECONDS"] == "0.5"
    assert read_settings(variables, file=NO_FILE).variables() == variables


def test_variables_are_named_after_their_fields_or_the_seeds():
    names = {variable(name) for name in Settings.model_fields}

    assert "DYNAMODB_TABLE" in names
    assert all(name.startswith("LEADS_") for name in names - {"DYNAMODB_TABLE"})


def test_reading_settings_loads_no_store_and_no_server():
    code = (
        "import sys, handlers.settings as s; s.read_settings({});"
        "heavy = {'asyncio', 'boto3', 'sqlite3', 'structlog', 'fastapi', 'eventsourcing',"
        " 'phonenumbers', 'pydantic_settings'};"
        "sys.exit(' '.join(heavy & sys.modules.keys()) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")

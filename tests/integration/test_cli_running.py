import json
import socket

import pytest
import typer
from typer.testing import CliRunner

from domain.errors import Forbidden, Unauthenticated
from handlers.entrypoints.cli.command import command, remember_options
from handlers.settings import read_settings
from tests.support.cli import purchases
from tests.support.service import purchase

SECRET = "segredo-4711"


def test_a_key_is_shown_once_and_opens_what_it_is_for(leads):
    made = leads(
        *("keys", "create", "--org", "acme", "--scope", "events:write", "--source", "hotmart"),
        *("--source", "web*", "--expires", "90d", "--json"),
    )
    listed = leads("keys", "list", "--org", "acme", "--json")

    assert made.code == 0
    key = made.document.pop("key")
    assert key.startswith("lk_")
    assert made.document["sources"] == ["hotmart", "web*"]
    assert listed.document["keys"] == [
        {name: value for name, value in made.document.items() if name != "key"}
    ]
    app = leads.app()
    held = app.api_keys.authenticate(f"Bearer {key}")
    assert (held.organization_id, held.scopes) == ("acme", {"events:write"})
    app.close()


def test_a_key_alone_is_on_stdout_for_a_shell_to_keep(leads):
    made = leads("keys", "create")

    assert made.out.startswith("lk_")
    assert made.out.count("\n") == 1
    assert made.out.strip() not in made.err


def test_a_revoked_key_opens_nothing(leads):
    made = leads("keys", "create", "--json").document
    revoked = leads("keys", "revoke", made["keyId"], "--json")

    assert revoked.document["revokedAt"]
    app = leads.app()
    with pytest.raises(Unauthenticated):
        app.api_keys.authenticate(f"Bearer {made['key']}")
    app.close()


def test_keys_of_another_organization_are_not_there(leads):
    made = leads("keys", "create", "--org", "one", "--json").document

    assert leads("keys", "list", "--org", "two", "--json").document == {"keys": []}
    assert leads("keys", "revoke", made["keyId"], "--org", "two").code == 3
    assert leads("keys", "create", "--scope", "everything").code == 2
    assert leads("keys", "create", "--org", "a#b").code == 2


def test_schemas_need_no_store(leads):
    listed = leads("schemas", "list", "--json").document["schemas"]
    shown = leads("schemas", "show", "purchase_completed").document

    assert len(listed) >= 21
    assert shown["properties"]["amount"]
    assert leads("schemas", "show", "moon_landed").code == 3
    assert list(leads.folder.iterdir()) == []


def test_a_sqlite_file_needs_no_tables_to_be_made(leads):
    answer = leads("tables", "create", "--json")

    assert answer.code == 0
    assert answer.document == {"created": []}
    assert "nothing to do" in answer.err


def test_dynamodb_tables_are_made_once(leads, ministack, account):
    env = {
        "AWS_ENDPOINT_URL": ministack,
        "AWS_ACCESS_KEY_ID": account,
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_REGION": "us-east-1",
        "LEADS_STORE": "dynamodb",
        "LEADS_SETTLE_SECONDS": "0",
    }
    first = leads("tables", "create", "--json", env=env)
    again = leads("tables", "create", "--json", env=env)

    assert first.code == again.code == 0, first.err
    assert len(first.document["created"]) == 2
    assert again.document == {"created": []}
    data = json.dumps(purchase()).encode()
    assert leads("send", "-", stdin=data, env=env).code == 0
    assert leads("verify", "--all", "--json", env=env).document["summary"]["equal"] == 1


def test_dynamodb_that_cannot_be_reached_is_unavailable(leads):
    env = {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
        "AWS_ACCESS_KEY_ID": "1",
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_REGION": "us-east-1",
        "LEADS_STORE": "dynamodb",
    }

    assert leads("tables", "create", env=env).code == 5


def test_settings_say_where_they_are_from_and_hide_secrets(leads):
    (leads.folder / "leads.toml").write_text("port = 9001\n")
    env = {"LEADS_LOG_KEY": SECRET, "LEADS_HOTS": "x"}
    answer = leads("config", "show", "--origin", "--json", "--db", "other.db", env=env)

    shown = {each["variable"]: each for each in answer.document["settings"]}
    assert (shown["LEADS_PORT"]["value"], shown["LEADS_PORT"]["origin"]) == ("9001", "leads.toml")
    assert (shown["LEADS_DB"]["value"], shown["LEADS_DB"]["origin"]) == ("other.db", "flag")
    assert shown["LEADS_LOG_KEY"]["origin"] == "env"
    assert SECRET not in answer.out + answer.err
    assert "LEADS_HOST is" in answer.err


def test_a_setting_that_is_not_valid_is_named(leads):
    answer = leads("events", "lead-1", env={"LEADS_PORT": SECRET})

    assert answer.code == 2
    assert "LEADS_PORT" in answer.err
    assert SECRET not in answer.err


def test_the_doctor_of_a_healthy_store_finds_nothing(leads):
    leads("import", leads.file(purchases("lead-1", 2)))
    answer = leads("doctor", "--json")

    assert answer.code == 0
    assert answer.document["healthy"] is True
    assert {each["state"] for each in answer.document["checks"]} == {"ok"}
    assert {each["check"] for each in answer.document["checks"]} == {
        *("settings", "disk", "store", "views", "quarantine"),
        *("channels", "model", "queue", "waiting"),
    }


def test_the_doctor_says_what_is_wrong_instead_of_failing(leads):
    assert "no file yet" in leads("doctor").out
    assert not leads.db.exists()
    invalid = leads("doctor", "--json", env={"LEADS_PORT": "x"})
    assert invalid.code == 4
    assert "LEADS_PORT" in invalid.document["checks"][0]["detail"]
    unknown = leads("doctor", "--json", env={"LEADS_HOTS": "x", "LEADS_AUTH": "open"})
    assert unknown.code == 0
    assert [each["state"] for each in unknown.document["checks"][:2]] == ["warning", "warning"]
    leads.db.write_text("not a database, but long enough to look like one to nobody\n" * 99)
    assert leads("doctor").code in {4, 5}


def test_what_could_not_be_translated_is_read_again_on_demand(leads):
    normalized = {
        "metadata": {"eventId": "e-1", "timestamp": "yesterday"},
        "source": {"type": "hotmart"},
        "event": {"key": "purchase_completed", "data": {}},
    }
    sent = leads("send", "-", "--json", stdin=json.dumps(normalized).encode())
    listed = leads("quarantine", "list", "--json").document["quarantine"]

    assert sent.code == 2
    (kept,) = listed
    assert kept["quarantineId"] == sent.document["quarantineId"]
    shown = leads("quarantine", "show", kept["quarantineId"], "--json").document
    assert json.loads(shown["raw"]) == normalized
    assert leads("quarantine", "show", kept["quarantineId"], "--org", "other").code == 3
    redriven = leads("quarantine", "redrive", "--all", "--apply", "--json")
    assert redriven.code == 6
    assert redriven.document["redriven"][0]["after"]["status"] == "rejected"
    assert leads("quarantine", "redrive").code == 2
    assert leads("doctor", "--json").document["healthy"] is True


def test_the_version_is_that_of_the_package(leads):
    assert leads("--version").out.startswith("leads 20")


def test_every_command_explains_itself(leads):
    top = leads("--help")
    assert top.code == 0
    for line in ("0 ok", "3 not found", "5 store unavailable", "6 partial", "7 auth", "130"):
        assert line in " ".join(top.out.split())
    for name in ("demo", "serve", "send", "import", "verify", "rebuild", "doctor", "keys create"):
        shown = leads(*name.split(), "--help")
        assert shown.code == 0
        assert "Usage: leads" in shown.out


@pytest.mark.parametrize("line", ["nonsense", "events", "events lead-1 --limit none", "--nonsense"])
def test_what_cannot_be_understood_has_the_code_of_usage(leads, line):
    answer = leads(*line.split())

    assert answer.code == 2
    assert answer.out == ""
    assert "Usage: leads" in answer.err


def raising(error):
    """A program with one command that fails."""
    program = typer.Typer()
    remember_options(program)

    def fail(session):
        raise error

    command(program, "fail")(fail)
    return CliRunner().invoke(program, ["fail"]), CliRunner().invoke(program, ["fail", "--debug"])


@pytest.mark.parametrize("kind", [Unauthenticated, Forbidden])
def test_a_credential_that_is_refused_has_the_code_of_auth(kind):
    plain, _ = raising(kind("No.", hint="Ask for a key."))

    assert plain.exit_code == 7
    assert f"/problems/{kind.code}" in plain.stderr
    assert "Next: Ask for a key." in plain.stderr


def test_what_nobody_foresaw_is_told_without_its_words(leads):
    plain, debug = raising(ValueError(SECRET))

    assert plain.exit_code == debug.exit_code == 1
    assert "ValueError" in plain.stderr
    assert "--debug" in plain.stderr
    assert SECRET not in plain.output
    assert "Traceback" not in plain.stderr
    assert "Traceback" in debug.stderr


def test_an_interrupt_has_a_code_of_its_own():
    plain, _ = raising(KeyboardInterrupt())

    assert plain.exit_code == 130


def test_the_demo_writes_a_file_to_import(leads):
    written = leads("demo", "--write", "demo.jsonl", "--leads", "3")
    first = (leads.folder / "demo.jsonl").read_bytes()
    leads("demo", "--write", "demo.jsonl", "--leads", "3")

    assert written.code == 0
    assert first == (leads.folder / "demo.jsonl").read_bytes()
    imported = leads("import", "demo.jsonl", "--json")
    assert imported.code == 6
    assert imported.document["created"] > 50
    assert leads("demo", "--json").code == 2


@pytest.fixture
def taken_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_an_api_without_keys_is_not_opened_to_the_network(leads, taken_port):
    # Were it not refused, it would find its port taken: the test would fail, and not serve.
    answer = leads("serve", "--host", "0.0.0.0", "--auth", "open", "--port", taken_port)  # noqa: S104

    assert answer.code == 2
    assert "LEADS_HOST" in answer.err
    assert not leads.db.exists()


def test_a_port_that_is_taken_is_said_so(leads, taken_port):
    answer = leads("serve", "--port", taken_port)

    assert answer.code == 5
    assert "--port 0" in answer.err


def test_the_settings_of_the_tests_are_those_of_nobody():
    assert read_settings({}).unknown() == ()

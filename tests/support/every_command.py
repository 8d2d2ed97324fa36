"""Every command of `leads`, made to log where it opens its store, and ended there.

    python -m tests.support.every_command

Prints, as JSON, the two streams of each command by its name, and whether it came to a store. What
it logs is a warning and an exception, with SECRET as a lead, in a local and in a message.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import structlog
from typer.testing import CliRunner

from tests.support.cli import COMMAND

SECRET = "segredo-4711"

_VALUES = {"FILE|-": "-", "TYPE/KEY": "purchase/totals"}
"""What is given, by what the help calls it; 1 for anything else."""

_RULES = {
    "crm reconcile": ["--all-uncertain"],
    "crm recreate": ["--i-know-the-deal-was-deleted"],
    "crm release": ["--checked-absent", "--evidence", "x"],
    "crm retry": ["x"],
    "quarantine redrive": ["--all"],
    "rebuild": ["--all"],
    "serve": ["--port", "0"],
    "verify": ["--all"],
}
"""What a command asks for beyond the parameters that are required."""

_NOWHERE = ("simulate whatsapp", "simulate hubspot")
"""They open nothing, and play until somebody stops them."""


def commands(group: Any = COMMAND, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by its name, and what is declared of it."""
    for name, found in group.commands.items():
        if hasattr(found, "commands"):
            yield from commands(found, f"{path}{name} ")
        elif path + name not in _NOWHERE:
            yield path + name, found


def line(name: str, declared: Any) -> list[str]:
    """How to call it so that it gets to its work."""
    words = name.split()
    for each in declared.params:
        if each.required:
            flags = each.opts if each.param_type_name == "option" else []
            words += [*flags[:1], _VALUES.get(each.metavar, "1")]
    return [*words, *_RULES.get(name, [])]


def run(words: list[str]) -> tuple[str, str, bool]:
    """Call it; return its two streams, and whether it came to a store."""
    stopped.clear()
    with CliRunner().isolation(input=b"{}") as (out, err, _):
        try:
            COMMAND.main(args=words, prog_name="leads")
        except SystemExit:
            sys.stdout.flush()
            sys.stderr.flush()
        return out.getvalue().decode(), err.getvalue().decode(), bool(stopped)


stopped: list[str] = []
"""What ended the command that runs."""


def stop(event: str, _: Any) -> None:
    """Log where a store is opened, and let the command end there."""
    if event == "sqlite3.connect":
        stopped.append(event)
        held = SECRET
        structlog.get_logger().warning("made_up_warning", lead=SECRET)
        try:
            int(held)
        except ValueError:
            structlog.get_logger().exception("made_up_error", lead=SECRET)
        raise RuntimeError


if __name__ == "__main__":
    sys.addaudithook(stop)
    json.dump({name: run(line(name, declared)) for name, declared in commands()}, sys.stdout)

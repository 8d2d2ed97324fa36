"""The command line, run in this process on a database of a test's own."""

import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from handlers.bootstrap import App, build
from handlers.entrypoints.cli.program import program
from handlers.settings import read_settings
from projections.committing import Edition
from tests.support.service import purchase

QUIET_ENVIRONMENT = {name: None for name in os.environ if name.startswith("LEADS_")}
"""Nothing of the shell that runs the tests reaches a command."""


COMMAND = get_command(program)


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class CommandLine:
    folder: Path

    @property
    def db(self) -> Path:
        return self.folder / "leads.db"

    def __call__(
        self,
        *arguments: object,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Answer:
        environment = {**QUIET_ENVIRONMENT, "LEADS_DB": str(self.db), **(env or {})}
        # What `CliRunner.invoke` does, without declaring every command anew for each call.
        with CliRunner().isolation(input=stdin, env=environment) as (out, err, _):
            with pytest.raises(SystemExit) as ended:
                COMMAND.main(args=[str(each) for each in arguments], prog_name="leads")
            sys.stdout.flush()
            sys.stderr.flush()
            return Answer(_code(ended.value), out.getvalue().decode(), err.getvalue().decode())

    def app(self, edition: Edition | None = None) -> App:
        settings = read_settings({}, file=self.folder / "none.toml", db=self.db)
        return build(settings, edition=edition)

    def file(self, events: Iterable[Any], name: str = "events.jsonl", end: str = "\n") -> Path:
        path = self.folder / name
        path.write_text(end.join(map(json.dumps, events)) + end, encoding="utf-8", newline="")
        return path


def purchases(lead: str, count: int, first: int = 1) -> list[dict[str, Any]]:
    """Events of one lead, each a different purchase."""
    return [
        purchase(
            leadOrganizationId=lead,
            externalEventId=f"{lead}-{number}",
            occurredAt=f"2026-03-15T14:{number // 60 % 60:02d}:{number % 60:02d}Z",
        )
        for number in range(first, first + count)
    ]


def _code(ended: SystemExit) -> int:
    assert isinstance(ended.code, int)
    return ended.code

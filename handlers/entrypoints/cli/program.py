"""The program `leads`: its groups, its commands, and what `leads --help` says."""

from typing import Annotated, Final

import typer

from handlers.entrypoints.cli import (
    administration,
    chat,
    crm,
    demonstration,
    diagnosis,
    events,
    importing,
    memories,
    people,
    quarantine,
    rebuilding,
    resources,
    restoring,
    sending,
    serving,
    simulating,
    tracing,
)
from handlers.entrypoints.cli.command import remember_options
from handlers.entrypoints.cli.helping import HelpedGroup

_HELP: Final = (
    "Everything that happens to a lead, recorded once and forever, and what follows from it."
)

_EPILOG: Final = (
    "Exit codes: 0 ok · 1 failure · 2 usage · 3 not found · 4 conflict, drift or a corrupt event ·"
    " 5 store unavailable, try again · 6 partial, some were rejected · 7 auth · 130 interrupted"
    "\n\n"
    "Data goes to stdout, words to stderr; in a pipe tables become tab-separated lines."
)

program = typer.Typer(
    name="leads",
    cls=HelpedGroup,
    rich_markup_mode=None,
    help=_HELP,
    epilog=_EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(f"leads {version('leads')}")
        raise typer.Exit


remember_options(
    program,
    version=Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ],
)
for _module in (
    demonstration,
    serving,
    simulating,
    chat,
    people,
    tracing,
    sending,
    importing,
    events,
    memories,
    rebuilding,
    restoring,
    administration,
    resources,
    crm,
    quarantine,
    diagnosis,
):
    _module.register(program)

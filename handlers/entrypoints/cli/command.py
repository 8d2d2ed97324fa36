"""What every command has: the shared options, before or after its name, and an exit code."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Concatenate, Final, Literal, ParamSpec

import typer

from handlers.entrypoints.cli.failures import guarded
from handlers.entrypoints.cli.helping import HelpedCommand
from handlers.entrypoints.cli.session import Options, Session

P = ParamSpec("P")

_PANEL: Final = "Shared options"
_SHOWN: Final = "Output"

Store = Literal["sqlite", "dynamodb"]

_DATABASE: Final = {
    "db": Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The SQLite file (LEADS_DB).", rich_help_panel=_PANEL),
    ],
    "store": Annotated[
        Store | None,
        typer.Option(help="Where everything is kept (LEADS_STORE).", rich_help_panel=_PANEL),
    ],
    "org": Annotated[
        str | None,
        typer.Option(
            metavar="ORG", help="Whose leads; `default` unless given.", rich_help_panel=_PANEL
        ),
    ],
}
_OUTPUT: Final = {
    "json": Annotated[
        bool, typer.Option("--json", help="One JSON document.", rich_help_panel=_SHOWN)
    ],
    "jsonl": Annotated[
        bool, typer.Option("--jsonl", help="One JSON document a line.", rich_help_panel=_SHOWN)
    ],
    "no_color": Annotated[
        bool,
        typer.Option("--no-color", help="No colours (NO_COLOR).", rich_help_panel=_SHOWN),
    ],
    "quiet": Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Nothing but data and errors.", rich_help_panel=_SHOWN),
    ],
    "debug": Annotated[
        bool, typer.Option("--debug", help="Show tracebacks.", rich_help_panel=_SHOWN)
    ],
}
_SHARED: Final[dict[str, Any]] = {**_DATABASE, **_OUTPUT}
_CONTEXT: Final = "ctx"


def command(
    group: typer.Typer, name: str, *, panel: str | None = None
) -> Callable[
    [Callable[Concatenate[Session, P], int | None]], Callable[Concatenate[Session, P], int | None]
]:
    """Make a function a command: it takes a session, then its own parameters.

    What it returns is the exit code, None for 0. Errors become words on stderr and an exit code.
    """

    def register(
        function: Callable[Concatenate[Session, P], int | None],
    ) -> Callable[Concatenate[Session, P], int | None]:
        _, *own = inspect.signature(function).parameters.values()

        @functools.wraps(function)
        def run(ctx: typer.Context, **values: Any) -> None:
            given = {name: values.pop(name) for name in _SHARED}
            session = Session(_options(ctx.obj, given))
            work = functools.partial(function, session, **values)
            raise typer.Exit(guarded(session, work))

        _declare(run, own)
        group.command(name, cls=HelpedCommand, rich_help_panel=panel)(run)
        return function

    return register


def remember_options(group: typer.Typer, **more: Any) -> None:
    """Let a group take the shared options in front of the name of its command.

    Args:
        group: the group; its help and epilog are its own.
        more: further parameters, by name, annotated as Typer wants them.
    """

    def run(ctx: typer.Context, **values: Any) -> None:
        ctx.obj = {name: values[name] for name in _SHARED}

    own = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=False
        )
        for name, annotation in more.items()
    ]
    _declare(run, own)
    group.callback()(run)


def _options(before: dict[str, Any] | None, after: dict[str, Any]) -> Options:
    """Return what was given; what stands behind the command's name counts before the rest."""
    merged: dict[str, Any] = {
        name: value or (before or {}).get(name, value) for name, value in after.items()
    }
    return Options(**merged)


def _declare(run: Callable[..., None], own: list[inspect.Parameter]) -> None:
    """Give a function the parameters that Typer is to see."""
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(
            _CONTEXT, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
        ),
        *(parameter.replace(kind=kind) for parameter in own),
        *(
            inspect.Parameter(name, kind, annotation=annotation, default=_default(annotation))
            for name, annotation in _SHARED.items()
        ),
    ]
    run.__dict__["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {each.name: each.annotation for each in parameters}


def _default(annotation: Any) -> bool | None:
    return False if annotation.__origin__ is bool else None

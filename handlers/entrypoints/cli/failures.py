"""From what a command raises to its exit code; tracebacks only under --debug."""

import contextlib
import os
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import typer

from domain.errors import LeadError
from handlers.entrypoints.outcomes import EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_OK, said

if TYPE_CHECKING:
    from handlers.entrypoints.cli.session import Session

EXIT_READER_GONE: Final = 141
"""Of who writes into a pipe that nobody reads any more: 128 and the number of SIGPIPE."""


def guarded(session: "Session", work: Callable[[], int | None]) -> int:
    """Do the work of a command and return its exit code, whatever happens."""
    try:
        with session:
            code = work() or EXIT_OK
            session.out.flush()
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except BrokenPipeError:
        _forget_stdout()
        return EXIT_READER_GONE
    except KeyboardInterrupt:
        session.words.say("Interrupted.")
        return EXIT_INTERRUPTED
    except LeadError as error:
        _trace(session)
        session.words.problem(error)
        return said(error).exit_code
    except Exception as error:  # noqa: BLE001 - the last one to catch it; its text may hold values
        _trace(session)
        then = "" if session.options.debug else "Run it again with --debug to see where."
        kind = type(error).__name__
        session.words.error(
            f"Something unforeseen went wrong: {kind}.", code="", fields=[], then=then
        )
        return EXIT_FAILURE
    return code


def _trace(session: "Session") -> None:
    if session.options.debug:
        traceback.print_exc()


def _forget_stdout() -> None:
    """Let the interpreter flush its leftovers into nothing, or it complains while it ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""The command line: `leads`."""

import os
import sys
from io import TextIOWrapper

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments name, and end the process with its exit code."""
    if "--no-color" in sys.argv:
        # What draws the help is told by the variable alone.
        os.environ["NO_COLOR"] = "1"
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that cannot show a character gets its number, not a crash.
            stream.reconfigure(errors="backslashreplace")
    from handlers.entrypoints.cli.program import program

    program(prog_name="leads")

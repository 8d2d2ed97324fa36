"""Words on stderr: what is going on, and what went wrong, why, and what to do next."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from domain.errors import LeadError

_RED: Final = "31"
_YELLOW: Final = "33"
_BOLD: Final = "1"


class Words:
    """What people read beside the data."""

    def __init__(self, *, colored: bool, quiet: bool) -> None:
        self.stream: TextIO = sys.stderr
        self.quiet = quiet
        self.to_people = self.stream.isatty()
        self.colored = colored and self.to_people and not os.environ.get("NO_COLOR")

    def say(self, text: str) -> None:
        """Tell something that may be left out under --quiet."""
        if not self.quiet:
            self._write(text)

    def warn(self, text: str) -> None:
        """Tell something that must not be missed."""
        self._write(f"{self._painted('Warning:', _YELLOW)} {text}")

    def error(self, what: str, *, code: str, fields: list[str], then: str) -> None:
        """Tell what went wrong, under the type that the API's problem has, and what to do."""
        kind = f" (/problems/{code})" if code else ""
        self._write(f"{self._painted('Error:', _RED)} {what}{kind}")
        for line in fields:
            self._write(f"  {line}")
        if then:
            self._write(f"{self._painted('Next:', _BOLD)} {then}")

    def problem(self, error: "LeadError") -> None:
        """Tell an error of ours; it holds no value that anybody sent."""
        fields = [f"{each.pointer or '/'}: {each.detail}" for each in error.fields]
        self.error(error.detail, code=error.code, fields=fields, then=error.hint)

    def _painted(self, text: str, color: str) -> str:
        return f"\x1b[{color}m{text}\x1b[0m" if self.colored else text

    def _write(self, text: str) -> None:
        self.stream.write(f"{text}\n")
        self.stream.flush()


def program_name() -> str:
    """Return what calls this program again: `leads` where the shell finds it, else its path."""
    own = Path(sys.argv[0])
    if own.name != "leads":
        return "leads"
    found = shutil.which("leads")
    if found and Path(found).resolve() == own.resolve():
        return "leads"
    near = os.path.relpath(own)
    return str(own) if near.startswith("..") else near

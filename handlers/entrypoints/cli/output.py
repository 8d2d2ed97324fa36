"""Data on stdout: a table for people, TSV for a pipe, JSON and CSV for programs."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, Final, Literal, NamedTuple, TextIO

JsonObject = dict[str, Any]

# Valid in JSON, and yet able to move a terminal's cursor or turn a line around.
_UNSAFE_IN_JSON: Final = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_INSTANT: Final = re.compile(r"[0-9-]{10}T[0-9:]{8}\.[0-9]{6}Z", re.ASCII)
_DAY: Final = len("2026-11-29")

_PIPE_WIDTH: Final = 132


class Form(Enum):
    """What stdout carries."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


class Column(NamedTuple):
    """A column of a listing: its title, and what it shows of an item.

    `number` stands to the right. `wide` may take several lines of a table; others take one.
    `day`: of an instant, people see the day.
    """

    title: str
    of: Callable[[JsonObject], Any]
    number: bool = False
    wide: bool = False
    day: bool = False


def field(name: str, title: str | None = None, **kind: bool) -> Column:
    """Return the column of one member of a JSON object."""
    return Column(title or name, lambda item: item.get(name), **kind)


def printable(text: str) -> str:
    """Return text without what would act on a terminal, or break a line of a table."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def to_json(value: Any, *, indent: int | None = None) -> str:
    """Return JSON that is safe to look at, on one line unless indented."""
    separators = (",", ": ") if indent else (",", ":")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Output:
    """Writes what was asked for in the form it was asked for."""

    def __init__(self, form: Form, *, colored: bool) -> None:
        self.form = form
        self._stream: TextIO = sys.stdout
        self.to_people = form is Form.TEXT and self._stream.isatty()
        self.colored = colored

    def document(self, value: Any) -> None:
        """Write one JSON document; indented for people to read."""
        self._write(to_json(value, indent=2 if self._stream.isatty() else None))

    def line(self, value: Any) -> None:
        """Write one JSON document on a line of its own."""
        self._write(to_json(value))

    def text(self, text: str) -> None:
        """Write text as it is, ending in one line end."""
        self._write(text.removesuffix("\n"))

    def listing(
        self,
        name: str,
        items: Iterable[JsonObject],
        columns: Sequence[Column],
        **more: Any,
    ) -> None:
        """Write items: `{name: [items], **more}` as JSON, else one a line or a row."""
        match self.form:
            case Form.JSON:
                self.document({name: list(items), **more})
            case Form.JSONL:
                for item in items:
                    self.line(item)
            case Form.CSV:
                self._csv(items, columns)
            case Form.TEXT:
                self.table(items, columns)

    def facts(self, document: JsonObject, shown: Sequence[tuple[str, Any]] | None = None) -> None:
        """Write one object: as JSON, or its members (or those shown) one a line."""
        if self.form in {Form.JSON, Form.JSONL}:
            self.document(document) if self.form is Form.JSON else self.line(document)
            return
        pairs = list(document.items()) if shown is None else shown
        width = max((len(name) for name, _ in pairs), default=0)
        for name, value in pairs:
            text = printable(_cell(value))
            self._write(f"{name:<{width}}  {text}" if self.to_people else f"{name}\t{text}")

    def table(self, items: Iterable[JsonObject], columns: Sequence[Column]) -> None:
        """Write rows: a table for people, tab-separated lines under a line of names for a pipe."""
        if self.to_people:
            self._draw(items, columns)
            return
        self._write("\t".join(column.title for column in columns))
        for item in items:
            self._write("\t".join(printable(_cell(column.of(item))) for column in columns))

    def draw_tables(self) -> None:
        """Draw tables also where nobody may be looking."""
        self.to_people = True

    def heading(self, title: str, text: str) -> None:
        """Write a title and what one sees under it."""
        import textwrap

        bold = self._stream.isatty() and self.colored and not os.environ.get("NO_COLOR")
        self._write(f"\n\x1b[1;36m{title}\x1b[0m" if bold else f"\n{title}")
        self._write(textwrap.fill(text, 96) + "\n")

    def flush(self) -> None:
        """Hand over what was written."""
        self._stream.flush()

    def _draw(self, items: Iterable[JsonObject], columns: Sequence[Column]) -> None:
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for column in columns:
            side: Literal["left", "right"] = "right" if column.number else "left"
            table.add_column(column.title, justify=side, overflow="fold", no_wrap=not column.wide)
        for item in items:
            cells = (_spoken(column.of(item))[: _DAY if column.day else None] for column in columns)
            table.add_row(*(Text(printable(cell)) for cell in cells))
        console = Console(
            file=self._stream,
            highlight=False,
            no_color=None if self.colored else True,
            width=None if self._stream.isatty() else _PIPE_WIDTH,
        )
        console.print(table)

    def _csv(self, items: Iterable[JsonObject], columns: Sequence[Column]) -> None:
        import csv

        writer = csv.writer(self._stream, lineterminator="\n")
        writer.writerow([column.title for column in columns])
        for item in items:
            writer.writerow([_cell(column.of(item)) for column in columns])

    def _write(self, text: str) -> None:
        self._stream.write(f"{text}\n")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict | list):
        return to_json(value)
    return str(value)


def _spoken(value: Any) -> str:
    """Return a cell as people read it: short times, objects without their braces."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_spoken(each)}" for name, each in value.items())
    if isinstance(value, list):
        return " ".join(_spoken(each) for each in value)
    text = _cell(value)
    return f"{text[:10]} {text[11:19]}" if _INSTANT.fullmatch(text) else text

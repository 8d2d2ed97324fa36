"""The command that sends a few events: one, a batch, or one a line."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Final

import typer

from domain.errors import (
    FieldError,
    InvalidEvent,
    LeadError,
    LimitExceeded,
    MalformedBody,
    Rejected,
)
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.output import Column, Form, JsonObject, field
from handlers.entrypoints.cli.session import Session
from handlers.entrypoints.outcomes import EXIT_OK, EXIT_PARTIAL, said

if TYPE_CHECKING:
    from handlers.ingest import Item

PANEL: Final = "Bring events in"

STDIN: Final = "-"

Source = Annotated[
    Path,
    typer.Argument(
        metavar="FILE|-",
        show_default=False,
        help="The file; - is stdin.",
    ),
]

_COLUMNS: Final = (
    field("index", "item", number=True),
    field("status"),
    field("leadOrganizationId", "lead"),
    field("sequence", number=True),
    field("id"),
    field("externalEventId"),
    Column("problem", lambda item: item.get("problem", {}).get("detail"), wide=True),
)


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    command(program, "send", panel=PANEL)(send)


def send(
    session: Session,
    source: Source,
    check: Annotated[
        bool, typer.Option("--check", help="Say what would become of them; store nothing.")
    ] = False,
) -> int:
    """Send events and say what became of each.

    Takes one JSON object, {"events": […]}, or one event a line; at most 500 and 4 MiB. `leads
    import` takes more.
    """
    from handlers.ingest import Sender

    single, documents = _documents(_read(source))
    sender = Sender(organization_id=session.organization)
    ingest = session.app.ingest
    items = (ingest.validate if check else ingest.batch)(documents, sender)
    if single:
        _show_one(session, items[0])
    else:
        _show_all(session, items)
    return exit_code([item.error for item in items])


def exit_code(errors: Sequence[LeadError | None]) -> int:
    """Return one exit code for many answers: theirs if they agree, else that some were refused."""
    codes = {EXIT_OK if error is None else said(error).exit_code for error in errors}
    return codes.pop() if len(codes) == 1 else EXIT_PARTIAL if codes else EXIT_OK


@contextmanager
def opened(source: Path) -> Iterator[BinaryIO]:
    """Lend a file to be read, or stdin.

    Raises:
        Rejected: it is a file that cannot be read.
    """
    if str(source) == STDIN:
        yield sys.stdin.buffer
        return
    detail = None
    if not source.is_file():
        detail = "is no file" if source.exists() else "does not exist"
    elif not os.access(source, os.R_OK):
        detail = "may not be read"
    if detail is not None:
        problem = FieldError("FILE", detail)
        raise Rejected(
            "There is nothing to read.", hint="Name a file, or - for stdin.", fields=[problem]
        )
    with source.open("rb") as stream:
        yield stream


def read_source(source: Path, too_long: LimitExceeded, *, most: int) -> bytes:
    """Return what a file or stdin holds, or raise `too_long` if it is more than `most` bytes."""
    with opened(source) as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise too_long
    return data


def _show_one(session: Session, item: "Item") -> None:
    from handlers.shapes import item_json

    if item.error is not None:
        session.words.problem(item.error)
    for warning in item.warnings:
        session.words.warn(warning)
    shown = item_json(item, _status(item))
    shown.pop("index")
    if item.error is None:
        shown.pop("externalEventId", None)
    session.out.facts(shown, [(name, value) for name, value in shown.items() if name != "problem"])


def _show_all(session: Session, items: Sequence["Item"]) -> None:
    from handlers.shapes import item_json

    shown: list[JsonObject] = [item_json(item, _status(item)) for item in items]
    counts = {
        status: sum(item.status == status for item in items)
        for status in ("created", "duplicate", "conflict", "rejected", "retry")
    }
    session.out.listing("results", shown, _COLUMNS, **counts)
    told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    session.words.say(f"{told}.")
    if session.out.form is Form.TEXT:
        for item in items:
            for name, detail in item.error.fields if item.error else ():
                session.words.say(f"  item {item.index} {name or '/'}: {detail}")


def _status(item: "Item") -> int:
    return said(item.error).status if item.error else 200


def _read(source: Path) -> bytes:
    from domain.reading import MAX_BATCH_BYTES

    message = f"What is sent at once has at most {MAX_BATCH_BYTES} bytes."
    too_long = LimitExceeded(message, hint="Use `leads import`, which has no such limit.")
    return read_source(source, too_long, most=MAX_BATCH_BYTES)


def _documents(data: bytes) -> tuple[bool, list[Any]]:
    """Return whether it is a single event, and the events; those unreadable as their errors."""
    from domain import reading

    lines = list(reading.read_ndjson(data))
    try:
        whole = reading.parse(data)
    except MalformedBody:
        if len(lines) < 2 or not _is_object(lines[0][1]):
            raise
        return False, _bounded([_parsed(number, line) for number, line in lines])
    if isinstance(whole, dict) and isinstance(whole.get("events"), list):
        return False, _bounded(whole["events"])
    return True, [whole]


def _is_object(line: bytes) -> bool:
    from domain import reading

    try:
        return isinstance(reading.parse(line), dict)
    except LeadError:
        return False


def _parsed(number: int, line: bytes) -> Any:
    from domain import reading

    try:
        return reading.parse(line)
    except MalformedBody as error:
        return MalformedBody(f"Line {number}: {error.detail}", hint=error.hint)


def _bounded(documents: list[Any]) -> list[Any]:
    from domain.reading import MAX_BATCH_EVENTS

    if len(documents) > MAX_BATCH_EVENTS:
        message = f"At most {MAX_BATCH_EVENTS} events are sent at once."
        raise LimitExceeded(message, hint="Use `leads import`, which has no such limit.")
    if not documents:
        problem = FieldError("/events", "must hold at least one event")
        raise InvalidEvent(
            "There is nothing to send.", hint="Send one event or more.", fields=[problem]
        )
    return documents

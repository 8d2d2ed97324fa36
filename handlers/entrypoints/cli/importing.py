"""The command that imports a file of events, however long it is."""

import contextlib
import os
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from domain.errors import LeadError, Rejected
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.progress import Progress
from handlers.entrypoints.cli.sending import PANEL, STDIN, Source, opened
from handlers.entrypoints.cli.session import Session
from handlers.entrypoints.cli.words import Words, program_name
from handlers.entrypoints.outcomes import (
    EXIT_CONFLICT,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_PARTIAL,
    EXIT_USAGE,
    said,
)

if TYPE_CHECKING:
    from handlers.import_files import Counts, Position, Tracker
    from handlers.importing import Importing, Report


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    command(program, "import", panel=PANEL)(import_)


def import_(
    session: Session,
    source: Source,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the last import of the file stopped.")
    ] = False,
    rejects: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
            help="Takes the lines that were not recorded; FILE.rejects.jsonl unless given.",
        ),
    ] = None,
) -> int:
    """Import a file of events, one JSON object a line.

    Safe to stop and to repeat at any time: what is recorded already counts as duplicate.
    """
    if resume and str(source) == STDIN:
        message = "What comes from stdin cannot be read from the middle."
        raise Rejected(message, hint="Import it again without --resume, or from a file.")
    refused = rejects or _beside(source, ".rejects.jsonl")
    again = [*(program_name(), "import", str(source), "--resume"), *session.options.as_flags()]
    again += ["--rejects", str(rejects)] if rejects else []
    with opened(source) as stream:
        try:
            report = run_import(session, stream, source, resume=resume, rejects=refused)
        except LeadError as error:
            if error.code == "unavailable" and str(source) != STDIN:
                error.hint = f"Go on when the store answers: {shlex.join(again)}"
            raise
    _show(session, report.counts, refused)
    if not report.finished:
        session.words.say(f"Stopped. Nothing is lost; go on with:\n  {shlex.join(again)}")
        return EXIT_INTERRUPTED
    if report.cut:
        session.words.warn(
            "The file ends in the middle of its last line. Complete it, and --resume."
        )
    return _exit_code(report.counts)


def run_import(
    session: Session, stream: BinaryIO, source: Path, *, resume: bool, rejects: Path
) -> "Report":
    """Import a stream, telling how far it is, until its end or Ctrl-C."""
    from handlers.import_files import NoProgress, Position, ProgressFile, Rejects

    tracker: Tracker = (
        NoProgress()
        if str(source) == STDIN
        else ProgressFile(_beside(source, ".progress.json"), stream)
    )
    kept = tracker.load() if resume else None
    if resume:
        session.words.say(
            "No position was kept; beginning at the first line."
            if kept is None
            else f"Going on after line {kept.line:,}."
        )
    position = kept or Position()
    size = os.fstat(stream.fileno()).st_size if str(source) != STDIN else None
    importing = _importing(session)
    if position.offset:
        stream.seek(position.offset)
    with (
        Rejects(rejects, keep=position.rejects) as refused,
        Progress(session.words, "Importing", "lines", size, start=position.offset) as progress,
        _stopping(session.words) as stop,
    ):

        def after_batch(reached: "Position") -> bool:
            done = reached.counts.lines - position.counts.lines
            progress.advance(reached.offset, done, _told(reached.counts))
            return not stop

        return importing.run(stream, position, tracker, refused, after_batch)


def _importing(session: Session) -> "Importing":
    from handlers.importing import Importing
    from handlers.ingest import Sender
    from handlers.shapes import problem_json

    return Importing(
        door=session.app.ingest,
        sender=Sender(organization_id=session.organization),
        problem=lambda error: problem_json(error, said(error).status),
        pause=session.app.log.pause,
    )


@contextlib.contextmanager
def _stopping(words: Words) -> Iterator[list[int]]:
    """Turn the first Ctrl-C into a wish, which fills the list; the second one interrupts."""
    wished: list[int] = []

    def wish(number: int, _frame: FrameType | None) -> None:
        if wished:
            raise KeyboardInterrupt
        wished.append(number)
        words.say("Stopping after this batch; Ctrl-C again stops at once.")

    try:
        before = signal.signal(signal.SIGINT, wish)
    except ValueError:
        # Not the main thread, which alone gets signals.
        yield wished
        return
    try:
        yield wished
    finally:
        signal.signal(signal.SIGINT, before)


def _show(session: Session, counts: "Counts", rejects: Path) -> None:
    refused = counts.conflict + counts.rejected
    shown = {
        "created": counts.created,
        "duplicate": counts.duplicate,
        "conflict": counts.conflict,
        "rejected": counts.rejected,
    }
    file = str(rejects) if refused else None
    session.out.facts({**shown, "rejectsFile": file}, list(shown.items()))
    if refused:
        session.words.say(f"{refused:,} line(s) were not recorded; why stands in {rejects}")


def _told(counts: "Counts") -> str:
    told = f"{counts.created:,} created, {counts.duplicate:,} duplicate"
    refused = counts.conflict + counts.rejected
    return f"{told}, {refused:,} refused" if refused else told


def _exit_code(counts: "Counts") -> int:
    if not counts.conflict and not counts.rejected:
        return EXIT_OK
    if counts.created or counts.duplicate or (counts.conflict and counts.rejected):
        return EXIT_PARTIAL
    return EXIT_CONFLICT if counts.conflict else EXIT_USAGE


def _beside(source: Path, suffix: str) -> Path:
    if str(source) == STDIN:
        return Path(f"stdin{suffix}")
    return source.with_name(source.name + suffix)

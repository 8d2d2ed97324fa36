"""The command for the hour after a restore: the log is made whole before anything writes to it."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final

import typer

from domain.errors import LeadError
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.output import Form, JsonObject, printable
from handlers.entrypoints.cli.progress import Progress
from handlers.entrypoints.cli.rebuilding import PANEL
from handlers.entrypoints.cli.session import Session
from handlers.entrypoints.outcomes import EXIT_CONFLICT, EXIT_OK, EXIT_UNAVAILABLE

if TYPE_CHECKING:
    from projections.restoring import Restored

_COUNTED: Final = ("whole", "mended", "torn", "failed", "lost", "receipts")
_SHOWN_POSITIONS: Final = 20


def register(program: typer.Typer) -> None:
    """Add the command of this module."""
    command(program, "restored", panel=PANEL)(restored)


def restored(
    session: Session,
    apply: Annotated[
        bool, typer.Option("--apply", help="Do it; without this it only says what is missing.")
    ] = False,
) -> int:
    """Make a log whole that came back from a backup, before anything writes to it.

    A point-in-time restore may hold part of a commit. For every lead of every organization: the head is brought to the last event, missing receipts are made again, a
    lost event's position says so, and views are made again from the events. Stop all writers first. May be stopped and repeated. Exit code 4 if events are lost, or
    two stand at one position.
    """
    maintenance = session.existing().maintenance
    leads = list(maintenance.streams())
    counts: Counter[str] = Counter(dict.fromkeys(_COUNTED, 0))
    found: list[JsonObject] = []
    try:
        with Progress(session.words, "Restoring", "leads", len(leads)) as progress:
            for number, lead in enumerate(leads, 1):
                now = session.now() if apply else None
                try:
                    shown = _shown(maintenance.restored(lead, now))
                except LeadError as error:
                    shown = {
                        "leadOrganizationId": lead,
                        "state": "failed",
                        "code": error.code,
                        "detail": str(error),
                    }
                _count(counts, shown)
                _tell(session, shown, found, applied=apply)
                progress.advance(number, number)
    except KeyboardInterrupt:
        session.words.say("Stopped. What was done stands; run the same command to go on.")
        raise
    _sum_up(session, {"leads": len(leads), **counts, "applied": apply}, found)
    if counts["lost"] or counts["torn"]:
        return EXIT_CONFLICT
    return EXIT_UNAVAILABLE if counts["failed"] else EXIT_OK


def _count(counts: Counter[str], shown: JsonObject) -> None:
    counts[shown["state"]] += 1
    counts["lost"] += len(shown.get("lost", ()))
    counts["receipts"] += shown.get("receipts", 0)


def _tell(session: Session, shown: JsonObject, found: list[JsonObject], *, applied: bool) -> None:
    """Tell of one lead that is not as it should be; of all as JSON lines."""
    if session.out.form is Form.JSONL:
        session.out.line(shown)
        return
    if shown["state"] == "whole":
        return
    if session.out.form is Form.JSON:
        found.append(shown)
        return
    session.words.say(printable(f"{shown['leadOrganizationId']}  {_words(shown, applied=applied)}"))


def _words(shown: JsonObject, *, applied: bool) -> str:
    if shown["state"] == "failed":
        return f"failed: {shown['detail']}"
    if shown["state"] == "torn":
        return "torn: two events at one position, so a writer ran; restore again, and stop it first"
    told = [f"head at {shown['headAt']} of {shown['version']}"]
    if shown["receipts"]:
        told.append(f"{shown['receipts']} receipt(s) missing")
    if shown["lost"]:
        positions = ", ".join(map(str, shown["lost"][:_SHOWN_POSITIONS]))
        more = len(shown["lost"]) - _SHOWN_POSITIONS
        told.append(f"lost: {positions}{f' and {more} more' if more > 0 else ''}")
    return f"{'mended' if applied else 'to be mended'}: {'; '.join(told)}"


def _sum_up(session: Session, summary: JsonObject, found: list[JsonObject]) -> None:
    if session.out.form is Form.JSON:
        session.out.document({"summary": summary, "leads": found})
    elif session.out.form is Form.JSONL:
        session.out.line({"summary": summary})
    else:
        session.out.facts(summary)
    if not summary["applied"]:
        session.words.say("Nothing was changed: --apply does it, once no writer runs.")


def _shown(restored: "Restored") -> JsonObject:
    shown: JsonObject = {
        "leadOrganizationId": restored.lead,
        "organizationId": restored.organization_id,
        "state": restored.state,
        "headAt": restored.head_at,
        "version": restored.version,
        "lost": list(restored.lost),
        "receipts": restored.receipts,
    }
    if restored.verified is not None:
        shown["verified"] = restored.verified.state
    return shown

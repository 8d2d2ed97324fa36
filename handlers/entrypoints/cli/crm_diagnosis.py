"""The command that says whether the mirror and the CRM agree. It reads only."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from domain.errors import LeadError, Rejected
from handlers.entrypoints.cli import moments
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.output import Form, JsonObject, field
from handlers.entrypoints.cli.session import Session

if TYPE_CHECKING:
    from domain.crm.drift import Drift, Snapshot
    from handlers.crm.diagnosing import Report

CLEAN, DRIFT, FAILED = 0, 1, 2
"""Exit codes of this command (research/crm.md §4.7)."""

_DRIFTS: Final = (
    field("class"),
    field("sessionId", "session"),
    field("dealId", "deal"),
    field("about"),
    field("by"),
    field("kept", "may stay"),
)


def register(group: typer.Typer) -> None:
    """Add the command of this module to the group of the mirror."""
    command(group, "diagnose")(diagnose)


def diagnose(
    session: Session,
    *,
    remote: Annotated[
        bool, typer.Option("--remote", help="Read the deals in the CRM, 100 a request.")
    ] = False,
    contacts: Annotated[
        bool,
        typer.Option("--contacts", help="With --remote: their contacts too, a request a deal."),
    ] = False,
    snapshot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Compare with this file instead: deals as HubSpot's API lists them, one a line.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help=f"Only rows that changed since: {moments.HELP}."),
    ] = None,
) -> int:
    """Compare the mirror's rows with the log, and with the CRM or a file of it. Changes nothing.

    Without --remote or --snapshot the CRM is not looked at, and nothing is proved about it. What
    people changed and may keep is told, and is no drift.

    Exit code 0: clean; 1: drift; 2: it could not be told.
    """
    try:
        report = _report(session, remote=remote, contacts=contacts, file=snapshot, since=since)
    except LeadError as error:
        session.words.problem(error)
        return FAILED
    _tell(session, report)
    return CLEAN if report.is_clean else DRIFT


def _report(
    session: Session, *, remote: bool, contacts: bool, file: Path | None, since: str | None
) -> "Report":
    from handlers.bootstrap.crm_operators import build_diagnosing
    from handlers.settings import read_crm_settings

    if (remote and file is not None) or (contacts and not remote):
        hint = "Give --remote, with --contacts if you like, or --snapshot, or neither."
        raise Rejected("What to compare with is not clear.", hint=hint)
    app, organization = session.existing(), session.organization
    began = moments.moment(session, since, "--since") or ""
    diagnosing = build_diagnosing(app, read_crm_settings(), remote=remote)
    try:
        if remote:
            return diagnosing.remote(organization, since=began, contacts=contacts)
        if file is not None:
            return diagnosing.against(organization, _read(file), since=began)
        return diagnosing.rows(organization, since=began)
    finally:
        diagnosing.close()


def _read(file: Path) -> "Snapshot":
    from dataclasses import replace

    from domain.instants import format_instant
    from handlers.bootstrap.crm_operators import read_snapshot

    try:
        with file.open("rb") as lines:
            snapshot = read_snapshot(lines)
        changed_at = format_instant(datetime.fromtimestamp(file.stat().st_mtime, UTC))
    except OSError:
        message = "The snapshot cannot be read."
        raise Rejected(message, hint="Give --snapshot a file that is there.") from None
    return snapshot if snapshot.taken_at else replace(snapshot, taken_at=changed_at)


def _tell(session: Session, report: "Report") -> None:
    heading: JsonObject = {
        "against": report.against,
        "asOf": report.as_of or None,
        "rows": report.rows,
        "compared": report.compared,
        "clean": report.is_clean,
        "proof": report.proof,
    }
    if session.out.form is Form.JSONL:
        session.out.line(heading)
    session.out.listing("drifts", map(_drift, report.drifts), _DRIFTS, **heading)
    words = f"{report.rows} rows, {report.compared} compared with a deal, as of {report.as_of}."
    session.words.say(f"{words} {report.proof}")


def _drift(drift: "Drift") -> JsonObject:
    return {
        "class": drift.kind,
        "sessionId": drift.session_id or None,
        "dealId": drift.deal_id or None,
        "about": drift.about or None,
        "by": drift.by or None,
        "kept": drift.kept,
    }

"""Commands on the CRM's mirror: how it stands, what it does next, and whether it can."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from handlers.entrypoints.cli import crm_acts, crm_diagnosis
from handlers.entrypoints.cli.administration import add_group
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.crm_common import (
    Apply,
    Reason,
    SessionId,
    ask,
    operators,
    processor,
    shown,
)
from handlers.entrypoints.cli.diagnosis import tell
from handlers.entrypoints.cli.output import Form, JsonObject, field, printable
from handlers.entrypoints.cli.people import Operator
from handlers.entrypoints.cli.session import Session
from handlers.entrypoints.cli.tracing import STEPS
from handlers.entrypoints.outcomes import EXIT_CONFLICT, EXIT_OK, EXIT_UNAVAILABLE

if TYPE_CHECKING:
    from handlers.crm.control import Rest
    from handlers.crm.examining import Examining
    from handlers.crm.showing import Entry

_ENTRIES: Final = (
    field("sessionId", "session"),
    field("status"),
    field("blockedReason", "blocked for"),
    field("since"),
    field("dueAt", "due"),
    field("attempts", number=True),
    field("error"),
    field("dealId", "deal"),
    field("lead", wide=True),
)
_PROPERTIES: Final = (
    field("of"),
    field("name"),
    field("state"),
    field("reason", wide=True),
)
_STAGES: Final = (field("stage"), field("variable"), field("id"))


def register(program: typer.Typer) -> None:
    """Add the commands of this module, and those of its siblings."""
    group = add_group(program, "crm", "Look after the mirror of sessions in the CRM.")
    command(group, "status")(status)
    command(group, "show")(show)
    command(group, "sync")(sync)
    command(group, "pause")(pause)
    command(group, "resume")(resume)
    command(group, "bootstrap")(bootstrap)
    command(group, "doctor")(doctor)
    crm_acts.register(group)
    crm_diagnosis.register(group)


def status(
    session: Session,
    list_: Annotated[
        bool, typer.Option("--list", help="List what is not confirmed, the oldest first.")
    ] = False,
    only: Annotated[
        str | None,
        typer.Option(
            "--status", metavar="STATUS", help="List those: PENDING, UNCERTAIN, BLOCKED, SYNCED."
        ),
    ] = None,
) -> None:
    """Count the rows that are not confirmed, say how long they have waited, and whether it rests.

    Confirmed rows are in no list, but for those that are looked at once more.
    """
    session.existing()
    showing = operators(session).showing
    if only is not None:
        found = showing.list_status(session.organization, only.upper())
        session.out.listing("rows", map(_entry, found), _ENTRIES)
        return
    if list_:
        problems = showing.problems(session.organization)
        session.out.listing("rows", map(_entry, problems), _ENTRIES)
        return
    seen = showing.overview(session.organization)
    session.out.facts(
        {
            **{name.lower(): count for name, count in seen.counts.items()},
            "blockedReasons": seen.reasons,
            "oldestSince": seen.oldest_since or None,
            "oldestPending": seen.oldest_pending or None,
            "rest": _rest(seen.rest),
        }
    )


def show(session: Session, session_id: SessionId) -> None:
    """Show one row, and every attempt with the CRM's id of the request. No content."""
    from domain.crm.operating import told

    session.existing()
    found = operators(session).showing.show(session.organization, session_id)
    steps = [
        {
            "sequence": each.sequence,
            "receivedAt": each.received_at,
            "eventType": each.event_type,
            "told": each.told,
        }
        for each in found.steps
    ]
    row = {
        **shown(found.stands),
        "leadOrganizationId": found.lead,
        "lastError": found.last_error or None,
        "quarantined": list(found.quarantined),
    }
    session.out.listing("steps", steps, STEPS, row=row)
    if session.out.form is Form.TEXT:
        session.words.say(printable(f"Lead {found.lead}: {told(found.stands)}."))


def sync(
    session: Session,
    session_id: Annotated[
        str | None,
        typer.Argument(metavar="[SESSION]", help="Only this one, due or not.", show_default=False),
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=1, max=3600, metavar="N", help="Begin no row after so long.")
    ] = 70,
) -> int:
    """Work on what is due now, once, as the minute does.

    Exit code 0: done; 4: a row needs a person; 5: the account rests or the store does not answer.
    """
    session.existing()
    worker = processor(session)
    if session_id is not None:
        lead, _ = operators(session).showing.find(session.organization, session_id)
        ending = worker.sync_one(session.organization, lead, session_id)
        session.out.facts({"sessionId": session_id, "ending": ending})
        return _code_of({ending})
    report = worker.run(seconds)
    session.out.facts(
        {
            "rows": report.rows,
            "endings": dict(sorted(report.endings.items())),
            "events": dict(sorted(report.events.items())),
            "requests": report.requests,
            "stopped": report.stopped or None,
            "tookSeconds": round(report.took_s, 3),
        }
    )
    return _code_of({report.stopped, *report.endings})


def pause(
    session: Session, *, apply: Apply = False, reason: Reason = "", operator: Operator = None
) -> None:
    """Let the account rest until somebody resumes it: nothing is sent, nothing is lost."""
    session.existing()
    asked = ask(reason, operator, apply=apply)
    rest = operators(session).pause(session.organization, asked)
    session.out.facts({"applied": apply, "rest": _rest(rest)})
    _say_dry(session, apply, "The account would rest until it is resumed.")


def resume(
    session: Session, *, apply: Apply = False, reason: Reason = "", operator: Operator = None
) -> None:
    """Use the account again, whyever it rests."""
    session.existing()
    asked = ask(reason, operator, apply=apply)
    rested = operators(session).resume(session.organization, asked)
    session.out.facts({"applied": apply, "rested": rested})
    _say_dry(session, apply, "It would be used again." if rested else "It does not rest.")


def bootstrap(
    session: Session,
    apply: Annotated[
        bool, typer.Option("--apply", help="Make what is missing; else only say so.")
    ] = False,
) -> int:
    """Make the two unique properties in the account, and show which stage is which.

    Its token needs crm.schemas.contacts.write and crm.schemas.deals.write; nothing else does.
    """
    from domain.crm.desired import STAGES

    examining = _examining(session)
    found = examining.bootstrap(apply=apply)
    properties = [each._asdict() for each in found]
    ids = examining.stage_ids()
    stages = [
        {"stage": name, "variable": f"HUBSPOT_STAGE_{name.upper()}", "id": ids[name]}
        for name in STAGES
    ]
    session.out.listing("properties", properties, _PROPERTIES, stages=stages, applied=apply)
    if session.out.form is Form.TEXT:
        session.out.table(stages, _STAGES)
    missing = any(each.state == "missing" for each in found)
    _say_dry(session, apply or not missing, "What is missing would be made.")
    states = {each.state for each in found}
    if "unknown" in states:
        return EXIT_UNAVAILABLE
    return EXIT_CONFLICT if "unfit" in states else EXIT_OK


def doctor(session: Session) -> int:
    """Say whether the mirror can do its work: settings, token, scopes, stages, keys. Reads only.

    Exit code 0: well; 4: something needs you; 5: the CRM does not answer.
    """
    return tell(session, _examining(session).examine(session.organization))


def _examining(session: Session) -> "Examining":
    from handlers.bootstrap.crm_operators import build_examining

    session.existing()
    return build_examining(session.crm)


def _code_of(endings: set[str]) -> int:
    if endings & {"account", "store", "paused", "breaker"}:
        return EXIT_UNAVAILABLE
    return EXIT_CONFLICT if endings & {"blocked", "uncertain", "failed"} else EXIT_OK


def _say_dry(session: Session, applied: bool, text: str) -> None:
    if not applied:
        session.words.say(f"{text} Nothing was changed; --apply does it.")


def _rest(rest: "Rest | None") -> JsonObject | None:
    if rest is None:
        return None
    told: dict[str, Any] = asdict(rest)
    return {
        "why": told["why"],
        "reason": told["reason"],
        "since": told["opened_at"],
        "until": told["until"] or None,
        "operator": told["operator"] or None,
    }


def _entry(entry: "Entry") -> JsonObject:
    return {
        "sessionId": entry.session_id,
        "status": entry.status,
        "blockedReason": entry.blocked_reason or None,
        "since": entry.since or None,
        "dueAt": entry.due_at or None,
        "attempts": entry.attempts,
        "error": entry.error or None,
        "dealId": entry.deal_id or None,
        "lead": entry.lead,
    }

"""Commands on what could not be translated: look at it, and read it again with today's adapters."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from domain.errors import NotFound, Rejected
from handlers.entrypoints.cli.administration import add_group
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.output import Column, JsonObject, field
from handlers.entrypoints.cli.session import Session
from handlers.entrypoints.outcomes import EXIT_NOT_FOUND, EXIT_OK, EXIT_PARTIAL, said

if TYPE_CHECKING:
    from handlers.quarantine import Quarantined, Reason

_COLUMNS: Final = (
    field("quarantineId", "id"),
    field("receivedAt", "received"),
    field("expiresAt", "kept until"),
    field("adapter"),
    field("size", "bytes", number=True),
    Column("reason", lambda kept: _told(kept["reason"]), wide=True),
)
_REDRIVEN: Final = (
    field("quarantineId", "id"),
    Column("before", lambda each: _told(each["before"]), wide=True),
    Column("now", lambda each: each["after"]["status"]),
    Column("because", lambda each: _told(each["after"].get("problem") or {}), wide=True),
    field("released"),
)


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    group = add_group(program, "quarantine", "Look at what could not be translated.")
    command(group, "list")(list_)
    command(group, "show")(show)
    command(group, "redrive")(redrive)


def list_(session: Session) -> None:
    """List what is in quarantine, oldest first, and why."""
    session.out.listing("quarantine", map(_shown, kept(session)), _COLUMNS)


def show(
    session: Session,
    quarantine_id: Annotated[str, typer.Argument(metavar="ID", show_default=False)],
) -> None:
    """Show one thing in quarantine as it came."""
    app = session.existing()
    found = app.quarantine.show(session.organization, quarantine_id, now=app.now())
    raw = (found.raw or b"").decode("utf-8", "replace")
    session.out.facts({**_shown(found), "raw": raw})


def redrive(
    session: Session,
    quarantine_ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]…", help="Which ones.", show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Record what can be read now; else only say so.")
    ] = False,
) -> int:
    """Read things again with the adapters of today, and say what changes.

    Writes nothing without --apply.
    """
    from handlers.ingest import Sender

    if bool(quarantine_ids) is every:
        raise Rejected("Which ones is not clear.", hint="Give their ids, or --all.")
    app = session.existing()
    ids = quarantine_ids or [each.quarantine_id for each in kept(session)]
    sender = Sender(organization_id=session.organization)
    told: list[JsonObject] = []
    for each in ids:
        try:
            done = app.quarantine.redrive(sender, each, app.ingest, now=app.now(), apply=apply)
        except NotFound:
            if len(ids) == 1:
                raise
            continue
        told.append(_redriven(done))
    session.out.listing("redriven", told, _REDRIVEN, applied=apply)
    stands = sum(each["after"]["status"] in {"created", "duplicate"} for each in told)
    verb = "recorded" if apply else "can be recorded with --apply"
    session.words.say(f"{stands} of {len(ids)} {verb}.")
    if ids and not told:
        return EXIT_NOT_FOUND
    return EXIT_OK if stands == len(ids) else EXIT_PARTIAL


def kept(session: Session) -> "Iterator[Quarantined]":
    """Return all that the organization has in quarantine, oldest first."""
    from domain.records import every

    app = session.existing()
    return every(
        lambda cursor: app.quarantine.list(session.organization, now=app.now(), cursor=cursor)
    )


def _shown(found: "Quarantined") -> JsonObject:
    return {
        "quarantineId": found.quarantine_id,
        "receivedAt": found.received_at,
        "expiresAt": found.expires_at,
        "adapter": found.adapter,
        "size": found.size,
        "reason": _reason(found.reason),
    }


def _reason(reason: "Reason") -> JsonObject:
    return {
        "type": f"/problems/{reason.code}",
        "detail": reason.detail,
        "errors": [each._asdict() for each in reason.fields],
    }


def _redriven(done: Any) -> JsonObject:
    from handlers.shapes import item_json

    after = done.after
    return {
        "quarantineId": done.quarantine_id,
        "before": _reason(done.before),
        "after": item_json(after, said(after.error).status if after.error else 200),
        "released": done.released,
    }


def _told(problem: JsonObject) -> str:
    fields = "; ".join(
        f"{each['pointer'] or '/'}: {each['detail']}" for each in problem.get("errors", ())
    )
    return fields or str(problem.get("detail", ""))

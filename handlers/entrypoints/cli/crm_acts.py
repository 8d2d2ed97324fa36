"""Commands that set the mirror of a session right. Without --apply they only say what would happen."""

from typing import Annotated

import typer

from domain.errors import Rejected
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.crm_common import (
    Apply,
    Etag,
    Reason,
    SessionId,
    SessionIds,
    ask,
    many,
    one,
    operators,
)
from handlers.entrypoints.cli.people import Operator
from handlers.entrypoints.cli.session import Session


def register(group: typer.Typer) -> None:
    """Add the commands of this module to the group of the mirror."""
    command(group, "retry")(retry)
    command(group, "reconcile")(reconcile)
    command(group, "release")(release)
    command(group, "adopt")(adopt)
    command(group, "recreate")(recreate)
    command(group, "unlink")(unlink)


def retry(
    session: Session,
    session_ids: SessionIds = None,
    *,
    blocked_reason: Annotated[
        str | None,
        typer.Option(metavar="REASON", help="Every one that is blocked for this instead."),
    ] = None,
    apply: Apply = False,
    reason: Reason = "",
    operator: Operator = None,
    etag: Etag = None,
) -> int:
    """Work on what is BLOCKED or PENDING now, as if it had never failed."""
    acts = operators(session)
    named = session_ids or []
    if bool(named) is (blocked_reason is not None):
        raise _unclear("Give sessions, or --blocked-reason.")
    if blocked_reason is not None:
        named = acts.blocked(session.organization, blocked_reason)
    _one_etag(named, etag)
    asked = ask(reason, operator, apply=apply, etag=etag)
    if len(named) == 1 and blocked_reason is None:
        return one(session, lambda: acts.retry(session.organization, named[0], asked))
    return many(session, acts.retry_many(session.organization, named, asked), asked)


def reconcile(
    session: Session,
    session_ids: SessionIds = None,
    *,
    every: Annotated[
        bool, typer.Option("--all-uncertain", help="Every one that is in doubt instead.")
    ] = False,
    apply: Apply = False,
    reason: Reason = "",
    operator: Operator = None,
    etag: Etag = None,
) -> int:
    """Look up by its key what became of a creation, now, and go on from there."""
    acts = operators(session)
    named = session_ids or []
    if bool(named) is every:
        raise _unclear("Give sessions, or --all-uncertain.")
    if every:
        named = acts.uncertain(session.organization)
    _one_etag(named, etag)
    asked = ask(reason, operator, apply=apply, etag=etag)
    if len(named) == 1 and not every:
        return one(session, lambda: acts.reconcile(session.organization, named[0], asked))
    return many(session, acts.reconcile_many(session.organization, named, asked), asked)


def release(
    session: Session,
    session_id: SessionId,
    *,
    checked: Annotated[
        bool, typer.Option("--checked-absent", help="You searched the CRM: there is no such deal.")
    ] = False,
    evidence: Annotated[
        str, typer.Option(metavar="TEXT", help="What you searched for, and how; kept.")
    ] = "",
    apply: Apply = False,
    reason: Reason = "",
    operator: Operator = None,
    etag: Etag = None,
) -> int:
    """Let a deal be created whose first creation is in doubt: you say that there is none.

    Only where the account has no unique key, and not before ten minutes after the creation began.
    """
    if not checked or not evidence.strip():
        raise Rejected(
            "That you searched the CRM is not said.",
            hint="Give --checked-absent, and --evidence what you searched for.",
        )
    acts, asked = operators(session), ask(reason, operator, apply=apply, etag=etag)
    return one(
        session,
        lambda: acts.release(session.organization, session_id, asked, evidence=evidence.strip()),
    )


def adopt(
    session: Session,
    session_id: SessionId,
    *,
    deal_id: Annotated[
        str, typer.Option(metavar="ID", help="The CRM's id of the deal.", show_default=False)
    ],
    contact_id: Annotated[
        str | None, typer.Option(metavar="ID", help="Also make this contact the lead's.")
    ] = None,
    apply: Apply = False,
    reason: Reason = "",
    operator: Operator = None,
    etag: Etag = None,
) -> int:
    """Make a deal that stands in the CRM the session's own, and give it the session's key.

    A deal that another session was before keeps the key it has.
    """
    acts, asked = operators(session), ask(reason, operator, apply=apply, etag=etag)
    return one(
        session,
        lambda: acts.adopt(
            session.organization, session_id, asked, deal_id=deal_id, contact_id=contact_id
        ),
    )


def recreate(
    session: Session,
    session_id: SessionId,
    *,
    known: Annotated[
        bool,
        typer.Option("--i-know-the-deal-was-deleted", help="Somebody deleted it on purpose."),
    ] = False,
    apply: Apply = False,
    reason: Reason = "",
    operator: Operator = None,
    etag: Etag = None,
) -> int:
    """Create another deal in place of one that people archived or deleted."""
    if not known:
        raise Rejected(
            "People take deals away for a reason.",
            hint="If another one is to be created, say --i-know-the-deal-was-deleted.",
        )
    acts, asked = operators(session), ask(reason, operator, apply=apply, etag=etag)
    return one(session, lambda: acts.recreate(session.organization, session_id, asked))


def unlink(
    session: Session,
    session_id: SessionId,
    *,
    apply: Apply = False,
    reason: Reason = "",
    operator: Operator = None,
    etag: Etag = None,
) -> int:
    """Let a session no longer be its deal: the deal stays, and another one is created.

    From then on another session may adopt it.
    """
    acts, asked = operators(session), ask(reason, operator, apply=apply, etag=etag)
    return one(session, lambda: acts.unlink(session.organization, session_id, asked))


def _one_etag(named: list[str], etag: str | None) -> None:
    if etag is not None and len(named) != 1:
        raise _unclear("An --etag is of one row: give one session.")


def _unclear(hint: str) -> Rejected:
    return Rejected("Which ones is not clear.", hint=hint)

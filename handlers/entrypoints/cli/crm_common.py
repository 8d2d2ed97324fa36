"""What the commands on the CRM's mirror share: how an act is asked for, and how it is told."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final

import typer

from domain.errors import Rejected
from handlers.entrypoints.cli.output import Form, JsonObject, field
from handlers.entrypoints.cli.people import operator_name
from handlers.entrypoints.cli.session import Session
from handlers.entrypoints.outcomes import EXIT_OK, EXIT_PARTIAL

if TYPE_CHECKING:
    from domain.crm.operating import Stands
    from handlers.crm.acts import Acted, Ask
    from handlers.crm.operating import CrmOperators, Refused
    from handlers.crm.worker import CrmSyncProcessor

SessionId = Annotated[str, typer.Argument(metavar="SESSION", show_default=False)]
SessionIds = Annotated[list[str] | None, typer.Argument(metavar="[SESSION]…", show_default=False)]
Apply = Annotated[bool, typer.Option("--apply", help="Do it; else only say what would happen.")]
Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why; kept. Needed with --apply.")
]
Etag = Annotated[
    str | None,
    typer.Option(
        metavar="ETAG", help="Of the row you saw (`leads crm show`); refused if it changed."
    ),
]

_ACTED: Final = (
    field("sessionId", "session"),
    field("action"),
    field("applied"),
    field("before"),
    field("after"),
    field("deal"),
    field("then"),
    field("etag"),
    field("problem"),
    field("next", wide=True),
)


def operators(session: Session) -> "CrmOperators":
    """Return what operators do; nothing is opened that is not there."""
    from handlers.bootstrap.crm_operators import build_operators

    app = session.existing()
    return build_operators(app, session.crm)


def processor(session: Session) -> "CrmSyncProcessor":
    """Return the worker.

    Raises:
        Rejected: there is no account to work on.
    """
    found = session.crm.processor
    if found is None:
        hint = "Set HUBSPOT_TOKEN to the access token of a private app."
        raise Rejected("There is no account of the CRM.", hint=hint)
    return found


def ask(reason: str, operator: str | None, *, apply: bool, etag: str | None = None) -> "Ask":
    """Return how an act is asked for; who acts is the login unless given."""
    from handlers.crm.acts import Ask

    return Ask(operator=operator_name(operator), reason=reason, apply=apply, etag=etag)


def shown(stands: "Stands") -> JsonObject:
    """Return a row as JSON; what is empty is null."""
    return {_camel(name): value or None for name, value in asdict(stands).items()} | {
        "attempts": stands.attempts
    }


def one(session: Session, act: "Callable[[], Acted]") -> int:
    """Do or foretell one act and tell of it; a refusal says what stands."""
    with _telling(session):
        acted = act()
    line = _acted(acted)
    rows = {"row": shown(acted.after), "was": shown(acted.before)}
    if session.out.form is Form.TEXT:
        session.out.facts({name: value for name, value in line.items() if value is not None})
    else:
        session.out.facts({**line, **rows})
    _say(session, applied=acted.applied)
    return EXIT_OK


def many(session: Session, acts: "Iterable[Acted | Refused]", asked: "Ask") -> int:
    """Tell of several acts, each apart; return the exit code."""
    told = [_told(each) for each in acts]
    session.out.listing("acts", told, _ACTED, applied=asked.apply)
    refused = sum("problem" in each for each in told)
    session.words.say(f"{len(told) - refused} of {len(told)} rows.")
    _say(session, applied=asked.apply)
    return EXIT_PARTIAL if refused else EXIT_OK


def _say(session: Session, *, applied: bool) -> None:
    if not applied:
        session.words.say("Nothing was changed; --apply --reason TEXT does it.")


def _told(each: "Acted | Refused") -> JsonObject:
    from handlers.crm.operating import Refused

    if not isinstance(each, Refused):
        return _acted(each)
    return {
        "sessionId": each.session_id,
        "action": each.action,
        "applied": False,
        "problem": each.error.code,
        "next": each.error.hint,
    }


def _acted(acted: "Acted") -> JsonObject:
    return {
        "sessionId": acted.session_id,
        "action": acted.action,
        "applied": acted.applied,
        "before": acted.before.status,
        "after": acted.after.status,
        "deal": acted.after.deal_id or None,
        "then": acted.then or None,
        "etag": acted.after.etag if acted.applied else acted.before.etag,
    }


@contextmanager
def _telling(session: Session) -> Iterator[None]:
    """Let a refusal say what stands, as data under --json."""
    from domain.crm.operating import ActRefused

    try:
        yield
    except ActRefused as error:
        if session.out.form is not Form.TEXT:
            session.out.facts({"error": error.code, "now": shown(error.stands)})
        raise


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)

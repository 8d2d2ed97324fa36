"""Commands that read what is remembered of a lead."""

from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from domain.errors import NotFound, Rejected
from handlers.entrypoints.cli import moments
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.events import PANEL, SEQUENCE, Lead
from handlers.entrypoints.cli.output import Column, Form, field
from handlers.entrypoints.cli.session import Session

if TYPE_CHECKING:
    from handlers.reads import Moment
    from projections.memories.explain import Explanation
    from projections.memories.render import Memory

AsOf = Annotated[
    str | None,
    typer.Option(metavar="TIME", help=f"Only what had happened by then: {moments.HELP}."),
]
KnownAt = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only what had been received by then.")
]

_COLUMNS: Final = (
    Column("memory", lambda memory: f"{memory['memoryType']}/{memory['key']}"),
    field("value", wide=True),
    field("confidence", number=True),
    field("sourceEventCount", "events", number=True),
    field("updatedAt", day=True),
    field("expiresAt", day=True),
)
_STEPS: Final = (
    SEQUENCE,
    field("occurredAt"),
    field("eventType"),
    field("source"),
    Column("rules", lambda step: ", ".join(step["rules"])),
    field("value", "value after it", wide=True),
)


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    command(program, "memories", panel=PANEL)(memories)
    command(program, "explain", panel=PANEL)(explain)
    command(program, "context", panel=PANEL)(context)
    command(program, "features", panel=PANEL)(features)


def memories(
    session: Session,
    lead: Lead,
    *,
    memory_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Of one type.")
    ] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    include_expired: Annotated[
        bool, typer.Option("--include-expired", help="Show what no longer holds too.")
    ] = False,
) -> None:
    """List what is remembered of a lead, now or in the past."""
    found = session.existing().reads.memories(
        session.organization,
        session.lead(lead),
        moment=_moment(session, as_of, known_at),
        memory_type=memory_type,
        include_expired=include_expired,
    )
    show(session, found)


def show(session: Session, found: "list[Memory]") -> None:
    """Show memories in the form that was asked for."""
    from handlers.shapes import memory_json

    session.out.listing("memories", [memory_json(each) for each in found], _COLUMNS)


def explain(
    session: Session,
    lead: Lead,
    memory: Annotated[
        str,
        typer.Argument(
            metavar="TYPE/KEY", help="As `leads memories` names it.", show_default=False
        ),
    ],
) -> None:
    """Show the events that a memory stands on, one by one."""
    memory_type, slash, key = memory.partition("/")
    if not slash:
        message = "A memory is named by its type and key, with a slash between."
        raise Rejected(message, hint="For example purchase/totals; `leads memories` lists them.")
    found = session.existing().reads.explain(
        session.organization, session.lead(lead), memory_type, key
    )
    if found.memory is None:
        raise NotFound(found.reason, hint="`leads memories` lists what is remembered.")
    if session.out.form is not Form.TEXT:
        from handlers.shapes import explanation_json

        session.out.facts(explanation_json(found))
        return
    session.words.say(
        f"{memory} {found.status}, with confidence {found.memory.confidence}."
        f" {len(found.steps)} event(s) contributed. {found.reason}".rstrip()
    )
    show_steps(session, found)
    for each in found.passed:
        session.words.say(f"Event {each.sequence} was passed over. {each.reason}")


def show_steps(session: Session, found: "Explanation") -> None:
    """Show the events a memory stands on, and what it read after each."""
    from handlers.shapes import explanation_json

    session.out.table(explanation_json(found)["events"], _STEPS)


def context(
    session: Session,
    lead: Lead,
    *,
    budget: Annotated[int, typer.Option(min=50, max=32_000, help="Of tokens.")] = 400,
    locale: Annotated[Literal["pt-BR", "en"], typer.Option(help="Of the words.")] = "pt-BR",
    form: Annotated[
        Literal["xml", "markdown", "json"], typer.Option("--format", help="Of the text.")
    ] = "xml",
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> None:
    """Write what an agent may read of a lead.

    The best memories that fit into a budget of tokens.
    """
    from handlers.shapes import context_json

    found = session.existing().reads.context(
        session.organization,
        session.lead(lead),
        budget=budget,
        locale=locale,
        form=form,
        moment=_moment(session, as_of, known_at),
    )
    if session.out.form is not Form.TEXT:
        session.out.facts(context_json(found))
        return
    session.out.text(found.text)
    session.words.say(
        f"{found.tokens} of {budget} tokens, {len(found.included)} memories,"
        f" {len(found.omitted)} left out."
    )


def features(session: Session, lead: Lead, as_of: AsOf = None) -> None:
    """Show a lead's features, now or at an instant of the past."""
    from handlers.shapes import features_json

    named = session.lead(lead)
    at = moments.moment(session, as_of, "--as-of")
    vector = session.existing().reads.features(session.organization, named, as_of=at)
    found = features_json(named, vector)
    session.out.facts(found, list(found["features"].items()))
    session.words.say(
        f"Computed for {found['computedAt']}; money in {found['currency'] or 'none'}."
    )


def _moment(session: Session, as_of: str | None, known_at: str | None) -> "Moment":
    from handlers.reads import Moment

    return Moment(
        as_of=moments.moment(session, as_of, "--as-of"),
        known_at=moments.moment(session, known_at, "--known-at"),
    )

"""Commands that read what happened to a lead."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from domain.errors import Rejected
from handlers.entrypoints.cli import moments
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.output import Column, Form, JsonObject, field
from handlers.entrypoints.cli.session import Session

if TYPE_CHECKING:
    from domain.event import LeadEvent

Lead = Annotated[
    str,
    typer.Argument(metavar="LEAD", help="A lead's id, or channel:identifier.", show_default=False),
]
Since = Annotated[str | None, typer.Option(metavar="TIME", help=f"From then on: {moments.HELP}.")]
Until = Annotated[str | None, typer.Option(metavar="TIME", help="Up to then, exclusive.")]


def _types() -> list[str]:
    from domain.catalog import TYPES

    return sorted(TYPES)


Type = Annotated[
    str | None, typer.Option("--type", metavar="TYPE", help="Of one type.", autocompletion=_types)
]

PANEL: Final = "Read leads"

SEQUENCE: Final = field("sequence", "#", number=True)
PAYLOAD: Final = field("payload", wide=True)
_COLUMNS: Final = (
    SEQUENCE,
    field("occurredAt"),
    field("eventType"),
    field("source"),
    field("externalEventId"),
    PAYLOAD,
)
_CSV: Final = (
    *(field(name) for name in ("leadOrganizationId", "sequence", "occurredAt", "receivedAt", "id")),
    *(field(name) for name in ("eventType", "schemaVersion", "sourceType", "source")),
    *(field(name) for name in ("externalEventId", "objectId", "objectIdRef")),
    *(field(name) for name in ("correlationId", "causationId")),
    PAYLOAD,
)
STORY: Final = (
    field("occurredAt", "when"),
    SEQUENCE,
    field("eventType", "what"),
    field("source"),
    Column("details", lambda event: summary(event["payload"]), wide=True),
    Column("", lambda event: "arrived late" if event["late"] else ""),
)
PAGE: Final = 50
_SUMMARY_FIELDS: Final = 4
_SUMMARY_CHARACTERS: Final = 40


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    command(program, "events", panel=PANEL)(events)
    command(program, "timeline", panel=PANEL)(timeline)


def events(
    session: Session,
    lead: Lead,
    *,
    event_type: Type = None,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = PAGE,
    order: Annotated[Literal["asc", "desc"], typer.Option(help="Oldest or newest first.")] = "asc",
    cursor: Annotated[
        str | None, typer.Option(metavar="CURSOR", help="Go on where an answer ended.")
    ] = None,
    csv: Annotated[
        bool, typer.Option("--csv", help="Comma-separated values.", rich_help_panel="Output")
    ] = False,
) -> None:
    """List a lead's events by the time they happened.

    With --type this is one query of the event-type-index.
    """
    if csv:
        if session.out.form is not Form.TEXT:
            raise Rejected("--csv goes with neither --json nor --jsonl.", hint="Choose one.")
        session.out.form = Form.CSV
    found = _Pages(session, lead, since, until)
    shown = found.read(event_type, limit, desc=order == "desc", cursor=cursor)
    columns = _CSV if session.out.form is Form.CSV else _COLUMNS
    session.out.listing("events", shown, columns, cursor=found.cursor)
    if found.cursor is not None:
        session.words.say(f"There are more: raise --limit, or go on with --cursor {found.cursor}")


def timeline(session: Session, lead: Lead, since: Since = None, until: Until = None) -> None:
    """Tell a lead's story in the order it happened.

    Marks what arrived after something that happened later.
    """
    found = _Pages(session, lead, since, until)
    told = _marked(found.read(None, None))
    session.out.listing("events", told, STORY, leadOrganizationId=found.lead)


def story(session: Session, lead: str) -> list[JsonObject]:
    """Return all events of a lead in the order they happened, with `late` for those of `timeline`."""
    return _marked(_Pages(session, lead, None, None).read(None, None))


def of_type(session: Session, lead: str, event_type: str, *, since: str) -> list[JsonObject]:
    """Return the events of one type since a time, at most a page."""
    return _Pages(session, lead, since, None).read(event_type, PAGE)


def summary(payload: JsonObject) -> str:
    """Return the first plain members of a payload, in a few words."""
    parts: list[str] = []
    for name, value in payload.items():
        if isinstance(value, str | int) and len(parts) < _SUMMARY_FIELDS:
            text = str(value)
            cut = f"{text[:_SUMMARY_CHARACTERS]}…" if len(text) > _SUMMARY_CHARACTERS else text
            parts.append(f"{name}={cut}")
    return " ".join(parts)


class _Pages:
    """The pages of one question, as far as they are wanted. `cursor` is where they ended."""

    def __init__(self, session: Session, lead: str, since: str | None, until: str | None) -> None:
        self.cursor: str | None = None
        self.lead = session.lead(lead)
        self._session = session
        self._since = moments.moment(session, since, "--since")
        self._until = moments.moment(session, until, "--until")

    def read(
        self,
        event_type: str | None,
        limit: int | None,
        *,
        desc: bool = False,
        cursor: str | None = None,
    ) -> list[JsonObject]:
        """Return at most `limit` events, all of them if it is None."""
        from handlers.shapes import event_json

        self.cursor = cursor
        return [event_json(each) for each in self._read(event_type, limit, desc=desc)]

    def _read(
        self, event_type: str | None, limit: int | None, *, desc: bool
    ) -> "Iterator[LeadEvent]":
        from handlers.reads import MAX_PAGE, EventQuery

        reads, wanted = self._session.existing().reads, limit
        while wanted is None or wanted > 0:
            query = EventQuery(
                event_type=event_type,
                since=self._since,
                until=self._until,
                desc=desc,
                limit=MAX_PAGE if wanted is None else min(wanted, MAX_PAGE),
                cursor=self.cursor,
            )
            page = reads.events(self._session.organization, self.lead, query)
            yield from page.items
            self.cursor = page.cursor
            if page.cursor is None:
                return
            wanted = None if wanted is None else wanted - len(page.items)


def _marked(told: list[JsonObject]) -> list[JsonObject]:
    """Mark every event with a higher sequence than one that happened after it."""
    lowest_after: float = float("inf")
    for event in reversed(told):
        event["late"] = event["sequence"] > lowest_after
        lowest_after = min(lowest_after, event["sequence"])
    return told

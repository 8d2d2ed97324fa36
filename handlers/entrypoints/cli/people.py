"""Commands of operators: who waits, take a conversation, write, hand it on, give it back, end it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from domain.errors import Rejected
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.events import Lead
from handlers.entrypoints.cli.output import Form, JsonObject, field, printable
from handlers.entrypoints.cli.session import Session

if TYPE_CHECKING:
    from domain.conversation.standing import Now, Seen, StateChanged
    from handlers.conversations.inbox import Entry

PANEL: Final = "Talk to leads"

Operator = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Who acts; your login name unless given."),
]
SeenMessage = Annotated[
    str | None,
    typer.Option(
        "--seen",
        metavar="MESSAGE",
        help="The lead's last message you saw; refused if it wrote more.",
    ),
]
Note = Annotated[str | None, typer.Option(metavar="TEXT", help="What the next one should know.")]

_ENTRIES: Final = (
    field("leadOrganizationId", "lead"),
    field("state"),
    field("minutes", number=True),
    field("reason"),
    field("segment"),
    field("assignedTo", "assigned to"),
    field("lastMessageId", "last message", wide=True),
)
_OPERATORS: Final = (field("operator"),)


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    command(program, "inbox", panel=PANEL)(inbox)
    command(program, "sessions", panel=PANEL)(sessions)
    command(program, "claim", panel=PANEL)(claim)
    command(program, "reply", panel=PANEL)(reply)
    command(program, "release", panel=PANEL)(release)
    command(program, "transfer", panel=PANEL)(transfer)
    command(program, "return", panel=PANEL)(return_)
    command(program, "close", panel=PANEL)(close)
    command(program, "available", panel=PANEL)(available)


def inbox(session: Session, operator: Operator = None) -> None:
    """List who waits for a person, the longest first, then the operator's own conversations."""
    session.existing()
    who = operator_name(operator)
    queue, own = session.talks.operators.inbox(session.organization, who)
    if session.out.form is Form.JSON:
        session.out.document({"queue": _shown(queue), "own": _shown(own), "operator": who})
        return
    session.out.listing("conversations", _shown([*queue, *own]), _ENTRIES)
    session.words.say(f"{len(queue)} wait; {len(own)} are {printable(who)}'s.")


def sessions(
    session: Session,
    state: Annotated[
        str, typer.Option(metavar="STATE", help="An open state, for example HANDOFF_PENDING.")
    ],
) -> None:
    """List the open conversations of one state, oldest first."""
    session.existing()
    found = session.talks.operators.sessions(session.organization, state)
    session.out.listing("sessions", _shown(found), _ENTRIES)


def claim(
    session: Session,
    lead: Lead,
    *,
    operator: Operator = None,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Also from the agents that talk to it.")
    ] = False,
    seen: SeenMessage = None,
) -> None:
    """Make a conversation that waits your own: agents are silent, and you may write."""
    found, operators = session.lead(lead), session.talks.operators
    with telling(session):
        now = operators.claim(
            session.organization,
            found,
            operator_name(operator),
            seen=_seen(seen),
            take_over=take_over,
        )
    _tell(session, found, now)


def reply(
    session: Session,
    lead: Lead,
    text: Annotated[str, typer.Argument(metavar="TEXT", show_default=False)],
    *,
    operator: Operator = None,
    seen: SeenMessage = None,
    client_id: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="The text's own id: given twice, it is sent once."),
    ] = None,
) -> None:
    """Write to a lead whose conversation is yours."""
    from domain.conversation.handling import OperatorMessage

    found, app = session.lead(lead), session.existing()
    message = OperatorMessage(
        text=text, client_message_id=client_id or app.new_id(), last_seen_message_id=seen
    )
    with telling(session):
        replied = session.talks.operators.reply(
            session.organization, found, operator_name(operator), message
        )
    session.out.facts(
        {
            "leadOrganizationId": found,
            "outboundId": replied.outbound_id,
            "clientMessageId": message.client_message_id,
            "state": replied.state,
            "duplicate": replied.duplicate,
        }
    )


def release(session: Session, lead: Lead, operator: Operator = None, note: Note = None) -> None:
    """Put your conversation back into the queue."""
    found, operators = session.lead(lead), session.talks.operators
    with telling(session):
        now = operators.release(session.organization, found, operator_name(operator), note=note)
    _tell(session, found, now)


def transfer(
    session: Session,
    lead: Lead,
    to: Annotated[str, typer.Argument(metavar="NAME", help="To whom.", show_default=False)],
    operator: Operator = None,
) -> None:
    """Give your conversation to another operator."""
    found, operators = session.lead(lead), session.talks.operators
    with telling(session):
        now = operators.transfer(session.organization, found, operator_name(operator), to)
    _tell(session, found, now)


def return_(session: Session, lead: Lead, operator: Operator = None, note: Note = None) -> None:
    """Let agents answer again."""
    found, operators = session.lead(lead), session.talks.operators
    with telling(session):
        now = operators.return_to_bot(
            session.organization, found, operator_name(operator), note=note
        )
    _tell(session, found, now)


def close(session: Session, lead: Lead, operator: Operator = None) -> None:
    """End a conversation: the lead's next message opens another, with agents."""
    found, operators = session.lead(lead), session.talks.operators
    with telling(session):
        now = operators.close(session.organization, found, operator_name(operator))
    _tell(session, found, now)


def available(
    session: Session,
    operator: Operator = None,
    off: Annotated[bool, typer.Option("--off", help="You are not.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Only say who is.")] = False,
) -> None:
    """Say that you are there today, and list who is.

    Whose name is a phone that wrote here within the day is told of who waits by message.
    """
    if off and list_:
        raise Rejected("--off goes not with --list.", hint="Choose one.")
    session.existing()
    operators, organization = session.talks.operators, session.organization
    if list_:
        found = operators.who_is_available(organization)
    elif off:
        found = operators.unavailable(organization, operator_name(operator))
    else:
        found = operators.available(organization, operator_name(operator))
    session.out.listing("available", [{"operator": each} for each in found], _OPERATORS)


def operator_name(given: str | None) -> str:
    """Return who acts: the name that was given, or that of the login.

    Raises:
        Rejected: there is neither, as in a container whose user has no name.
    """
    import getpass

    if given is not None:
        return given
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # OSError from Python 3.13 on
        message = "Who acts is not known: this login has no name."
        raise Rejected(message, hint="Give --operator NAME, or set USER.") from None


@contextmanager
def telling(session: Session) -> Iterator[None]:
    """Let a refusal say what stands, as data under --json."""
    from domain.conversation.standing import StateChanged

    try:
        yield
    except StateChanged as error:
        if session.out.form is Form.JSON:
            session.out.document(
                {"error": error.code, "changed": list(error.changed), "now": shown_now(error.now)}
            )
        else:
            session.words.say(stands(error))
        raise


def stands(error: "StateChanged") -> str:
    """Return what stands, in a line."""
    told = (f"{name} {value}" for name, value in shown_now(error.now).items() if value is not None)
    return f"Now: {printable(', '.join(told)) or 'no conversation is open'}"


def shown_now(now: "Now") -> JsonObject:
    """Return what stands as JSON."""
    return {
        "sessionId": now.session_id,
        "state": now.state,
        "assignedTo": now.assigned_to,
        "latestMessageId": now.latest_message_id,
        "sending": now.sending,
    }


def _tell(session: Session, lead: str, now: "Now") -> None:
    told = {"leadOrganizationId": lead, **shown_now(now)}
    del told["sending"]
    session.out.facts(told)


def _seen(message_id: str | None) -> "Seen | None":
    from domain.conversation.standing import Seen

    return None if message_id is None else Seen(latest=message_id)


def _shown(entries: "list[Entry]") -> list[dict[str, Any]]:
    return [
        {
            "leadOrganizationId": each.lead,
            "sessionId": each.session_id,
            "state": each.state,
            "channel": each.channel,
            "since": each.since,
            "minutes": each.minutes,
            "reason": each.reason,
            "segment": each.segment,
            "assignedTo": each.assigned_to,
            "lastMessageId": each.last_message_id,
        }
        for each in entries
    ]

"""The command that talks: as a lead at a terminal, or as the operator who answers at another."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from domain.errors import LeadError, Rejected
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.output import Form, printable
from handlers.entrypoints.cli.people import PANEL
from handlers.entrypoints.cli.session import Session
from handlers.entrypoints.cli.terminal import said, talk

if TYPE_CHECKING:
    from handlers.conversations.console import ConsoleLead
    from handlers.talks import Talks

_KNOCK_EVERY_S: Final = 2.0
_SHUTDOWN_S: Final = 10.0


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    command(program, "chat", panel=PANEL)(chat)


def chat(
    session: Session,
    customer: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="Which lead you are; a new one unless given."),
    ] = None,
    operator: Annotated[
        str | None, typer.Option(metavar="NAME", help="Be an operator, who sees who waits.")
    ] = None,
) -> int | None:
    """Talk to the service at this terminal, or answer with --operator at another.

    Works beside `leads serve` on the same database; where none runs, a lead's terminal does the work.
    """
    if session.out.form is not Form.TEXT:
        message = "A chat is for people."
        raise Rejected(message, hint="For programs: leads inbox, leads claim, leads reply.")
    if customer is not None and operator is not None:
        raise Rejected("--as goes not with --operator.", hint="Use two terminals.")
    if operator is not None:
        from handlers.entrypoints.cli.chat_operator import OperatorTerminal

        session.existing()
        talk(OperatorTerminal(session, operator))
        return None
    app = session.app
    name = customer or f"lead-{app.new_id()[-6:]}"
    with _worked(session.talks, session.organization) as knock:
        terminal = _CustomerTerminal(session, name, knock)
        terminal.greet()
        if not talk(terminal):
            session.words.warn("No answer came yet; it waits in the database.")
    return None


class _CustomerTerminal:
    """A lead at the console."""

    def __init__(self, session: Session, name: str, knock: Callable[[], None]) -> None:
        self._session = session
        self._name = name
        self._knock = knock
        self._lead = _lead(session, name)

    def greet(self) -> None:
        """Say who one is here, and leave out what was said before."""
        self._lead.catch_up()
        self._session.words.say(
            f"You are {printable(self._name)} on the console. Write, Enter sends; Ctrl-D ends.\n"
            f"Come back with --as {printable(self._name)}; answer yourself at another terminal:"
            " leads chat --operator NAME"
        )

    def typed(self, line: str) -> bool:
        """Send a message."""
        try:
            self._lead.say(line)
        except LeadError as error:
            self._session.words.problem(error)
        return True

    def look(self) -> None:
        """Show what the business answered."""
        self._knock()
        for message in self._lead.hear():
            self._session.out.text(said(message))
        self._session.out.flush()

    def is_waiting(self) -> bool:
        """Tell whether an answer is still to come."""
        return self._lead.is_waiting()


def _lead(session: Session, name: str) -> "ConsoleLead":
    from handlers.conversations.console import ConsoleLead

    talks = session.talks
    return ConsoleLead(
        receiving=talks.receiving,
        conversations=talks.conversations,
        deciding=talks.deciding,
        organization_id=session.organization,
        identifier=name,
    )


@contextlib.contextmanager
def _worked(talks: "Talks", organization_id: str) -> "Iterator[Callable[[], None]]":
    """Lend what begins to work on leads here as soon as nobody else does."""
    stop = threading.Event()
    loop = replace(talks.loop, organizations=(organization_id,), threads=1)
    working = False
    looked_at = float("-inf")

    def knock() -> None:
        nonlocal working, looked_at
        if working or time.monotonic() < looked_at + _KNOCK_EVERY_S:
            return
        looked_at = time.monotonic()
        if not talks.presence.is_served(organization_id):
            working = True
            loop.start(stop)

    try:
        yield knock
    finally:
        stop.set()
        loop.join(_SHUTDOWN_S)

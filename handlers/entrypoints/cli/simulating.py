"""The commands that play other services on this machine, for who has no account to try them with."""

import sys
import threading
import time
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from domain.errors import FieldError, Rejected, Unavailable
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.helping import HelpedGroup
from handlers.entrypoints.cli.output import Form, printable
from handlers.entrypoints.cli.session import Session
from handlers.entrypoints.cli.simulating_crm import hubspot
from handlers.entrypoints.outcomes import EXIT_OK, EXIT_PARTIAL

if TYPE_CHECKING:
    from handlers.simulators.whatsapp import Customer, Received, Simulator

PANEL: Final = "Start here"

_WEBHOOK: Final = "http://127.0.0.1:8000/v1/channels/whatsapp"
_PORT: Final = 9009
_NUMBER: Final = "109876543210987"
_PHONE: Final = "5511955550142"
_POSTS_AT_ONCE: Final = 8
_MOST_CUSTOMERS: Final = 100_000
"""So many made-up phones there are."""
_KNOCK_EVERY_S: Final = 0.25

Faulty = Literal["none", "some", "many"]


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    text = "Play a service that an account would be needed for."
    group = typer.Typer(cls=HelpedGroup, help=text, no_args_is_help=True)
    program.add_typer(group, name="simulate", rich_help_panel=PANEL)
    command(group, "whatsapp")(whatsapp)
    command(group, "hubspot")(hubspot)


def _credential(variable: str, text: str) -> Any:
    """Return the option of what both sides must know: the service's own setting unless given."""
    told = f"{text} ({variable}); made up unless given."
    return typer.Option(metavar="TEXT", envvar=variable, show_envvar=False, help=told)


def whatsapp(
    session: Session,
    *,
    webhook: Annotated[
        str, typer.Option(metavar="URL", help="Where the service takes webhooks.")
    ] = _WEBHOOK,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="PORT", help="0 takes a free one.")
    ] = _PORT,
    secret: Annotated[
        str | None, _credential("LEADS_WHATSAPP_APP_SECRET", "Signs the webhooks")
    ] = None,
    verify_token: Annotated[
        str | None, _credential("LEADS_WHATSAPP_VERIFY_TOKEN", "Shown in the handshake")
    ] = None,
    token: Annotated[
        str | None, _credential("LEADS_WHATSAPP_TOKEN", "What the service sends with")
    ] = None,
    number: Annotated[
        str, typer.Option(metavar="ID", help="The phone_number_id of the business.")
    ] = _NUMBER,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The same one has the same faults.")
    ] = None,
    faults: Annotated[
        Faulty, typer.Option(help="How much goes wrong: doubled, late, lost, refused.")
    ] = "none",
    customers: Annotated[
        int | None,
        typer.Option(min=1, max=_MOST_CUSTOMERS, metavar="N", help="So many write by script."),
    ] = None,
    messages: Annotated[
        int, typer.Option(min=1, metavar="N", help="So many messages each of them writes.")
    ] = 3,
    patience: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="How long one waits for an answer.")
    ] = 30.0,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Each line typed is a customer's message.")
    ] = False,
    phone: Annotated[
        str, typer.Option("--from", metavar="PHONE", help="Who types: a made-up phone.")
    ] = _PHONE,
) -> int:
    """Play WhatsApp on this machine.

    Prints the settings that make `leads serve` talk to it, waits for it to answer, and lets
    customers write: one at this terminal, or many by script. Without either it plays until Ctrl-C
    and is told what to do at /_simulator. No account is needed, and nobody in it exists.
    """
    import secrets
    from random import Random

    from handlers.simulators.whatsapp import PRESETS, Number, Setup, Simulator

    _check(session, webhook, number, customers, interactive=interactive)
    setup = Setup(
        webhook=webhook,
        # The setting may name older ones behind it; webhooks are signed with the current one.
        app_secret=(secret or secrets.token_hex(16)).partition(",")[0].strip(),
        token=token or secrets.token_hex(16),
        verify_token=verify_token or secrets.token_hex(8),
        numbers=(Number(phone_number_id=number),),
        port=port,
        faults=PRESETS[faults],
        speed=1.0,
        posts_at_once=_POSTS_AT_ONCE,
    )
    seed = secrets.randbelow(10**6) if seed is None else seed
    try:
        simulator = Simulator(setup, random=Random(seed), now=session.now)  # noqa: S311 - no secret
    except OSError as error:
        raise Unavailable(
            f"The port cannot be listened on ({error.strerror}).",
            hint="Choose another with --port; --port 0 takes a free one.",
        ) from None
    with simulator:
        _tell(session, simulator, seed)
        if customers is None and not (interactive or sys.stdin.isatty()):
            threading.Event().wait()
        _knock(session, simulator, patience)
        if customers is not None:
            return _play(session, simulator, (customers, messages), patience)
        return _chat(session, simulator.customer(phone), simulator, patience)


def _check(
    session: Session, webhook: str, number: str, customers: int | None, *, interactive: bool
) -> None:
    """Refuse what cannot be played, before anything listens."""
    from handlers.simulators.whatsapp.posting import is_web_address

    problems = []
    if not is_web_address(webhook):
        problems.append(FieldError("--webhook", "must be an http or https URL"))
    if not (number.isascii() and number.isdigit()):
        problems.append(FieldError("--number", "must be digits"))
    if interactive and customers is not None:
        problems.append(FieldError("--interactive", "does not go with --customers"))
    if interactive and session.out.form is Form.JSON:
        problems.append(FieldError("--json", "does not go with --interactive; --jsonl does"))
    if problems:
        raise Rejected("This cannot be played.", hint="Correct the options.", fields=problems)


def _tell(session: Session, simulator: "Simulator", seed: int) -> None:
    setup = simulator.setup
    of = f"={session.organization}" if session.options.org else ""
    say = session.words.say
    say(
        f"Playing WhatsApp at {simulator.url} (seed {seed}). Start the service with these settings:"
    )
    say("")
    for name, value in (
        ("URL", simulator.url),
        ("NUMBERS", f"{setup.numbers[0].phone_number_id}{of}"),
        ("APP_SECRET", setup.app_secret),
        ("VERIFY_TOKEN", setup.verify_token),
        ("TOKEN", setup.token),
    ):
        say(f"LEADS_WHATSAPP_{name}={value}")
    say("")
    say(f"What happened, for programs: {simulator.url}/_simulator (Ctrl-C stops)")


def _knock(session: Session, simulator: "Simulator", patience_s: float) -> None:
    """Do the handshake as soon as the service is there.

    Raises:
        Unavailable: nobody answered in time.
        Rejected: somebody did, and is not a service with these settings.
    """
    until = time.monotonic() + patience_s
    waited = False
    while True:
        challenge, answer = simulator.ask_challenge()
        if answer.good and answer.body == challenge.encode():
            session.words.say("The service answers.")
            return
        if answer.status is not None and answer.status < 500:
            raise Rejected(
                f"The webhook does not do the handshake (HTTP {answer.status}).",
                hint="Start the service with the settings above, and name its webhook.",
            )
        if time.monotonic() > until:
            raise Unavailable(
                "Nobody answers at the webhook.",
                hint="Start the service with the settings above; --patience waits longer.",
            )
        if not waited:
            session.words.say("Waiting for the service …")
        waited = True
        time.sleep(_KNOCK_EVERY_S)


def _play(
    session: Session, simulator: "Simulator", size: tuple[int, int], patience_s: float
) -> int:
    from handlers.simulators.whatsapp import Scenario, play

    customers, messages = size
    session.words.say(f"{customers:,} customers write {messages:,} messages each.")
    scenario = Scenario(customers=customers, messages=messages, patience_s=patience_s)
    summary = play(simulator, scenario, threading.Event())
    session.out.facts(summary.as_json())
    return EXIT_PARTIAL if summary.unanswered else EXIT_OK


def _chat(session: Session, customer: "Customer", simulator: "Simulator", patience_s: float) -> int:
    """Write what is typed, show what comes; at the end of the input wait for the last answer."""

    def show(received: "Received") -> None:
        if received in customer.received:
            _show(session, received)

    simulator.phones.listener = show
    session.words.say(f"You are {customer.person.name}; each line is a message.")
    before = None
    for line in sys.stdin:
        text = line.rstrip("\r\n")
        if text:
            before = len(customer.received)
            customer.say(text)
    if before is None:
        return EXIT_OK
    answered = len(customer.wait_for(before + 1, patience_s)) > before
    return EXIT_OK if answered else EXIT_PARTIAL


def _show(session: Session, received: "Received") -> None:
    if session.out.form is Form.JSONL:
        session.out.line(received.as_json())
    else:
        for line in received.text.splitlines() or [""]:
            session.out.text(f"< {printable(line)}")
    session.out.flush()

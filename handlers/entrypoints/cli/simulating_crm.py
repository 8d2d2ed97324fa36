"""The command that plays HubSpot on this machine."""

import threading
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from domain.errors import Unavailable
from handlers.entrypoints.cli.session import Session

if TYPE_CHECKING:
    from handlers.simulators.hubspot import HubSpot

_PORT: Final = 9010

Faulty = Literal["none", "some", "many"]


def hubspot(
    session: Session,
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="PORT", help="0 takes a free one.")
    ] = _PORT,
    token: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What the service shows; made up unless given."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The same one has the same ids and faults.")
    ] = None,
    faults: Annotated[
        Faulty, typer.Option(help="How much goes wrong: lost, late, twice, refused.")
    ] = "none",
    bare: Annotated[
        bool, typer.Option("--bare", help="Without our unique properties, as a new account.")
    ] = False,
) -> int:
    """Play HubSpot on this machine.

    Prints the settings that make `leads serve` and `leads crm sync` talk to it, and shows contacts
    and deals on a page. It plays until Ctrl-C and forgets everything then. No account is needed, and
    nobody in it exists.
    """
    import secrets
    from random import Random

    from handlers.simulators.hubspot import PRESETS, Access, HubSpot, Setup

    setup = Setup(
        access=(Access(token=token or secrets.token_hex(16)),),
        port=port,
        keys=not bare,
        faults=PRESETS[faults],
    )
    seed = secrets.randbelow(10**6) if seed is None else seed
    try:
        account = HubSpot(setup, random=Random(seed), now=session.now)  # noqa: S311 - no secret
    except OSError as error:
        raise Unavailable(
            f"The port cannot be listened on ({error.strerror}).",
            hint="Choose another with --port; --port 0 takes a free one.",
        ) from None
    with account:
        _tell(session, account, seed)
        threading.Event().wait()
    return 0


def _tell(session: Session, account: "HubSpot", seed: int) -> None:
    from domain.crm.desired import STAGES

    say = session.words.say
    say(f"Playing HubSpot at {account.url} (seed {seed}). Start the service with these settings:")
    say("")
    say(f"HUBSPOT_URL={account.url}")
    say(f"HUBSPOT_TOKEN={account.token}")
    say("HUBSPOT_ENABLED=true")
    for name in STAGES:
        say(f"HUBSPOT_STAGE_{name.upper()}={account.setup.stages[name]}")
    say("")
    say(
        f"Contacts and deals: {account.url}/ · for programs: {account.url}/_simulator (Ctrl-C stops)"
    )

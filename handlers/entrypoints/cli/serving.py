"""The command that serves the HTTP API."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from domain.errors import FieldError, Rejected, Unavailable
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.session import Session

if TYPE_CHECKING:
    import socket

    from handlers.bootstrap import App
    from handlers.crm_settings import CrmSettings
    from handlers.mirror import Mirror
    from handlers.settings import ConversationSettings, Settings
    from handlers.talks import Talks

_SHUTDOWN_S: Final = 10
_BACKLOG: Final = 2048


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    command(program, "serve", panel="Start here")(serve)


def serve(
    session: Session,
    host: Annotated[
        str | None, typer.Option(metavar="HOST", help="Where to listen (LEADS_HOST).")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="0 takes a free one (LEADS_PORT)."),
    ] = None,
    auth: Annotated[
        Literal["required", "open"] | None,
        typer.Option(help="Whether the API asks for a key (LEADS_AUTH)."),
    ] = None,
) -> None:
    """Serve the HTTP API, channels and conversations until Ctrl-C or SIGTERM.

    Catches up lagging views meanwhile.
    """
    session.flags = {"host": host, "port": port, "auth": auth}
    settings = session.settings
    _check_reach(settings)
    from handlers.settings import read_conversation_settings, read_crm_settings
    from handlers.talks import check_secrets

    talking, mirroring = read_conversation_settings(), read_crm_settings()
    check_secrets(talking)
    with _listening(settings) as listener:
        session.log_level = settings.log_level
        app = session.app
        with (
            _talking(app, talking) as talks,
            _mirroring(app, mirroring) as mirror,
            _sweeping(app),
        ):
            _tell(session, settings, listener)
            session.words.say(_conversations(talking))
            _run(app, talks, mirror, listener)
    session.words.say("Stopped.")


def _check_reach(settings: "Settings") -> None:
    """Refuse to let a whole network read and write without a key."""
    if settings.auth == "open" and not _is_loopback(settings.host):
        raise Rejected(
            "An API that asks for no key may only listen on this machine.",
            hint="Set LEADS_AUTH=required, or listen on 127.0.0.1.",
            fields=[FieldError("LEADS_HOST", "is not a loopback address")],
        )


def _is_loopback(host: str) -> bool:
    import ipaddress

    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def _listening(settings: "Settings") -> "Iterator[socket.socket]":
    import socket

    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
            listener.listen(_BACKLOG)
        except OSError as error:
            raise Unavailable(
                f"The address cannot be listened on ({error.strerror}).",
                hint="Choose another with --host and --port; --port 0 takes a free one.",
            ) from None
        yield listener


@contextmanager
def _talking(app: "App", settings: "ConversationSettings") -> "Iterator[Talks]":
    """Lend the conversations of this process.

    Where several processes share a queue, those that it calls work on leads, and this one only
    takes deliveries.
    """
    from handlers.bootstrap import build_talks

    talks = build_talks(app, settings)
    stop = threading.Event()
    try:
        if settings.queue_url is None:
            talks.loop.start(stop)
        yield talks
    finally:
        stop.set()
        talks.loop.join(_SHUTDOWN_S)
        talks.close()


@contextmanager
def _mirroring(app: "App", settings: "CrmSettings") -> "Iterator[Mirror]":
    """Lend the mirror of the CRM, and work on it every minute."""
    from handlers.bootstrap import build_crm

    mirror, stop = build_crm(app, settings), threading.Event()
    thread = threading.Thread(target=mirror.run_until, args=(stop,), name="crm", daemon=True)
    thread.start()
    try:
        yield mirror
    finally:
        stop.set()
        thread.join(_SHUTDOWN_S)
        mirror.close()


@contextmanager
def _sweeping(app: "App") -> Iterator[None]:
    from handlers.sweeping import Sweeper

    stop = threading.Event()
    thread = threading.Thread(
        target=Sweeper(app.maintenance).run, args=(stop,), name="sweeper", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_SHUTDOWN_S)


def _tell(session: Session, settings: "Settings", listener: "socket.socket") -> None:
    port = listener.getsockname()[1]
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{port}"
    words = session.words
    words.say(f"Serving {url}  (documentation: {url}/docs, Ctrl-C stops)")
    if settings.auth == "open":
        words.warn("LEADS_AUTH is open: whoever reaches this address reads and writes every lead.")
    else:
        flags = " ".join(session.options.as_flags())
        words.say(f"Requests need a key; make one: leads keys create{flags and ' '}{flags}")


def _conversations(settings: "ConversationSettings") -> str:
    """Return which channels are on, and who answers."""
    numbers = len(settings.accounts)
    whatsapp = f", whatsapp ({numbers} number{'s' if numbers > 1 else ''})" if numbers else ""
    model = {
        "none": "none, so every text goes to a human (LEADS_MODEL)",
        "scripted": "the scripted agent",
        "openai": settings.openai_model,
    }[settings.model]
    return f"Conversations: console{whatsapp}; model: {model}"


def _run(app: "App", talks: "Talks", mirror: "Mirror", listener: "socket.socket") -> None:
    import uvicorn

    from handlers.entrypoints.http import create_api

    config = uvicorn.Config(
        create_api(app, talks, mirror),
        access_log=False,
        # Logging is set up already, by allow-list; uvicorn's own would print requests.
        log_config=None,
        timeout_graceful_shutdown=_SHUTDOWN_S,
    )
    # uvicorn raises the signal it stopped for once more when it is done; what follows is ours.
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        signal.signal(signal.SIGTERM, before)

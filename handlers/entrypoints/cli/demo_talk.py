"""The demo's conversation: a made-up customer on a made-up WhatsApp, over real HTTP on this machine."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, Final

from domain import keys

if TYPE_CHECKING:
    from handlers.bootstrap import App
    from handlers.simulators.whatsapp import Customer, Simulator
    from handlers.talks import Talks

PHONE: Final = "5511955550199"
_SECRET: Final = "only-for-this-demo"  # noqa: S105 - of a simulator, for a moment
_PATIENCE_S: Final = 60
_GLANCE_S: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What was said, as it came, and what it took.

    Webhooks posted, and messages in them that came again; turns of the agent; texts on the phone.
    """

    lead: str
    lines: list[dict[str, Any]]
    posted: int
    again: int
    turns: int
    texts: int


def play_conversation(app: "App", organization_id: str) -> Told:
    """Play it and return what came of it: every message has its events in the log."""
    from handlers.simulators.whatsapp import Setup, Simulator

    setup = Setup(app_secret=_SECRET, token=_SECRET, verify_token=_SECRET)
    with (
        Simulator(setup, random=Random(2026), now=app.now) as whatsapp,  # noqa: S311 - no secret
        _talking(app, organization_id, whatsapp.url) as talks,
        _served(app, talks) as url,
    ):
        whatsapp.aim(f"{url}/v1/channels/whatsapp")
        ana = whatsapp.customer(PHONE, name="Ana Exemplo")
        heard = partial(_until_heard, whatsapp, app, talks, organization_id)
        _agent_answers(whatsapp, ana, heard)
        lead = _person_answers(talks, organization_id, ana, heard)
        return _told(app, whatsapp, lead)


def _agent_answers(whatsapp: "Simulator", ana: "Customer", heard: Callable[[], str]) -> None:
    """Two messages in one POST; then one that comes twice, and a reply whose receipt is lost."""
    from handlers.simulators.whatsapp import LoseReply, WebhookFault

    with whatsapp.together("messages"):
        ana.say("Oi, tudo bem?")
        ana.say("Vocês fazem sequenciamento de amostras de solo?")
    heard()
    whatsapp.next_webhook(WebhookFault(copies=2), of=PHONE)
    whatsapp.next_send(LoseReply(), to=PHONE)
    ana.say("São dez amostras, para a minha pesquisa.")
    heard()


def _person_answers(
    talks: "Talks", organization_id: str, ana: "Customer", heard: Callable[[], str]
) -> str:
    """The customer asks for a person, who claims the conversation and writes."""
    from domain.conversation.handling import OperatorMessage

    ana.say("Quero falar com uma pessoa, por favor.")
    lead = heard()
    talks.operators.claim(organization_id, lead, "bia")
    words = OperatorMessage(
        text="Oi, Ana! Aqui é a Bia, do laboratório. Já estou com o seu pedido.",
        client_message_id="demo-1",
    )
    talks.operators.reply(organization_id, lead, "bia", words)
    return heard()


def _until_heard(whatsapp: "Simulator", app: "App", talks: "Talks", organization_id: str) -> str:
    """Wait until all that was written is answered or with people and no text is in doubt; return the lead.

    Texts on the phone could not be counted instead: two messages may well get an answer each on a
    busy machine, and the next act would come too early.
    """
    from domain.conversation.sending import next_step
    from handlers.finding import find_lead

    until = time.monotonic() + _PATIENCE_S
    while True:
        whatsapp.settle(_PATIENCE_S)
        lead = find_lead(app.log, organization_id, f"whatsapp:{PHONE}")
        thread = talks.conversations.look(lead).thread
        heard = thread and not any(thread.moving()) and next_step(thread, app.now()) is None
        if heard or time.monotonic() > until:
            return lead
        time.sleep(_GLANCE_S)


def _told(app: "App", whatsapp: "Simulator", lead: str) -> Told:
    from projections.conversations import CONVERSATIONS

    view = app.log.reader.view
    deliveries = view(lead, CONVERSATIONS, "WAMID#").states.values()
    statuses = {each.outbound_id: each.status for each in deliveries}
    # As they were registered: WhatsApp's clock tells whole seconds.
    said = view(lead, CONVERSATIONS, keys.MESSAGES).states.items()
    messages = [each for _, each in sorted(said, key=lambda item: item[0].sk.split("#")[2])]
    events = app.log.reader.events(lead, lte=app.log.reader.head(lead).version)
    posted = whatsapp.deliveries
    heard = {each.external_event_id for each in events if each.event_type == "message_received"}
    came = [item for each in posted for item in each.item_ids if item in heard]
    return Told(
        lead=lead,
        lines=[
            {
                "from": "Ana" if each.direction == "inbound" else each.author or "service",
                "text": each.text,
                "status": statuses.get(each.message_id, each.error or each.route),
            }
            for each in messages
        ],
        posted=len(posted),
        again=len(came) - len(set(came)),
        turns=sum(each.event_type == "agent_turn_completed" for each in events),
        texts=len(whatsapp.received(PHONE)),
    )


@contextmanager
def _talking(app: "App", organization_id: str, url: str) -> "Iterator[Talks]":
    from pydantic import SecretStr

    from handlers.bootstrap import build_talks
    from handlers.conversation_settings import ConversationSettings
    from handlers.simulators.whatsapp import Number

    settings = ConversationSettings(
        model="scripted",
        whatsapp_numbers=f"{Number().phone_number_id}={organization_id}",
        whatsapp_app_secret=SecretStr(_SECRET),
        whatsapp_token=SecretStr(_SECRET),
        whatsapp_url=url,
    )
    talks, stop = build_talks(app, settings), threading.Event()
    try:
        talks.loop.start(stop)
        yield talks
    finally:
        stop.set()
        talks.loop.join(_PATIENCE_S)
        talks.close()


@contextmanager
def _served(app: "App", talks: "Talks") -> Iterator[str]:
    import socket

    import uvicorn

    from handlers.entrypoints.http import create_api

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(
            uvicorn.Config(create_api(app, talks), log_config=None, access_log=False)
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(_PATIENCE_S)

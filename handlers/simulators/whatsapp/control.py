"""The simulator's own routes, for who runs it as another process: say something, see what came."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote, urlsplit

from handlers.simulators.control import ROOT, as_json, document_of, no_route, refusal
from handlers.simulators.server import Reply, Request
from handlers.simulators.whatsapp.people import JsonObject
from handlers.simulators.whatsapp.world import World

_PHONES: Final = f"{ROOT}/phones/"

Say = Callable[[str, str, str | None], str]


class Control:
    """Answers what stands under `/_simulator`.

    Args:
        world: what is told of.
        say: lets somebody write: address, text, name or None; returns the message's id.
    """

    def __init__(self, world: World, say: Say) -> None:
        self._world = world
        self._say = say

    def answer(self, request: Request) -> Reply:
        """Answer one request; a page of a foreign site gets nothing done."""
        path = urlsplit(request.path).path
        refused = refusal(request)
        if refused is not None:
            return refused
        if (request.method, path) == ("POST", f"{ROOT}/say"):
            return self._take(request)
        if request.method == "GET" and path.startswith(_PHONES):
            return self._phone(unquote(path.removeprefix(_PHONES)))
        if (request.method, path.rstrip("/")) == ("GET", ROOT):
            return as_json(self._overview())
        return no_route()

    def _take(self, request: Request) -> Reply:
        asked = document_of(request)
        sender, text, name = (asked.get(key) for key in ("from", "text", "name"))
        if not (isinstance(sender, str) and sender and isinstance(text, str)):
            return as_json({"error": 'Send {"from": "5511955550142", "text": "Oi"}.'}, 422)
        message_id = self._say(sender, text, name if isinstance(name, str) else None)
        return as_json({"messageId": message_id}, HTTPStatus.ACCEPTED)

    def _phone(self, address: str) -> Reply:
        # Asking must not make somebody up: a phone nobody knows received nothing.
        person = self._world.people.known(address)
        addresses = (address,) if person is None else (person.phone, person.user_id)
        texts = [received.as_json() for received in self._world.phones.received(*addresses)]
        return as_json({"phone": address, "received": texts})

    def _overview(self) -> JsonObject:
        world = self._world
        posted = world.webhooks.posted
        return {
            "webhook": world.webhooks.url,
            "numbers": [number.phone_number_id for number in world.setup.numbers],
            "phones": world.phones.addresses,
            "webhooks": {
                "posted": len(posted),
                "answered": sum(each.answer.good for each in posted),
                "retries": sum(each.attempt > 1 for each in posted),
                "givenUp": world.webhooks.given_up,
            },
        }

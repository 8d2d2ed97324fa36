"""Plays the Graph API: takes what the service sends, and tells what became of it."""

import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final

from domain import instants
from handlers.simulators.server import Reply, Request
from handlers.simulators.whatsapp import graph, statuses
from handlers.simulators.whatsapp.faults import (
    Break,
    LoseReply,
    Refuse,
    SendFault,
    StatusPlan,
    WebhookFault,
)
from handlers.simulators.whatsapp.graph import ReadRequest, Refused, TextRequest
from handlers.simulators.whatsapp.people import JsonObject, Number, Person
from handlers.simulators.whatsapp.phones import Read, Received
from handlers.simulators.whatsapp.statuses import Sent
from handlers.simulators.whatsapp.world import World

WINDOW: Final = timedelta(hours=24)
"""How long after a person wrote it may be written to. Source: research/whatsapp.md §5.1."""

_PAGE: Final = b"<!DOCTYPE html><title>Error</title><p>Sorry, something went wrong."


class Sending:
    """The endpoint `POST /{version}/{phone_number_id}/messages`."""

    def __init__(self, world: World) -> None:
        self._world = world

    def answer(self, phone_number_id: str, request: Request) -> Reply:
        """Answer one request to send."""
        try:
            self._check_token(request.headers.get("authorization", ""))
            number = self._number(phone_number_id)
            asked = graph.read(request.body)
            if isinstance(asked, ReadRequest):
                return self._read(asked)
            return self._send(number, asked)
        except Refused as refused:
            return self._refusal(refused)

    def show(self, phone_number_id: str, request: Request) -> Reply:
        """Answer `GET /{version}/{phone_number_id}`: that the number is there, and its id."""
        try:
            self._check_token(request.headers.get("authorization", ""))
            return _json({"id": self._number(phone_number_id).phone_number_id})
        except Refused as refused:
            return self._refusal(refused)

    def _check_token(self, header: str) -> None:
        expected = f"Bearer {self._world.setup.token}".encode()
        if not hmac.compare_digest(header.encode("utf-8", "surrogateescape"), expected):
            raise Refused(190, "The access token is missing or not valid.")

    def _number(self, phone_number_id: str) -> Number:
        for number in self._world.setup.numbers:
            if number.phone_number_id == phone_number_id:
                return number
        raise Refused(33, "The phone number id does not exist, or not for this token.")

    def _read(self, asked: ReadRequest) -> Reply:
        if not self._world.is_message(asked.message_id):
            raise Refused(131009, "message_id is not a message of a person.")
        self._world.phones.mark(Read(message_id=asked.message_id, typing=asked.typing))
        return _json({"success": True})

    def _send(self, number: Number, asked: TextRequest) -> Reply:
        person = self._world.people.find(asked.to)
        fault = self._fault(person)
        if isinstance(fault, Refuse):
            return self._refuse(fault)
        if isinstance(fault, Break) and not fault.delivered:
            return _broken(fault)
        self._check_window(person, number)
        sent = self._deliver(number, person, asked)
        then = self._tell(sent)
        if isinstance(fault, LoseReply):
            return Reply(drop=True, hang_s=fault.hang_s, then=then)
        if isinstance(fault, Break):
            return replace(_broken(fault), then=then)
        return replace(_json(_accepted(asked, person, sent)), then=then)

    def _fault(self, person: Person) -> SendFault | None:
        world = self._world
        scripted = world.send_script.take(person.phone, person.user_id)
        drawn = world.setup.faults.send(world.dice.roll(f"send:{person.address}"))
        return scripted or drawn

    def _refuse(self, fault: Refuse) -> Reply:
        details = f"{graph.kind(fault.code).title}."
        reply = self._refusal(Refused(fault.code, details, fault.http_status))
        if fault.retry_after_s is None:
            return reply
        return replace(reply, headers={"Retry-After": str(fault.retry_after_s)})

    def _refusal(self, refused: Refused) -> Reply:
        trace = f"{self._world.dice.base}:{self._world.dice.count('trace')}"
        fbtrace_id = f"A{hashlib.sha256(trace.encode()).hexdigest()[:22]}"
        return _json(graph.error_json(refused, fbtrace_id), refused.http_status)

    def _check_window(self, person: Person, number: Number) -> None:
        if not self._world.setup.enforce_window:
            return
        wrote_at = self._world.wrote_at(person, number)
        if wrote_at is None or instants.shift(wrote_at, WINDOW) <= self._world.now():
            raise Refused(131047, "More than 24 hours have passed since the person last wrote.")

    def _deliver(self, number: Number, person: Person, asked: TextRequest) -> Sent:
        world = self._world
        sent = Sent(
            number=number,
            person=person,
            message_id=world.message_id(asked.to),
            tracker=asked.tracker,
            at=world.seconds(),
        )
        world.phones.receive(
            Received(
                to=asked.to,
                message_id=sent.message_id,
                outbound_id=asked.tracker,
                text=asked.text,
                at=world.now(),
                phone_number_id=number.phone_number_id,
            )
        )
        return sent

    def _tell(self, sent: Sent) -> Callable[[], None]:
        """Post a status that comes before the answer; return what posts the others after it."""
        world, person = self._world, sent.person
        scripted = world.status_script.take(person.phone, person.user_id)
        drawn = world.setup.faults.statuses(world.dice.roll(f"statuses:{person.address}"))
        plan: StatusPlan = scripted or drawn
        due = statuses.changes(sent, plan)
        if plan.before_answer and due:
            world.webhooks.post_now(due.pop(0)[1])
        later = [(change, WebhookFault(delay_s=step.after_s)) for step, change in due]
        return partial(world.webhooks.bring, *later, place=world.agenda.begin())


def _accepted(asked: TextRequest, person: Person, sent: Sent) -> JsonObject:
    ids = {"wa_id": person.phone, "user_id": person.user_id}
    contact = {name: value for name, value in ids.items() if value is not None}
    return {
        "messaging_product": "whatsapp",
        "contacts": [{"input": asked.to, **contact}],
        "messages": [{"id": sent.message_id}],
    }


def _broken(fault: Break) -> Reply:
    return Reply(status=fault.http_status, body=_PAGE, content_type="text/html; charset=utf-8")


def _json(document: JsonObject, status: int = 200) -> Reply:
    return Reply(status=status, body=json.dumps(document).encode())

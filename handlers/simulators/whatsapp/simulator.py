"""A WhatsApp Cloud API on this machine: plays Meta for one or more numbers of the business."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Self

from domain.ports.effects import Clock
from handlers.simulators import control
from handlers.simulators.server import Reply, Request, Server
from handlers.simulators.whatsapp import graph, shapes
from handlers.simulators.whatsapp.control import Control
from handlers.simulators.whatsapp.customer import Customer
from handlers.simulators.whatsapp.envelopes import Change, Layout
from handlers.simulators.whatsapp.faults import SendFault, StatusPlan, WebhookFault
from handlers.simulators.whatsapp.people import JsonObject, Number, Person
from handlers.simulators.whatsapp.phones import Phones, Read, Received
from handlers.simulators.whatsapp.posting import Answer
from handlers.simulators.whatsapp.sending import Sending
from handlers.simulators.whatsapp.webhooks import Posted
from handlers.simulators.whatsapp.world import Setup, World


class Simulator:
    """Plays Meta: takes what the service sends, and brings it what people do.

    A context: inside it listens on `url`. Every fault follows from the random numbers it was given
    and from what is asked of it for each person, so one seed tells one story. Safe between threads.

    Args:
        setup: what to play.
        random: where every fault and every id comes from.
        now: the time, for timestamps and the 24 h window.

    Raises:
        OSError: the port cannot be listened on.
    """

    def __init__(self, setup: Setup, *, random: Random, now: Clock) -> None:
        self._world = World(setup, random, now)
        self._sending = Sending(self._world)
        self._control = Control(self._world, self._said)
        self._server = Server(setup.port, self._answer)

    def __enter__(self) -> Self:
        """Begin to listen and to post."""
        self._server.start()
        self._world.agenda.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End; what is still on its way is dropped."""
        self._world.agenda.stop()
        self._server.stop()

    @property
    def url(self) -> str:
        """What stands for https://graph.facebook.com."""
        return self._server.url

    @property
    def setup(self) -> Setup:
        """What it was told."""
        return self._world.setup

    @property
    def phones(self) -> Phones:
        """What all phones received; `listener` is called with each text."""
        return self._world.phones

    @property
    def deliveries(self) -> list[Posted]:
        """Every webhook posted, its bytes and the answer, in the order of the answers."""
        return self._world.webhooks.posted

    @property
    def reads(self) -> list[Read]:
        """What the business marked as read, in order."""
        return self._world.phones.reads

    @property
    def given_up(self) -> int:
        """How many webhooks were not answered with 2xx in seven days of its time."""
        return self._world.webhooks.given_up

    def aim(self, webhook: str) -> None:
        """Post to another address from now on."""
        self._world.webhooks.url = webhook

    def handshake(self, verify_token: str | None = None) -> bool:
        """Do what Meta does when a webhook is set up; tell whether the service gave the challenge."""
        challenge, answer = self.ask_challenge(verify_token)
        return answer.good and answer.body == challenge.encode()

    def ask_challenge(self, verify_token: str | None = None) -> tuple[str, Answer]:
        """Return the challenge of a handshake, and what the service answered."""
        challenge = str(self._world.dice.roll("challenge").randrange(10**9, 10**10))
        token = self.setup.verify_token if verify_token is None else verify_token
        return challenge, self._world.webhooks.handshake(token, challenge)

    def customer(
        self, address: str, *, name: str | None = None, number: Number | None = None
    ) -> Customer:
        """Return somebody, by phone or user id, in a chat with a number of the business."""
        person = self._world.people.find(address, name)
        return Customer(self._world, person, number or self.setup.numbers[0])

    def introduce(self, person: Person, *, number: Number | None = None) -> Customer:
        """Return somebody who has exactly these addresses."""
        self._world.people.add(person)
        return Customer(self._world, person, number or self.setup.numbers[0])

    def say(self, from_: str, text: str) -> str:
        """Let somebody write a text; return the message's id."""
        return self.customer(from_).say(text)

    def received(self, address: str) -> list[Received]:
        """Return the texts that reached somebody."""
        return self.customer(address).received

    def echo(self, to: str, text: str, *, number: Number | None = None) -> str:
        """Let the business write in its phone's app; return the message's id."""
        customer = self.customer(to, number=number)
        person, world = customer.person, self._world
        message_id = world.message_id(person.address)
        head = shapes.echo(customer.number, person, message_id, str(world.seconds()))
        world.bring(
            person,
            Change(
                number=customer.number,
                field="smb_message_echoes",
                slot="message_echoes",
                body={**head, **shapes.text(text)},
                contact=person.contact(),
            ),
        )
        return message_id

    def history(self, address: str, *texts: str) -> list[str]:
        """Bring what was said before, person and business in turn; return the messages' ids."""
        customer, world = self.customer(address), self._world
        phone = customer.person.address
        turns = (phone, customer.number.display_phone_number)
        ids = [world.message_id(phone) for _ in texts]
        began = world.seconds() - len(texts)
        messages = [
            shapes.history_message(turns[place % 2], message_id, str(began + place), text)
            for place, (message_id, text) in enumerate(zip(ids, texts, strict=True))
        ]
        body = shapes.history(customer.person, messages)
        change = Change(number=customer.number, field="history", slot="history", body=body)
        world.bring(customer.person, change)
        return ids

    def notify(self, field: str, value: JsonObject) -> None:
        """Bring a change of any field, its value as it is."""
        change = Change(number=self.setup.numbers[0], field=field, slot=None, body=value)
        self._world.webhooks.bring((change, WebhookFault()))

    @contextmanager
    def together(self, layout: Layout) -> Iterator[None]:
        """Let what this thread does meanwhile come in one POST, laid out so."""
        with self._world.webhooks.together(layout):
            yield

    def next_webhook(self, fault: WebhookFault, *, of: str | None = None, times: int = 1) -> None:
        """Let this happen to the next items, of anybody or of one person's address."""
        self._world.webhook_script.add(fault, to=of, times=times)

    def next_send(self, fault: SendFault, *, to: str | None = None, times: int = 1) -> None:
        """Let this happen to the next sends, to anybody or to one person's address."""
        self._world.send_script.add(fault, to=to, times=times)

    def next_statuses(self, plan: StatusPlan, *, to: str | None = None, times: int = 1) -> None:
        """Let the next messages that are accepted have these statuses."""
        self._world.status_script.add(plan, to=to, times=times)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Post nothing meanwhile; then all of it, in the order of its time."""
        with self._world.agenda.paused():
            yield

    def settle(self, timeout_s: float) -> bool:
        """Wait until nothing is on its way any more; tell whether it came to that in time."""
        return self._world.agenda.settle(timeout_s)

    def _said(self, address: str, text: str, name: str | None) -> str:
        return self.customer(address, name=name).say(text)

    def _answer(self, request: Request) -> Reply:
        if request.path.startswith(control.ROOT):
            return self._control.answer(request)
        path = request.path.partition("?")[0]
        number = graph.NUMBER_PATH.fullmatch(path)
        if number is not None and request.method == "GET":
            return self._sending.show(number[1], request)
        place = graph.PATH.fullmatch(path)
        if place is None or request.method != "POST":
            return Reply(status=404, body=b'{"error":{"message":"Unknown path","code":2500}}')
        return self._sending.answer(place[1], request)

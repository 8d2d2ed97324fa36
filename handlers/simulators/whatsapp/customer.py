"""What a fictional person can do in its WhatsApp."""

from dataclasses import replace
from typing import Literal

from handlers.simulators.whatsapp import shapes
from handlers.simulators.whatsapp.envelopes import MESSAGES, Change
from handlers.simulators.whatsapp.people import JsonObject, Number, Person, user_id_of
from handlers.simulators.whatsapp.phones import Received
from handlers.simulators.whatsapp.world import World

MediaKind = Literal["image", "video", "document", "sticker", "audio"]


class Customer:
    """A person in a chat with one number of the business. Each act returns the item's id."""

    def __init__(self, world: World, person: Person, number: Number) -> None:
        self.person = person
        self.number = number
        self._world = world

    @property
    def received(self) -> list[Received]:
        """The texts that reached the addresses this person has now, those of one in order."""
        return self._world.phones.received(self.person.phone, self.person.user_id)

    def wait_for(self, texts: int, timeout_s: float) -> list[Received]:
        """Return what was received once it is so many texts, or what there is when time is up."""
        person = self.person
        return self._world.phones.wait_for(texts, timeout_s, person.phone, person.user_id)

    def say(self, text: str, *, quoting: str | None = None, elsewhere: bool = False) -> str:
        """Write a text.

        Args:
            text: what it says.
            quoting: the message it answers to.
            elsewhere: another sender holds the thread, so it comes as `standby`.
        """
        head = {} if quoting is None else self._context(quoting)
        return self.do({**shapes.text(text), **head}, field="standby" if elsewhere else MESSAGES)

    def media(
        self, kind: MediaKind, caption: str | None = None, filename: str | None = None
    ) -> str:
        """Send a file."""
        key = f"{self.person.address}:{self._world.dice.count(f'media:{self.person.address}')}"
        return self.do(shapes.media(kind, key, caption, filename))

    def image(self, caption: str | None = None) -> str:
        """Send a picture."""
        return self.media("image", caption)

    def location(self, latitude: float, longitude: float, name: str = "Praça Exemplo") -> str:
        """Send a place, in degrees."""
        return self.do(shapes.location(latitude, longitude, name))

    def card(self, name: str, phone: str) -> str:
        """Send somebody's card."""
        return self.do(shapes.contacts(name, phone))

    def order(self, product_id: str, quantity: int, item_price: float) -> str:
        """Order from the catalog."""
        return self.do(shapes.order(product_id, quantity, item_price))

    def press(self, title: str, *, key: str = "button-1", quoting: str | None = None) -> str:
        """Press a button of an interactive message."""
        return self._choose(shapes.button_reply(key, title), quoting)

    def choose(
        self,
        title: str,
        *,
        key: str = "row-1",
        description: str | None = None,
        quoting: str | None = None,
    ) -> str:
        """Choose a row of a list."""
        return self._choose(shapes.list_reply(key, title, description), quoting)

    def answer_form(self, answers: JsonObject) -> str:
        """Send a form back."""
        return self.do(shapes.form_reply(answers))

    def reply_to_template(self, title: str, payload: str = "payload-1") -> str:
        """Press the quick reply of a template; it comes without the template's id."""
        return self.do(shapes.template_button(payload, title))

    def react(self, message_id: str, emoji: str | None = "👍") -> str:
        """React to a message; with None take the reaction away."""
        return self.do(shapes.reaction(message_id, emoji))

    def edit(self, message_id: str, text: str) -> str:
        """Change a text that was sent."""
        return self.do(shapes.edit(message_id, shapes.text(text)))

    def revoke(self, message_id: str) -> str:
        """Take a message back."""
        return self.do(shapes.revoke(message_id))

    def unsupported(self, kind: str = "poll") -> str:
        """Send something that Meta does not hand on."""
        return self.do(shapes.unsupported(kind))

    def say_in_group(self, group_id: str, text: str) -> str:
        """Write a text in a group that the business is in."""
        return self.do({**shapes.text(text), "group_id": group_id})

    def arrive_from_ad(self, text: str, click_id: str) -> str:
        """Write for the first time, from an ad that was clicked."""
        referral = {
            "source_url": "https://fb.me/exemplo",
            "source_id": "120208123456789",
            "source_type": "ad",
            "headline": "Exemplo",
            "body": "Fale conosco",
            "media_type": "image",
            "ctwa_clid": click_id,
        }
        return self.do({**shapes.text(text), "referral": referral})

    def change_number(self, phone: str) -> str:
        """Move to another number; the user id is another one from then on too."""
        new = replace(
            self.person,
            phone=phone,
            user_id=None if self.person.user_id is None else user_id_of(phone),
        )
        return self._move(new, shapes.number_change(self.person, new))

    def change_user_id(self, user_id: str) -> str:
        """Be known by another user id."""
        new = replace(self.person, user_id=user_id)
        return self._move(new, shapes.user_id_change(self.person, new))

    def prefer(self, value: Literal["stop", "resume", "signup"]) -> None:
        """Choose whether the business may send marketing."""
        person = self.person
        contact = {name: each for name, each in person.contact().items() if name != "profile"}
        self._world.bring(
            person,
            Change(
                number=self.number,
                field="user_preferences",
                slot="user_preferences",
                body=shapes.preference(person, value, self._world.seconds()),
                contact=contact,
            ),
        )

    def do(self, shape: JsonObject, *, field: str = MESSAGES, contact: bool = True) -> str:
        """Bring a message of any shape, with who it is from and when."""
        world, person = self._world, self.person
        message_id = world.message_id(person.address)
        world.wrote(person, self.number, message_id)
        body = {
            **person.sender(),
            "id": message_id,
            "timestamp": str(world.seconds()),
            **shape,
        }
        known = person.contact() if contact else None
        world.bring(person, Change(number=self.number, field=field, body=body, contact=known))
        return message_id

    def _choose(self, shape: JsonObject, quoting: str | None) -> str:
        return self.do(shape if quoting is None else {**shape, **self._context(quoting)})

    def _context(self, message_id: str) -> JsonObject:
        return {"context": {"from": self.number.display_phone_number, "id": message_id}}

    def _move(self, new: Person, shape: JsonObject) -> str:
        # The message is from the old addresses, and has no contacts.
        message_id = self.do(shape, contact=False)
        self.person = self._world.people.move(self.person, new)
        return message_id

"""Ports of what cannot be repeated: acting on the world, and asking it what only it knows.

Projections cannot import this module (an import contract), so a replay can neither act nor
depend on when or where it runs.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from domain.conversation.delivery import OutboundText, SendResult
from domain.conversation.model import ModelAnswer, ModelRequest
from domain.crm.replies import Pipeline, Reply

ContactKey = Literal["id", "phone_key", "email"]
DealKey = Literal["id", "key"]


class Clock(Protocol):
    """Tells the time."""

    def __call__(self) -> str:
        """Return now, fixed-width UTC (`domain.instants`)."""
        ...


class IdFactory(Protocol):
    """Makes identifiers nobody else has."""

    def __call__(self) -> str:
        """Return a UUIDv7 as text: unique, and later ids sort later."""
        ...


class ReadyLead(NamedTuple):
    """A lead whose turn it is to be worked on."""

    organization_id: str
    lead: str


class WakeUps(Protocol):
    """Says that a lead has something to do; what it is stands in the log.

    A wake-up is a hint: it may come twice, late or never. Those of one lead are worked on one
    after the other.
    """

    def wake(self, organization_id: str, lead: str, message_id: str) -> None:
        """Ask for the lead to be looked at soon.

        Raises:
            Unavailable: the queue did not take it.
        """
        ...


class Channel(Protocol):
    """One channel's way out. Never raises for what the channel answers: the result says it."""

    def send(self, text: OutboundText) -> SendResult:
        """Hand one text over, once; no retry inside."""
        ...

    def typing(self, account: str, message_id: str) -> None:
        """Show that the message was read and an answer is being written. Best effort, silent."""
        ...


class Model(Protocol):
    """A language model, or what stands in for one."""

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """Answer one request, within the time the settings allow; no retry inside.

        Raises:
            ModelRefused: it will not answer; asking again is useless.
            ModelUnavailable: no answer came.
        """
        ...


class Crm(Protocol):
    """One account of a CRM. Each method is one request (a search may page), never retried inside.

    Never raises for what the CRM answers or for the network: the reply says it. Property names are
    the logical ones of `Remote`; the adapter knows what they are called there.
    """

    def find_contact(self, *, by: ContactKey, value: str) -> Reply:
        """Read one contact by its id, its unique phone key or its e-mail."""
        ...

    def search_contacts(self, phones: Sequence[str]) -> Reply:
        """Search contacts by phone; over-inclusive and late, so verify what is found."""
        ...

    def create_contact(self, properties: Mapping[str, str]) -> Reply:
        """Create a contact. `phone_key` is unique where the account has that property."""
        ...

    def update_contact(self, contact_id: str, properties: Mapping[str, str]) -> Reply:
        """Change properties of a contact; those not named stay."""
        ...

    def find_deal(self, *, by: DealKey, value: str, archived: bool = False) -> Reply:
        """Read one deal by its id or its unique key, with the contacts it is associated with."""
        ...

    def find_deals(self, keys: Sequence[str], *, archived: bool = False) -> Reply:
        """Read many deals by their unique keys, 100 a request; what is not there is missing."""
        ...

    def search_deals(self, contact_id: str) -> Reply:
        """Search the deals of a contact: some, and late. It is for people, nothing rests on it."""
        ...

    def create_deal(self, properties: Mapping[str, str], contact_id: str) -> Reply:
        """Create a deal with its contact. `key` is unique where the account has that property."""
        ...

    def update_deal(self, deal_id: str, properties: Mapping[str, str]) -> Reply:
        """Change properties of a deal; those not named stay."""
        ...

    def associate(self, deal_id: str, contact_id: str) -> Reply:
        """Associate a deal with a contact; doing it twice changes nothing."""
        ...

    def pipeline(self) -> Pipeline:
        """Return the stages of the pipeline deals are created in."""
        ...

    def has_unique_key(self, of: Literal["deal", "contact"]) -> bool | Reply:
        """Tell whether the account has our unique property; the reply says why that is unknown."""
        ...

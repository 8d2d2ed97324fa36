"""What an append answers, fact by fact."""

from dataclasses import dataclass

from domain.errors import IdempotencyConflict, LeadError
from domain.event import NewEvent
from domain.records import Receipt


@dataclass(frozen=True, slots=True)
class Appended:
    """The event was recorded by this call, even if its first reply was lost."""

    lead: str
    event_id: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The same fact was recorded before; these are its names."""

    lead: str
    event_id: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Failed:
    """Nothing was recorded for this fact, and why. An `IdempotencyConflict` names what stands."""

    error: LeadError


Outcome = Appended | Duplicate | Failed


def outcome_of(receipt: Receipt, fact: NewEvent, *, nonce: str) -> Outcome:
    """Tell the sender of a fact what the receipt under its key means for him.

    Args:
        receipt: what stands under the fact's key.
        fact: what the sender brought.
        nonce: of the sender's attempt. A receipt that carries it and names this very event is his
            own: the write succeeded and only its reply was lost.
    """
    if receipt.is_of_other(fact.fingerprint):
        return Failed(
            IdempotencyConflict(
                event_id=receipt.event_id, lead=receipt.lead, sequence=receipt.sequence
            )
        )
    if receipt.nonce == nonce and receipt.event_id == fact.event_id:
        return Appended(receipt.lead, receipt.event_id, receipt.sequence)
    return Duplicate(receipt.lead, receipt.event_id, receipt.sequence)

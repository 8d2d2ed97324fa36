"""What a decision is, what it may claim and depend on, and what is recorded of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from domain.errors import Conflict
from domain.event import Address, LeadEvent, NewEvent
from domain.keys import Key
from domain.records import Check, Identity, Receipt, Row
from projections.projection import Projection
from projections.reading import Ground


class Command(NamedTuple):
    """What a decision answers to: the receipt key of its first fact, and what was asked.

    The fingerprint is of the request, not of the fact: what is decided may differ between tries.
    """

    key: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision to make about one lead.

    Args:
        lead: whose. Empty where `address` finds the lead, or makes it in the same commit.
        decide: from one moment's states, the facts to record; pure, may be called several times.
        stands_on: the projections whose states it reads; a bug in another must not silence it.
        keys: rows it reads. Reading another one asks for it and decides again.
        foreseen: facts it may yield: the rows they touch are read in the same round trip.
        checks: conditions on records that must hold at the very moment of the commit.
        claims: names that its facts claim; each may be claimed by one owner, once.
    """

    organization_id: str
    lead: str = ""
    address: Address | None = None
    decide: Callable[[Ground], Sequence[NewEvent]]
    stands_on: Sequence[Projection]
    keys: Sequence[Key] | Callable[[str], Sequence[Key]] = ()
    foreseen: Sequence[NewEvent] = ()
    command: Command | None = None
    checks: Sequence[Check] = ()
    claims: Sequence[Identity] = ()


class ClaimTaken(Conflict):
    """What the decision would claim is somebody else's; nothing was recorded."""

    code = "claim-taken"
    title = "It belongs to another"

    @classmethod
    def by_another(cls) -> Self:
        """Return the error of a claim that came too late."""
        message = "What this would be linked to is linked to another."
        return cls(message, hint="Look at who has it; nothing was recorded.")


class CheckFailed(Conflict):
    """A record that the decision depends on stands otherwise now; nothing was recorded."""

    code = "conversation_state_changed"
    title = "The conversation changed meanwhile"

    @classmethod
    def of_a_check(cls) -> Self:
        """Return the error of a check that did not hold."""
        message = "A record this decision depends on has changed."
        hint = "Look at what stands and decide again; nothing was recorded."
        return cls(message, hint=hint)


class Recorded(NamedTuple):
    """What became of a decision.

    `events` were recorded by this call. `receipt` is that of the command, also when an earlier
    call recorded it (then `events` is empty); None if nothing was ever recorded for it. `lead` is
    whose it is, also where only an address was known. `rows` are the view rows of this call's
    commit, as it left them; empty where the events went alone.
    """

    events: tuple[LeadEvent, ...]
    receipt: Receipt | None
    lead: str = ""
    rows: tuple[Row, ...] = ()

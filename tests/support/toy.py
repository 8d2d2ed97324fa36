"""Toy projections in two editions, small enough to be checked by eye and hostile enough to bite.

A counter that is not idempotent, a row that an event takes away, rows that only the fold can name,
a row outside the lead's own partition, more rows than a commit holds, a row that only edition 2
knows, and a projection that fails on purpose. Edition 2 writes other values than edition 1.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from domain import canonical, keys
from domain.event import LeadEvent, NewEvent
from domain.keys import Key
from domain.records import Row
from projections.committing import Edition
from projections.deciding import Command, Decision
from projections.folding import Fold
from projections.projection import Projection, Rows
from projections.reading import Ground
from tests.support.make import LEAD, ORGANIZATION, SOURCE, instant

FACTOR = {1: 1, 2: 10}
"""What an edition multiplies every stored value with: no row of one passes for one of the other."""


def count_key(lead: str = LEAD) -> Key:
    """The sum of everything counted."""
    return Key(f"TOY#{lead}", "count")


def open_key(lead: str = LEAD) -> Key:
    """Stands between `toy_opened` and `toy_closed`."""
    return Key(f"TOY#{lead}", "open")


def extra_key(lead: str = LEAD) -> Key:
    """Only edition 2 writes it."""
    return Key(f"TOY#{lead}", "extra")


def lease_key(lead: str = LEAD) -> Key:
    """A record that shares the lead's partition with view rows."""
    return Key(f"TOY#{lead}", "LEASE")


def shelf_key(item: str) -> Key:
    """A view row outside the lead's own partitions; only edition 1 writes it."""
    return Key(f"SHELF#{item}", "META")


def shelf_lock_key(item: str) -> Key:
    """A record that shares its partition with the view row above."""
    return Key(f"SHELF#{item}", "LEASE")


def marks_key(lead: str = LEAD) -> Key:
    """The row of the projection that fails on purpose."""
    return Key(f"MARK#{lead}", "marks")


class Counting:
    """Counts. `toy_tallied` touches a row that only the count can name."""

    name = "counting"
    handles = frozenset(
        {
            "toy_counted",
            "toy_noted",
            "toy_opened",
            "toy_closed",
            "toy_shelved",
            "toy_flooded",
            "toy_tallied",
        }
    )

    def __init__(self, edition: int) -> None:
        self.edition = edition

    def partitions(self, lead: str) -> tuple[str, ...]:
        return (f"TOY#{lead}",)

    def owns(self, key: Key) -> bool:
        if key.pk.startswith("SHELF#"):
            return key.sk == "META"
        return key.pk.startswith("TOY#") and key.sk != "LEASE"

    def keys(self, event: LeadEvent) -> Iterable[Key]:
        match event.event_type:
            case "toy_opened" | "toy_closed":
                return [open_key(event.lead)]
            case "toy_shelved":
                return [shelf_key(event.payload["item"])] if self.edition == 1 else []
            case "toy_flooded":
                return _flood(event)
            case _:
                extra = [extra_key(event.lead)] if self.edition == 2 else []
                return [count_key(event.lead), *extra]

    def foreign_keys(self, event: LeadEvent) -> Iterable[Key]:
        return [shelf_key(event.payload["item"])] if event.event_type == "toy_shelved" else []

    def evolve(self, rows: Rows, event: LeadEvent) -> None:
        match event.event_type:
            case "toy_opened":
                rows.put(open_key(event.lead), event.sequence)
            case "toy_closed":
                rows.delete(open_key(event.lead))
            case "toy_tallied":
                count = rows.get(count_key(event.lead)) or 0
                _add(rows, Key(f"TOY#{event.lead}", f"tally#{count}"), 1)
            case _:
                amount = event.payload.get("n", 1)
                for key in self.keys(event):
                    _add(rows, key, amount)

    def decode(self, row: Row) -> Any:
        return int(row.attributes["value"]) // FACTOR[self.edition]

    def encode(self, lead: str, key: Key, state: Any) -> Row:
        return Row(key, {"leadOrganizationId": lead, "value": state * FACTOR[self.edition]})


class Fragile:
    """Marks; fails on an event that says it breaks this edition."""

    name = "fragile"
    handles = frozenset({"toy_marked"})

    def __init__(self, edition: int) -> None:
        self.edition = edition

    def partitions(self, lead: str) -> tuple[str, ...]:
        return (f"MARK#{lead}",)

    def owns(self, key: Key) -> bool:
        return key.pk.startswith("MARK#")

    def keys(self, event: LeadEvent) -> Iterable[Key]:
        return [marks_key(event.lead)]

    def foreign_keys(self, event: LeadEvent) -> Iterable[Key]:
        return []

    def evolve(self, rows: Rows, event: LeadEvent) -> None:
        if event.payload.get("breaks") == self.edition:
            message = "a bug of this edition"
            raise ZeroDivisionError(message)
        _add(rows, marks_key(event.lead), 1)

    def decode(self, row: Row) -> Any:
        return int(row.attributes["value"]) // FACTOR[self.edition]

    def encode(self, lead: str, key: Key, state: Any) -> Row:
        return Row(key, {"leadOrganizationId": lead, "value": state * FACTOR[self.edition]})


COUNTING: Mapping[int, Projection] = {1: Counting(1), 2: Counting(2)}
EDITIONS: Mapping[int, Edition] = {
    number: Edition((COUNTING[number], Fragile(number)), number) for number in (1, 2)
}


def fact(event_type: str = "toy_counted", key: str = "", **payload: Any) -> NewEvent:
    """A fact of the first lead, unless `lead`, `address`, `source` or `organization_id` say
    otherwise.

    Its key derives from type and payload, its event id from the key and the `attempt`.
    """
    lead = payload.pop("lead", LEAD)
    attempt = payload.pop("attempt", 1)
    organization_id = payload.pop("organization_id", ORGANIZATION)
    address = payload.pop("address", None)
    source = payload.pop("source", SOURCE)
    name = key or f"{event_type}:{canonical.dumps(payload).decode()}"
    return NewEvent(
        event_id=f"id-{canonical.digest(lead or '', name)[:12]}-{attempt}",
        organization_id=organization_id,
        event_type=event_type,
        source_type="EXTERNAL",
        source=source,
        external_event_id=name,
        occurred_at=instant(1),
        received_at=instant(2),
        address=address,
        payload=payload,
        lead=lead,
    )


def counted(n: int, key: str = "", **more: Any) -> NewEvent:
    """Counts n."""
    return fact("toy_counted", key, n=n, **more)


def noting(key: str, edition: int = 1, *, command: bool = True, lead: str = LEAD) -> Decision:
    """A decision that records what it saw, so that anyone can tell later whether that was so."""

    def decide(ground: Ground) -> Sequence[NewEvent]:
        saw = count_seen(ground, edition, lead)
        return [fact("toy_noted", key, n=1, saw=saw, edition=edition, lead=lead)]

    return Decision(
        organization_id=ORGANIZATION,
        lead=lead,
        decide=decide,
        stands_on=[COUNTING[edition]],
        keys=[count_key(lead)],
        command=Command(receipt_key(key), f"asked for {key}") if command else None,
    )


def replaced(
    decision: Decision, decide: Callable[[Ground], Sequence[NewEvent]] | None = None, **fields: Any
) -> Decision:
    """The decision with another `decide` or other fields."""
    return replace(decision, decide=decide or decision.decide, **fields)


def count_seen(ground: Ground, edition: int = 1, lead: str = LEAD) -> int:
    """What a decision reads as the count."""
    return ground.fold.states(COUNTING[edition]).get(count_key(lead)) or 0


def receipt_key(key: str) -> str:
    """The receipt's key of a fact made here."""
    return keys.receipt(ORGANIZATION, SOURCE, key)


def folded(edition: int, lead: str, events: Iterable[LeadEvent]) -> dict[Key, Row]:
    """The rows that these events make in an edition."""
    fold = Fold(EDITIONS[edition].projections, lead)
    for event in events:
        fold.evolve(event)
    return fold.rows()


def folded_count(edition: int, lead: str, events: Iterable[LeadEvent]) -> int:
    """The count after these events; events that are not counted may be broken."""
    rows = Rows(COUNTING[edition], None)
    for event in events:
        if event.event_type in COUNTING[edition].handles:
            COUNTING[edition].evolve(rows, event)
    return rows.get(count_key(lead)) or 0


def _flood(event: LeadEvent) -> list[Key]:
    return [Key(f"TOY#{event.lead}", f"flood#{n:03d}") for n in range(event.payload["rows"])]


def _add(rows: Rows, key: Key, amount: int) -> None:
    rows.put(key, (rows.get(key) or 0) + amount)

"""Tickets, and the last question the lead asked."""

from collections.abc import Iterator
from typing import Any

from domain.event import LeadEvent
from projections.memories import numbers
from projections.memories.cells import Cells, Contribution, instant_of, register
from projections.memories.declaration import (
    Shown,
    chosen,
    counted,
    memory_key,
    rule,
    view,
)
from projections.memories.times import hours_between


@rule("ticket_opened", "ticket_resolved")
def ticket(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Keep opening and resolution apart, since either may arrive first."""
    stated = event.payload
    name = event.event_type.removeprefix("ticket_")
    facts = chosen(
        stated,
        *("subject", "productId", "priority"),
        *("resolution", "satisfactionScore", "scoreScale"),
    )
    cells: Cells = {f"last:{name}": register(stamped, facts), **counted(event)}
    yield "support", memory_key("ticket", stated["ticketId"]), cells


@rule("product_asked")
def question(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Remember what was asked last."""
    facts = chosen(event.payload, "question", "channel", "productId")
    cells: Cells = {"last:question": register(stamped, facts), **counted(event)}
    yield "support", "last_question", cells


@view("support", "ticket")
def show_ticket(cells: Cells) -> Shown:
    """The ticket and how it stands: resolved if that was the later of the two facts."""
    opened, resolved = cells.get("last:opened"), cells.get("last:resolved")
    value: dict[str, Any] = {"status": "open"}
    if opened:
        value |= {**opened[2], "openedAt": instant_of(opened[1])}
    if not resolved or (opened and opened[1] > resolved[1]):
        return Shown(value)
    at = instant_of(resolved[1])
    value |= {"status": "resolved", **resolved[2], "resolvedAt": at}
    if opened:
        value["hoursToResolve"] = numbers.number(hours_between(value["openedAt"], at), 2)
    return Shown(value, holds_days=180)


@view("support", "last_question")
def show_last_question(cells: Cells) -> Shown:
    """The newest question, as it was asked."""
    _, stamped, facts = cells["last:question"]
    return Shown({**facts, "askedAt": instant_of(stamped)}, holds_days=90)

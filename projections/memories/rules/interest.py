"""What the lead is interested in: signals of any strength add up to one confidence."""

from collections.abc import Iterator
from typing import Any, Final

from domain.event import LeadEvent
from projections.memories import numbers
from projections.memories.cells import (
    AGENT_INFERRED,
    EVENT_DERIVED,
    SOURCES,
    USER_DECLARED,
    Cells,
    Contribution,
    register,
)
from projections.memories.declaration import (
    MAX_ITEMS,
    Shown,
    clipped,
    memory_key,
    newest_instant,
    rule,
    traced,
    view,
)

_SIGNALS: Final = {
    "purchase_completed": ("purchased", numbers.evidence("0.60")),
    "product_viewed": ("viewed", numbers.evidence("0.10")),
    "product_asked": ("asked", numbers.evidence("0.35")),
}
_CARTED: Final = ("carted", numbers.evidence("0.45"))


@rule(*_SIGNALS)
def signal(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Take an act of the lead as a sign of interest in the product and its category."""
    stated = event.payload
    cells = _signal(event, stamped, *_SIGNALS[event.event_type])
    if product := stated.get("productId"):
        of_product = dict(cells)
        if name := stated.get("productName"):
            of_product["last:name"] = register(stamped, clipped(name))
        if question := stated.get("question"):
            of_product["last:question"] = register(stamped, clipped(question), USER_DECLARED)
        yield "interest", memory_key("product", product), of_product
    if category := stated.get("category"):
        yield "interest", memory_key("category", category), cells


@rule("purchase_abandoned")
def carted(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Take each product left in the cart as a sign of interest, once."""
    cells = _signal(event, stamped, *_CARTED)
    for product in dict.fromkeys(event.payload.get("productIds", [])[:MAX_ITEMS]):
        yield "interest", memory_key("product", product), cells


@rule("interest_detected")
def detected(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Take what somebody noticed for as much as they were sure of it."""
    stated = event.payload
    cells = _signal(event, stamped, "detected", numbers.evidence(stated["confidence"]))
    for kind, field in (("product", "productId"), ("category", "category")):
        if identifier := stated.get(field):
            yield "interest", memory_key(kind, identifier), cells


@view("interest", "product")
@view("interest", "category")
def show_interest(cells: Cells) -> Shown:
    """All signals, as one confidence (noisy-or)."""
    value: dict[str, Any] = {
        field: cells[cell][2]
        for field, cell in (("productName", "last:name"), ("lastQuestion", "last:question"))
        if cell in cells
    }
    value |= {"signals": cells["count:signals"], "lastSeenAt": newest_instant(cells)}
    source = SOURCES[cells["max:source"]]
    return Shown(value, numbers.noisy_or(cells["add:evidence"]), source, holds_days=90)


def _signal(event: LeadEvent, stamped: str, name: str, weight: int) -> Cells:
    guessed = event.source == "ai_agents_service"
    return {
        "count:signals": {name: 1},
        "add:evidence": weight,
        "max:source": AGENT_INFERRED if guessed else EVENT_DERIVED,
        **traced(event, stamped),
    }

"""Objections, and how much the price matters to the lead."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from domain.event import LeadEvent
from projections.memories import numbers
from projections.memories.cells import Cells, Contribution, register
from projections.memories.declaration import (
    Name,
    Shown,
    clipped,
    memory_key,
    newest_instant,
    related,
    rule,
    slug,
    traced,
    view,
)
from projections.memories.rules.commerce import bought_after

_LEVELS: Final = ("low", "low", "medium", "high")
"""By how often the lead asked for a discount or objected to a price; more than that is high."""


@rule("discount_requested")
def requested(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Take asking for a discount as a sign."""
    cells: Cells = {"count:signs": {"requested": 1}, **traced(event, stamped)}
    if context := event.payload.get("context"):
        cells["last:context"] = register(stamped, clipped(context))
    yield "preference", "price_sensitivity", cells


@rule("discount_accepted")
def accepted(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Count what was accepted, and how much it was."""
    cells: Cells = {
        "count:signs": {"accepted": 1},
        "add:percent": numbers.scaled(event.payload["discountPercent"], 1000),
        **traced(event, stamped),
    }
    yield "preference", "price_sensitivity", cells


@rule("objection_raised")
def objection(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Count objections of a kind; one against the price is also a sign of sensitivity."""
    stated = event.payload
    kind = slug(stated["type"])
    trace = traced(event, stamped)
    cells: Cells = dict(trace)
    if context := stated.get("context"):
        cells["last:context"] = register(stamped, clipped(context))
    if product := stated.get("productId"):
        cells["count:products"] = {product: 1}
    yield "behavioral", memory_key("objection", kind), cells
    if kind == "price":
        yield "preference", "price_sensitivity", {"count:signs": {"objected": 1}, **trace}


@view("preference", "price_sensitivity")
def show_price_sensitivity(cells: Cells) -> Shown:
    """How often the price came up, as numbers and as a level."""
    signs = cells["count:signs"]
    asked = signs.get("requested", 0) + signs.get("objected", 0)
    value: dict[str, Any] = {
        "level": _LEVELS[min(asked, len(_LEVELS) - 1)],
        **{name: signs.get(name, 0) for name in ("requested", "accepted", "objected")},
    }
    if signs.get("accepted"):
        value["avgDiscountPercent"] = numbers.ratio(cells["add:percent"], signs["accepted"] * 1000)
    if "last:context" in cells:
        value["lastContext"] = cells["last:context"][2]
    count = sum(signs.values())
    confidence = Decimal(2 * count + 1) / Decimal(2 * count + 4)
    return Shown(value, confidence, "system_computed", holds_days=180)


@view("behavioral", "objection")
def show_objection(cells: Cells) -> Shown:
    """How often it was raised, over what, and in which words last."""
    value: dict[str, Any] = {
        "count": cells["add:events"],
        "products": cells.get("count:products", {}),
        "lastRaisedAt": newest_instant(cells),
    }
    if "last:context" in cells:
        value["lastContext"] = cells["last:context"][2]
    return Shown(value)


@related("behavioral", "objection")
def objection_overcome(cells: Cells, states: Mapping[Name, Cells]) -> dict[str, Any]:
    """Overcome once the lead has bought, after the last objection, what it was about."""
    products = sorted(cells.get("count:products", {}))
    return {"overcome": bought_after(newest_instant(cells), products, states)}

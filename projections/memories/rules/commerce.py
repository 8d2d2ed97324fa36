"""Purchases, refunds, abandoned carts, subscriptions, and how the lead pays."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from domain.event import LeadEvent
from domain.money import DEFAULT_CURRENCY, minor_units
from projections.memories import numbers
from projections.memories.cells import Cells, Contribution, instant_of, register
from projections.memories.declaration import (
    MAX_ITEMS,
    Name,
    Shown,
    chosen,
    clipped,
    counted,
    memory_key,
    newest_instant,
    preferred,
    related,
    rule,
    traced,
    view,
)
from projections.memories.times import days_between


@rule("purchase_completed")
def purchase(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Remember the transaction, the sums of its product and of all, and the means of payment."""
    stated, at = event.payload, event.occurred_at
    transaction = chosen(
        stated,
        *("productId", "productName", "category", "amount", "currency"),
        *("paymentMethod", "installments", "transactionId"),
    )
    yield (
        *("purchase", "last_transaction"),
        {"last:transaction": register(stamped, transaction), **counted(event)},
    )
    currency = stated.get("currency", DEFAULT_CURRENCY)
    sums: Cells = {
        "count:purchases": {currency: 1},
        "count:spent": {currency: minor_units(stated["amount"], currency)},
        "min:bought": at,
        "max:bought": at,
        **traced(event, stamped),
    }
    yield "purchase", "totals", sums
    yield "purchase", memory_key("product", stated["productId"]), sums | _named(stated, stamped)
    if method := stated.get("paymentMethod"):
        yield "preference", "payment_method", _payment(event, stamped, method)


@rule("purchase_refunded")
def refund(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Count what went back. What was bought stays bought; the net is worked out when read."""
    stated = event.payload
    currency = stated.get("currency", DEFAULT_CURRENCY)
    sums: Cells = {
        "count:refunds": {currency: 1},
        "count:refunded": {currency: minor_units(stated["amount"], currency)},
        **traced(event, stamped),
    }
    yield "purchase", "totals", sums
    if product := stated.get("productId"):
        yield "purchase", memory_key("product", product), sums


@rule("purchase_abandoned")
def abandonment(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Remember the last cart left behind, and how often and where that happens."""
    stated = event.payload
    cart = chosen(stated, "cartValue", "currency")
    cart["productIds"] = stated.get("productIds", [])[:MAX_ITEMS]
    stages: Cells = {}
    if stage := stated.get("stageAbandoned"):
        cart["stage"] = stage
        stages["count:stages"] = {stage: 1}
    yield "purchase", "abandoned_cart", {"last:cart": register(stamped, cart), **counted(event)}
    yield "behavioral", "cart_abandonment", stages | traced(event, stamped)


@rule("subscription_created", "subscription_cancelled")
def subscription(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Keep creation and cancellation apart: the later one tells how the plan stands."""
    stated = event.payload
    name = event.event_type.removeprefix("subscription_")
    facts = chosen(stated, "planName", "amount", "currency", "interval", "reason")
    cells: Cells = {f"last:{name}": register(stamped, facts), **counted(event)}
    yield "purchase", memory_key("subscription", stated["planId"]), cells


@view("purchase", "last_transaction")
def show_last_transaction(cells: Cells) -> Shown:
    """The newest purchase as it was stated."""
    _, stamped, transaction = cells["last:transaction"]
    return Shown({**transaction, "purchasedAt": instant_of(stamped)})


@view("purchase", "product")
def show_product(cells: Cells) -> Shown:
    """Sums over the purchases of one product, under the newest name stated for it."""
    names = {
        field: cells[cell][2]
        for field, cell in (("productName", "last:name"), ("category", "last:category"))
        if cell in cells
    }
    return Shown(names | _sums(cells))


@view("purchase", "totals")
def show_totals(cells: Cells) -> Shown:
    """Sums over all purchases, and the average ticket of each currency."""
    spent = cells.get("count:spent", {})
    ticket = numbers.average_amounts(spent, cells.get("count:purchases", {}))
    return Shown(_sums(cells) | ({"avgTicket": ticket} if ticket else {}))


@view("preference", "payment_method")
def show_payment_method(cells: Cells) -> Shown:
    """The means of payment used most."""
    best, votes, confidence = preferred(cells)
    value: dict[str, Any] = {"preferred": best, "votes": votes}
    if stated := cells.get("add:installmentsStated"):
        value["avgInstallments"] = numbers.ratio(cells["add:installments"], stated)
    return Shown(value, confidence, "system_computed")


@view("purchase", "abandoned_cart")
def show_abandoned_cart(cells: Cells) -> Shown:
    """The cart left behind last."""
    _, stamped, cart = cells["last:cart"]
    return Shown({**cart, "abandonedAt": instant_of(stamped)}, holds_days=30)


@related("purchase", "abandoned_cart")
def cart_status(cells: Cells, states: Mapping[Name, Cells]) -> dict[str, Any]:
    """Recovered once one of its products is bought later; of an unnamed cart, anything."""
    _, stamped, cart = cells["last:cart"]
    recovered = bought_after(instant_of(stamped), cart["productIds"], states)
    return {"status": "recovered" if recovered else "open"}


@view("behavioral", "cart_abandonment")
def show_cart_abandonment(cells: Cells) -> Shown:
    """How often carts are left behind, and at which stages."""
    value = {
        "count": cells["add:events"],
        "stages": cells.get("count:stages", {}),
        "lastAt": newest_instant(cells),
    }
    return Shown(value)


@view("purchase", "subscription")
def show_subscription(cells: Cells) -> Shown:
    """The plan and how it stands: cancelled if that was the later of the two facts."""
    created, cancelled = cells.get("last:created"), cells.get("last:cancelled")
    value: dict[str, Any] = {"status": "active"}
    if created:
        value |= {**created[2], "createdAt": instant_of(created[1])}
    if cancelled and (not created or cancelled[1] > created[1]):
        ended = {"status": "cancelled", "cancelledAt": instant_of(cancelled[1])}
        value |= cancelled[2] | ended
    return Shown(value)


def bought_after(instant: str, products: list[str], states: Mapping[Name, Cells]) -> bool:
    """Tell whether one of the products, or where none is named anything, was bought later."""
    keys = [memory_key("product", product) for product in products] or ["totals"]
    purchases = (states.get(("purchase", key), {}) for key in keys)
    return any(cells.get("max:bought", "") > instant for cells in purchases)


def _named(stated: Mapping[str, Any], stamped: str) -> Cells:
    return {
        cell: register(stamped, clipped(stated[field]))
        for cell, field in (("last:name", "productName"), ("last:category", "category"))
        if stated.get(field)
    }


def _payment(event: LeadEvent, stamped: str, method: str) -> Cells:
    cells: Cells = {
        "count:votes": {method: 1},
        "maxmap:at": {method: event.occurred_at},
        **traced(event, stamped),
    }
    if (installments := event.payload.get("installments")) is not None:
        cells |= {"add:installments": installments, "add:installmentsStated": 1}
    return cells


def _sums(cells: Cells) -> dict[str, Any]:
    spent = cells.get("count:spent", {})
    value: dict[str, Any] = {
        "purchaseCount": sum(cells.get("count:purchases", {}).values()),
        "totalSpent": numbers.amounts(spent),
    }
    if refunded := cells.get("count:refunded"):
        net = {key: spent.get(key, 0) - refunded.get(key, 0) for key in {**spent, **refunded}}
        value |= {
            "refundCount": sum(cells["count:refunds"].values()),
            "refunded": numbers.amounts(refunded),
            "netSpent": numbers.amounts(net),
        }
    if value["purchaseCount"]:
        first, last = cells["min:bought"], cells["max:bought"]
        value |= {"firstPurchasedAt": first, "lastPurchasedAt": last}
        if gaps := value["purchaseCount"] - 1:
            value["avgIntervalDays"] = numbers.number(days_between(first, last) / Decimal(gaps), 2)
    return value

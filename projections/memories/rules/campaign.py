"""Campaigns: what reached the lead, and what came of it."""

from collections.abc import Iterator
from typing import Any, Final

from domain.event import LeadEvent
from projections.memories import numbers
from projections.memories.cells import Cells, Contribution, register
from projections.memories.declaration import (
    Shown,
    chosen,
    memory_key,
    rule,
    traced,
    view,
)

_STAGES: Final = ("engaged", "ignored", "delivered")
"""The first that happened is the status, whatever came later or arrived earlier."""


@rule(*(f"campaign_{stage}" for stage in _STAGES))
def campaign(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Count each stage of the campaign, and of all campaigns."""
    stated = event.payload
    stage = event.event_type.removeprefix("campaign_")
    trace = traced(event, stamped)
    stages: Cells = {"count:stages": {stage: 1}}
    cells: Cells = {f"min:{stage}": event.occurred_at, **stages, **trace}
    if stage == "delivered":
        facts = chosen(stated, "campaignName", "productId", "channel")
        cells["last:campaign"] = register(stamped, facts)
    if how := stated.get("engagementType"):
        cells["count:how"] = {how: 1}
    yield "campaign", memory_key("campaign", stated["campaignId"]), cells
    yield "behavioral", "campaign_response", stages | trace


@view("campaign", "campaign")
def show_campaign(cells: Cells) -> Shown:
    """How far the campaign came with this lead; engaged outranks ignored."""
    value: dict[str, Any] = {
        "status": next(stage for stage in _STAGES if f"min:{stage}" in cells),
        **(cells["last:campaign"][2] if "last:campaign" in cells else {}),
        "counts": cells["count:stages"],
        "engagements": cells.get("count:how", {}),
    }
    value |= {f"{stage}At": at for stage in _STAGES if (at := cells.get(f"min:{stage}"))}
    return Shown(value, holds_days=180)


@view("behavioral", "campaign_response")
def show_campaign_response(cells: Cells) -> Shown:
    """Deliveries, engagements and silences; the rate needs a delivery, and is 1 at most."""
    stages = cells["count:stages"]
    value = {stage: stages.get(stage, 0) for stage in _STAGES}
    if delivered := value["delivered"]:
        value["engagementRate"] = min(1, numbers.ratio(value["engaged"], delivered, 4))
    return Shown(value)

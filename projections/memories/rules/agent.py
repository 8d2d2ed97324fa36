"""Insights of AI agents: facts at second hand, never surer than 0.95. Their text is untrusted."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from domain.event import LeadEvent
from projections.memories import numbers
from projections.memories.cells import AGENT_INFERRED, Cells, Contribution, instant_of, register
from projections.memories.declaration import (
    Shown,
    chosen,
    counted,
    memory_key,
    rule,
    slug,
    view,
)

_PLACES: Final = {"communication_style": ("preference", "communication_style")}
"""Insights that belong to another memory than fact/insight."""

_LEAST: Final = 3_000
_PARTS: Final = 10_000


@rule("agent_insight")
def insight(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Keep the newest insight of each kind; one under 0.3 is not worth remembering."""
    stated = event.payload
    confidence = numbers.scaled(stated["confidence"], _PARTS)
    if confidence < _LEAST:
        return
    kind = slug(stated["insightType"])
    place = _PLACES.get(kind) or ("fact", memory_key("insight", kind))
    facts = {**chosen(stated, "content"), "confidence": confidence}
    yield *place, {"last:insight": register(stamped, facts, AGENT_INFERRED), **counted(event)}


@view("fact", "insight")
@view("preference", "communication_style")
def show_insight(cells: Cells) -> Shown:
    """What the agent noted last, as sure as it was."""
    _, stamped, facts = cells["last:insight"]
    value = {"content": facts["content"], "observedAt": instant_of(stamped)}
    confidence = min(Decimal(facts["confidence"]) / _PARTS, numbers.SURE)
    return Shown(value, confidence, "agent_inferred", holds_days=180)

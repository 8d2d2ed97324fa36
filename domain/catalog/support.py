"""Support tickets."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from domain.catalog._declare import Payload, event, upcasts
from domain.catalog._fields import (
    LOGGABLE,
    NOT_BOOLEAN,
    Id,
    ProductId,
    Rating,
    Text,
    describe,
)

TicketId = Annotated[Id, describe("The ticket, as its desk names it.", "T-456")]


@event("ticket_opened", category="Support")
class TicketOpened(Payload):
    """The lead asked support for help."""

    ticket_id: TicketId
    subject: Annotated[Text, describe("What it is about.", "Entrega atrasada")] | None = None
    product_id: ProductId | None = None
    priority: (
        Annotated[
            Literal["low", "normal", "high", "urgent"],
            describe("How soon it needs an answer.", "high"),
            LOGGABLE,
        ]
        | None
    ) = None


@event("ticket_resolved", category="Support", version=1)
class TicketResolvedV1(Payload):
    """A ticket was closed; a score without a scale is out of 5."""

    ticket_id: TicketId
    resolution: Annotated[Text, describe("How it ended.", "Reenviado")] | None = None
    satisfaction_score: (
        Annotated[Rating, describe("What the lead gave, on the scale.", 4)] | None
    ) = None
    score_scale: (
        Annotated[int, Field(ge=1, le=1_000), NOT_BOOLEAN, describe("The best score.", 5), LOGGABLE]
        | None
    ) = None


@event("ticket_resolved", category="Support", version=2)
class TicketResolved(TicketResolvedV1):
    """A ticket was closed; a score states its scale."""

    model_config = ConfigDict(
        json_schema_extra={"dependentRequired": {"satisfactionScore": ["scoreScale"]}}
    )

    @model_validator(mode="after")
    def _score_states_its_scale(self) -> "TicketResolved":
        if self.satisfaction_score is not None and self.score_scale is None:
            message = "needs scoreScale beside satisfactionScore"
            raise ValueError(message)
        return self


@upcasts("ticket_resolved", from_version=1)
def _state_the_scale(payload: dict[str, Any]) -> dict[str, Any]:
    if "satisfactionScore" in payload and "scoreScale" not in payload:
        return {**payload, "scoreScale": 5}
    return payload

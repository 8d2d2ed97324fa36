"""Commands that tell what became of a message, what agents cost, and what is asked for and not sold."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.events import summary
from handlers.entrypoints.cli.output import Column, Form, JsonObject, field
from handlers.entrypoints.cli.people import PANEL
from handlers.entrypoints.cli.session import Session

if TYPE_CHECKING:
    from handlers.conversations.tracing import Cost, Step

STEPS: Final = (
    field("sequence", "#", number=True),
    field("receivedAt", "when"),
    field("eventType", "what"),
    Column("details", lambda step: summary(step["told"]), wide=True),
)
_COSTS: Final = (
    field("day"),
    field("model"),
    field("calls", number=True),
    field("superseded", number=True),
    field("inputTokens", "tokens in", number=True),
    field("outputTokens", "tokens out", number=True),
    field("cost", number=True),
    field("currency"),
)
_DEMANDS: Final = (
    field("createdAt", "when"),
    field("service", wide=True),
    field("segment"),
    field("leadOrganizationId", "lead"),
    field("originalMessage", "message", wide=True),
)
_MILLION: Final = 1_000_000


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    command(program, "trace", panel=PANEL)(trace)
    command(program, "costs", panel=PANEL)(costs)
    command(program, "demands", panel=PANEL)(demands)


def trace(
    session: Session,
    message_id: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="The channel's id of a message, or ours.", show_default=False
        ),
    ],
    lead: Annotated[
        str | None, typer.Option(metavar="LEAD", help="Whose, where no receipt tells.")
    ] = None,
) -> None:
    """Follow a message: receipt, session, turn, texts of ours, sends, statuses. No content."""
    session.existing()
    named = None if lead is None else session.lead(lead)
    found = session.talks.tracing.trace(session.organization, message_id, lead=named)
    heading: JsonObject = {
        "leadOrganizationId": found.lead,
        "sessionId": found.session_id,
        "messageIds": found.message_ids,
        "outboundIds": found.outbound_ids,
        "providerMessageIds": found.provider_message_ids,
    }
    steps = [_step(each) for each in found.steps]
    session.out.listing("steps", steps, STEPS, **heading)
    if session.out.form is Form.TEXT:
        session.words.say(f"Lead {found.lead}, session {found.session_id or 'none'}.")


def costs(
    session: Session,
    days: Annotated[int, typer.Option(min=1, max=366, help="UTC days back, today among them.")] = 7,
) -> None:
    """Sum what agents asked of models and what it cost, by day and model."""
    session.existing()
    found = session.talks.tracing.costs(session.organization, days)
    session.out.listing("costs", [_cost(each) for each in found], _COSTS)


def demands(
    session: Session,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 50,
) -> None:
    """List what leads asked for and is not sold here, the newest first."""
    session.existing()
    found = session.talks.tracing.demands(session.organization, limit)
    shown = [
        {
            "createdAt": each["created_at"],
            "service": each["service"],
            "segment": each.get("segment") or None,
            "leadOrganizationId": each["leadOrganizationId"],
            "sessionId": each["session_id"],
            "originalMessage": each.get("original_message") or None,
        }
        for each in found
    ]
    session.out.listing("demands", shown, _DEMANDS)


def _step(step: "Step") -> JsonObject:
    return {
        "sequence": step.sequence,
        "occurredAt": step.occurred_at,
        "receivedAt": step.received_at,
        "eventType": step.event_type,
        "source": step.source,
        "externalEventId": step.external_event_id,
        "told": step.told,
    }


def _cost(cost: "Cost") -> JsonObject:
    amount = f"{cost.cost_micros // _MILLION}.{cost.cost_micros % _MILLION:06d}"
    return {
        "day": cost.day,
        "model": cost.model,
        "calls": cost.calls,
        "superseded": cost.superseded,
        "inputTokens": cost.input_tokens,
        "outputTokens": cost.output_tokens,
        "cost": amount if cost.currency is not None else None,
        "currency": cost.currency,
    }

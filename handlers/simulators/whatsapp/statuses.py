"""The statuses of a message the business sent, as changes."""

import hashlib
from dataclasses import dataclass
from typing import Final

from handlers.simulators.whatsapp import graph
from handlers.simulators.whatsapp.envelopes import Change
from handlers.simulators.whatsapp.faults import StatusPlan, StatusStep
from handlers.simulators.whatsapp.people import JsonObject, Number, Person

_WINDOW_S: Final = 24 * 3600
_AGE_S: Final = {"sent": 0, "delivered": 1, "read": 2, "played": 3, "failed": 1}
"""What the timestamps say of when it happened, in seconds after the send, whenever it is posted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message that was accepted. `at`: seconds since 1970."""

    number: Number
    person: Person
    message_id: str
    tracker: str | None
    at: int


def changes(sent: Sent, plan: StatusPlan) -> list[tuple[StatusStep, Change]]:
    """Return the statuses a plan has of a message, in its order."""
    return [(step, _change(sent, step, tracked=plan.tracked)) for step in plan.steps]


def _change(sent: Sent, step: StatusStep, *, tracked: bool) -> Change:
    body: JsonObject = {
        "id": sent.message_id,
        "status": step.status,
        "timestamp": str(sent.at + _AGE_S.get(step.status, 0)),
        **sent.person.recipient(),
    }
    if tracked and sent.tracker is not None:
        body["biz_opaque_callback_data"] = sent.tracker
    if step.error_code is None:
        body |= {"conversation": _conversation(sent, step), "pricing": _PRICING}
    else:
        body["errors"] = [graph.status_error_json(step.error_code)]
    return Change(number=sent.number, slot="statuses", body=body)


_PRICING: Final = {
    "billable": False,
    "pricing_model": "PMP",
    "category": "service",
    "type": "free_customer_service",
}


def _conversation(sent: Sent, step: StatusStep) -> JsonObject:
    both = f"{sent.number.phone_number_id}:{sent.person.address}"
    conversation: JsonObject = {
        "id": hashlib.sha256(both.encode()).hexdigest()[:32],
        "origin": {"type": "service"},
    }
    if step.status == "sent":
        conversation["expiration_timestamp"] = str(sent.at + _WINDOW_S)
    return conversation

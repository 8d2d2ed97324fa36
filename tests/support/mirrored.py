"""Sessions of an application's log that the CRM mirror has work with."""

from datetime import timedelta
from typing import Any

from domain import keys
from domain.conversation.facts import OPERATORS, Facts
from domain.crm.sync import CrmSync
from domain.event import NewEvent
from domain.instants import shift
from handlers.bootstrap import App
from projections.crm import CRM
from projections.decision import Decision

PHONE = "5511955550142"
NAME = "Ana Lima"


def to_be_mirrored(
    app: App, session: str, *, organization: str = "default", age_s: float = 0.0
) -> None:
    """Let a lead write, and wait for a person since some seconds ago."""
    at = shift(app.now(), -timedelta(seconds=age_s))
    facts = Facts(organization_id=organization, now=at, new_id=app.new_id)
    started = facts.session_started(session, "whatsapp", "1", reply_to=PHONE, contact_name=NAME)
    _record(app, session, organization, started)
    asked = facts.fact(
        "handoff_requested", OPERATORS, f"{session}:asked", session_id=session, reason="operator"
    )
    _record(app, session, organization, asked)


def say(
    app: App, session: str, event_type: str, organization: str = "default", **said: Any
) -> None:
    """Record one more fact of a session."""
    facts = Facts(organization_id=organization, now=app.now(), new_id=app.new_id)
    name = f"{session}:{event_type}:{app.new_id()}"
    event = facts.fact(event_type, OPERATORS, name, session_id=session, **said)
    _record(app, session, organization, event)


def row(app: App, session: str) -> CrmSync:
    """Return the row of a session, read consistently."""
    key = keys.crm_sync(session)
    found: CrmSync | None = (
        app.log.reader.ground(f"lead-of-{session}", [CRM], [key]).fold.states(CRM).get(key)
    )
    assert found is not None, "there is no such row"
    return found


def _record(app: App, session: str, organization: str, event: NewEvent) -> None:
    app.log.record(
        Decision(
            organization_id=organization,
            lead=f"lead-of-{session}",
            decide=lambda _: [event],
            stands_on=[],
        )
    )

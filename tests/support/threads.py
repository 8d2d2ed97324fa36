"""Threads, sessions and facts for tests of pure decisions, and what becomes of rows that they change."""

import itertools
from collections.abc import Sequence
from typing import Any, Final

from domain import keys
from domain.addresses import address
from domain.conversation.facts import Facts
from domain.conversation.inbound import InboundMessage
from domain.conversation.session import Session
from domain.conversation.states import State
from domain.conversation.thread import Outbound, Thread, Waiting
from domain.event import NewEvent
from domain.keys import Key
from domain.records import Row
from projections.conversations import CONVERSATIONS
from projections.folding import Fold
from projections.projection import NeedRow

NOW: Final = "2026-03-20T12:00:00.000000Z"
LEAD: Final = "lead-one"
PHONE: Final = "5511955550142"
_IDS = itertools.count(1)
FACTS: Final = Facts(organization_id="acme", now=NOW, new_id=lambda: f"event-{next(_IDS)}")


def facts_at(now: str) -> Facts:
    """Return what makes facts at a moment."""
    return Facts(organization_id="acme", now=now, new_id=lambda: f"event-{next(_IDS)}")


def thread(state: State | None = State.TRIAGE, *pending: str, **changes: Any) -> Thread:
    """Return a lead's thread in a state, with messages that wait for an agent."""
    said: dict[str, Any] = {
        "organization_id": "acme",
        "latest": pending[-1] if pending else "wamid.OLD",
        "last_inbound_at": NOW,
        "channel": "whatsapp",
        "account": "109876543210987",
        "reply_to": PHONE,
        "active_session_id": None if state is None else "session-1",
        "active_account": "109876543210987",
        "state": state,
        "started_at": "2026-03-20T11:59:00.000000Z",
        "pending": [waiting(each) for each in pending],
    }
    return Thread(**(said | changes))


def waiting(message_id: str, route: str = "turn", revision: int = 0) -> Waiting:
    """Return a message that waits."""
    return Waiting(
        message_id=message_id,
        sort_key=f"MSG#{message_id}",
        session_id="session-1",
        since=NOW,
        route=route,
        revision=revision,
    )


def outbound(kind: str = "bot_text", **changes: Any) -> Outbound:
    """Return a text of ours that is not settled."""
    said: dict[str, Any] = {
        "outbound_id": "out_1",
        "sort_key": "MSG#out_1",
        "kind": kind,
        "session_id": "session-1",
        "at": NOW,
    }
    return Outbound(**(said | changes))


def session(state: State = State.TRIAGE) -> Session:
    """Return the open session."""
    return Session(
        session_id="session-1",
        organization_id="acme",
        channel="whatsapp",
        whatsapp_instance="109876543210987",
        state=state,
        created_at=NOW,
        updated_at=NOW,
    )


def says(text: str = "oi", media_type: str = "text", **changes: Any) -> InboundMessage:
    """Return a message of the lead."""
    said: dict[str, Any] = {
        "channel": "whatsapp",
        "source": "whatsapp",
        "external_event_id": "wamid.NEW",
        "account": "109876543210987",
        "address": address("whatsapp", PHONE),
        "occurred_at": NOW,
        "raw": b"",
        "reply_to": PHONE,
        "media_type": media_type,
        "text": text,
    }
    return InboundMessage(**(said | changes))


def types(facts: Sequence[NewEvent]) -> list[str]:
    """Return the types of facts."""
    return [each.event_type for each in facts]


def lived(standing: Thread | None, facts: Sequence[NewEvent], *sessions: Session) -> Thread:
    """Return a thread as these facts leave it."""
    states: list[tuple[Key, Any]] = [(keys.latest_inbound(LEAD), standing)]
    states += [(keys.session(LEAD, each.session_id), each) for each in sessions]
    rows: dict[Key, Row | None] = {
        key: None if state is None else CONVERSATIONS.encode(LEAD, key, state)
        for key, state in states
    }
    while True:
        fold = Fold([CONVERSATIONS], LEAD, rows)
        try:
            for number, fact in enumerate(facts, 10):
                fold.evolve(fact.numbered(LEAD, number))
        except NeedRow as need:
            rows[need.key] = None
        else:
            break
    after: Thread = fold.states(CONVERSATIONS).get(keys.latest_inbound(LEAD))
    return after

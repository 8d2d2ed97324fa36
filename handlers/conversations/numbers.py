"""How conversations stand, in numbers that one query each tells. Lists are hints."""

from functools import partial
from itertools import islice
from typing import Final

from domain import keys
from domain.conversation.session import Session
from domain.conversation.states import State
from domain.instants import to_datetime
from domain.records import Page, Row, every
from handlers.conversations.ground import Conversations
from handlers.measures import Measure, Unit

MOST: Final = 1_000
"""Of each list that are counted."""


def measure(conversations: Conversations, organization_id: str, now: str) -> list[Measure]:
    """Return how many leads wait for this service and for people, and for how long.

    Raises:
        Unavailable: the store does not answer.
    """
    due = _due(conversations, organization_id, now)
    queue = [
        session
        for _, session in islice(
            conversations.in_state(organization_id, State.HANDOFF_PENDING), MOST
        )
    ]
    since = min(map(_asked_at, queue), default=now)
    return [
        _one("WaitingLeads", len(due), "Leads for whom something is due."),
        _one("OldestWaitingSeconds", _age(min(due, default=now), now), "Since when, the oldest."),
        _one("HandoffQueue", len(queue), "Conversations that wait for a person."),
        _one("OldestHandoffSeconds", _age(since, now), "Since when, the oldest."),
    ]


def _due(conversations: Conversations, organization_id: str, now: str) -> list[str]:
    """Return since when something is due, of each lead that waits."""
    partition, found = keys.pending_turns(organization_id), list[str]()
    for row in islice(every(partial(_page, conversations, partition)), MOST):
        due_at = row.gsi1[1] if row.gsi1 else ""
        if due_at > now:
            break
        found.append(due_at)
    return found


def _asked_at(session: Session) -> str:
    return session.handoff_requested_at or session.created_at


def _page(conversations: Conversations, partition: str, cursor: str | None) -> Page[Row]:
    return conversations.table.query_index(partition, limit=200, cursor=cursor)


def _one(name: str, value: float, says: str) -> Measure:
    unit: Unit = "Seconds" if name.endswith("Seconds") else "Count"
    return Measure(name=name, says=says, values=(float(value),), unit=unit)


def _age(since: str, now: str) -> float:
    return max(0.0, (to_datetime(now) - to_datetime(since)).total_seconds())

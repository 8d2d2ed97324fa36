"""How conversations stand, in numbers that one query each tells for an organization. Lists are hints."""

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Final

from domain import keys
from domain.conversation.states import State
from domain.instants import to_datetime
from domain.records import Page, Row, every
from handlers.conversations.ground import Conversations
from handlers.measures import Measure, Unit
from handlers.quarantine import Quarantine

MOST: Final = 1_000
"""Of each list of an organization that are counted."""

MOST_QUARANTINED: Final = 100
"""Their rows hold what is kept, so one page is read, whatever there is: more than one is news."""


def measure(conversations: Conversations, organizations: Sequence[str], now: str) -> list[Measure]:
    """Return how many leads wait for this service and for people, and for how long.

    Raises:
        Unavailable: the store does not answer.
    """
    due = [at for each in organizations for at in _due(conversations, each, now)]
    queue = [at for each in organizations for at in _asked_for(conversations, each)]
    kept = sum(_quarantined(conversations, each, now) for each in organizations)
    return [
        _one("WaitingLeads", len(due), "Leads for whom something is due."),
        _one("OldestWaitingSeconds", _age(min(due, default=now), now), "Since when, the oldest."),
        _one("HandoffQueue", len(queue), "Conversations that wait for a person."),
        _one("OldestHandoffSeconds", _age(min(queue, default=now), now), "Since when, the oldest."),
        _one("Quarantined", kept, "Documents kept in quarantine, as far as one page of them goes."),
    ]


def _quarantined(conversations: Conversations, organization_id: str, now: str) -> int:
    page = Quarantine(conversations.table).list(organization_id, now=now, limit=MOST_QUARANTINED)
    return len(page.items)


def _asked_for(conversations: Conversations, organization_id: str) -> list[str]:
    """Return since when a person is waited for, of each conversation that waits for one."""
    listed = conversations.in_state(organization_id, State.HANDOFF_PENDING)
    return [
        session.handoff_requested_at or session.created_at for _, session in islice(listed, MOST)
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


def _page(conversations: Conversations, partition: str, cursor: str | None) -> Page[Row]:
    return conversations.table.query_index(partition, limit=200, cursor=cursor)


def _one(name: str, value: float, says: str) -> Measure:
    unit: Unit = "Seconds" if name.endswith("Seconds") else "Count"
    return Measure(name=name, says=says, values=(float(value),), unit=unit)


def _age(since: str, now: str) -> float:
    return max(0.0, (to_datetime(now) - to_datetime(since)).total_seconds())

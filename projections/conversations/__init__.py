"""Conversations: sessions, messages, deliveries, and what waits to be done, as rows of the lead."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from domain import keys
from domain.conversation.messages import Delivery, Message
from domain.conversation.session import Session
from domain.conversation.thread import Thread
from domain.event import LeadEvent
from domain.keys import Key
from domain.records import Row, Value
from projections.conversations.codec import decode, encode
from projections.conversations.evolving import EVOLVE, is_ours
from projections.projection import Rows

__all__ = ["CONVERSATIONS", "Conversations"]

_SESSIONS: Final = keys.session_partition("")
_THREADS: Final = keys.thread_partition("")
_LATEST: Final = keys.latest_inbound("").sk
_DEMANDS: Final = keys.demands("")
_CALLS: Final = keys.MODEL_CALLS


class Conversations:
    """The projection of conversations. Its rows are one lead's; demands and model calls are listed.

    A message's row is put without being read: its key holds the sequence, so nobody wrote it yet.
    """

    name = "conversations"
    handles = frozenset(EVOLVE)

    def partitions(self, lead: str) -> tuple[str, ...]:
        """Return the partitions of sessions and of what waits."""
        return (keys.session_partition(lead), keys.thread_partition(lead))

    def owns(self, key: Key) -> bool:
        """Tell whether the row is one of these; locks beside them are not."""
        if key.pk.startswith(_THREADS):
            return key.sk == _LATEST
        return key.pk.startswith((_SESSIONS, _CALLS)) or key.pk.endswith(_DEMANDS)

    def keys(self, event: LeadEvent) -> Iterable[Key]:
        """Return the rows the event reads or changes, as far as it tells."""
        if not is_ours(event):
            return ()
        stated = event.payload
        found = []
        if event.event_type in _THREADED or "outboundId" in stated:
            found.append(keys.latest_inbound(event.lead))
        if "sessionId" in stated and event.event_type in _SESSION_CHANGES:
            found.append(keys.session(event.lead, stated["sessionId"]))
        if event.event_type in _DELIVERIES:
            found.append(keys.delivery(event.lead, stated["messageId"]))
        return found

    def foreign_keys(self, event: LeadEvent) -> Iterable[Key]:
        """Return the rows of lists across leads: demands and model calls."""
        if event.event_type == "out_of_portfolio_requested":
            return (keys.demand(event.organization_id, event.occurred_at, event.event_id),)
        if event.event_type in _CALLED and "model" in event.payload:
            return (keys.model_call(event.organization_id, event.occurred_at, event.event_id),)
        return ()

    def evolve(self, rows: Rows, event: LeadEvent) -> None:
        """Apply one event; what others report of conversations changes nothing here."""
        if is_ours(event):
            EVOLVE[event.event_type](rows, event)

    def decode(self, row: Row) -> Any:
        """Return the state of a row."""
        kind = _kind(row.key)
        return dict(row.attributes) if kind is dict else decode(kind, row.attributes)

    def encode(self, lead: str, key: Key, state: Any) -> Row:
        """Return the row of a state, in the index while it is to be found there."""
        values: dict[str, Value] = dict(state) if isinstance(state, dict) else encode(state)
        index = _INDEXED.get(type(state))
        return Row(key, {**values, "leadOrganizationId": lead}, index(state) if index else None)


def _kind(key: Key) -> type:
    if key.sk == _LATEST:
        return Thread
    for prefix, kind in (("MSG#", Message), ("WAMID#", Delivery), ("SESSION#", Session)):
        if key.sk.startswith(prefix):
            return kind
    return dict


def _thread_index(thread: Thread) -> tuple[str, str] | None:
    due_at = thread.due_at
    return None if due_at is None else (keys.pending_turns(thread.organization_id), due_at)


def _session_index(session: Session) -> tuple[str, str] | None:
    if not session.is_open:
        return None
    return keys.sessions_in(session.organization_id, session.state), session.created_at


_INDEXED: Final[dict[type, Callable[[Any], tuple[str, str] | None]]] = {
    Thread: _thread_index,
    Session: _session_index,
}
_SESSION_CHANGES: Final = frozenset(
    (
        *("conversation_started", "conversation_ended", "agent_turn_completed"),
        *("handoff_requested", "handoff_claimed", "handoff_released", "handoff_returned"),
        "handoff_renotified",
    )
)
_THREADED: Final = frozenset(
    (
        *("message_received", "message_edited", "message_revoked", "channel_event_recorded"),
        *("consent_recorded", "conversation_started", "conversation_ended"),
        *("agent_turn_completed", "handoff_requested", "handoff_claimed"),
        *("handoff_released", "handoff_returned", "handoff_renotified"),
    )
)
_DELIVERIES: Final = frozenset(("reply_sent", "message_status_changed"))
_CALLED: Final = frozenset(("agent_turn_completed", "agent_turn_superseded"))

CONVERSATIONS: Final = Conversations()

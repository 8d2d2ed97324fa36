"""Lists of conversations: who waits for a person, whose they are, and what stands in each state."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from domain import keys
from domain.conversation.patience import minutes_between
from domain.conversation.session import Session
from domain.conversation.states import HUMANS, LISTED, TERMINAL, State
from domain.conversation.thread import Thread
from domain.errors import FieldError, Rejected
from domain.ports.effects import Clock
from handlers.conversations.ground import Conversations

_STATES: Final = ", ".join(LISTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One open conversation. `since`: when a person was asked for, or when it began.

    `last_message_id` is what an act on this view names as seen. No words of anybody are in here.
    """

    lead: str
    session_id: str
    state: str
    channel: str
    since: str
    minutes: int
    reason: str | None
    segment: str | None
    assigned_to: str | None
    last_message_id: str


class InboxView(NamedTuple):
    """`queue` waits for anybody, the longest first; `own` is the operator's."""

    queue: list[Entry]
    own: list[Entry]


@dataclass(frozen=True, slots=True)
class Inbox:
    """Reads lists. An index may lag, so each lead is looked at; what stands otherwise is left out."""

    conversations: Conversations
    now: Clock

    def inbox(self, organization_id: str, operator: str | None = None) -> InboxView:
        """Return who waits, the longest first, and the conversations of an operator."""
        queue = self._entries(organization_id, State.HANDOFF_PENDING)
        own = self._entries(organization_id, State.HUMAN, operator) if operator else []
        return InboxView(queue, own)

    def sessions(self, organization_id: str, state: str) -> list[Entry]:
        """Return the open sessions of a state, oldest first.

        Raises:
            Rejected: there is no such state, or it is final: ended sessions are in no list.
        """
        named = state.strip().upper()
        if named not in LISTED:
            detail = "is final" if named in TERMINAL else "is no state"
            raise Rejected(
                "Sessions of this state are not listed.",
                hint=f"Give one of {_STATES}; ended sessions are in each lead's history.",
                fields=[FieldError("/state", detail)],
            )
        return self._entries(organization_id, State(named))

    def _entries(
        self, organization_id: str, state: State, operator: str | None = None
    ) -> list[Entry]:
        """Return what the index lists and the leads confirm, the longest wait first."""
        listed = [
            (lead, session)
            for lead, session in self.conversations.in_state(organization_id, state)
            if operator in {None, session.assigned_to}
        ]
        found = self.conversations.log.store.side_by_side(self._look, listed)
        entries = [
            self._entry(lead, session, thread)
            for lead, session, thread in found
            if session.state == state and operator in {None, session.assigned_to}
        ]
        return sorted(entries, key=lambda each: (each.since, each.lead))

    def _look(self, listed: tuple[str, Session]) -> tuple[str, Session, Thread]:
        lead, hint = listed
        conversation = self.conversations.look(lead, [keys.session(lead, hint.session_id)])
        session = conversation.session(hint.session_id) or hint
        return lead, session, conversation.thread or Thread(organization_id=hint.organization_id)

    def _entry(self, lead: str, session: Session, thread: Thread) -> Entry:
        with_people = session.state in HUMANS
        since = (session.handoff_requested_at if with_people else None) or session.created_at
        return Entry(
            lead=lead,
            session_id=session.session_id,
            state=session.state.value,
            channel=session.channel,
            since=since,
            minutes=minutes_between(since, self.now()),
            reason=session.handoff_reason if with_people else None,
            segment=session.segment,
            assigned_to=session.assigned_to,
            last_message_id=thread.latest,
        )

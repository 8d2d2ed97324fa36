"""What operators do, by whatever way they come: the command line, a terminal, later a web inbox."""

from collections.abc import Callable
from dataclasses import dataclass

from domain import keys
from domain.conversation import handling
from domain.conversation.facts import Facts
from domain.conversation.handling import OperatorMessage
from domain.conversation.standing import Actor, Now, Seen, Standing, now_of
from domain.event import NewEvent
from handlers.conversations import acting, locks
from handlers.conversations.availability import Availability
from handlers.conversations.ground import Conversations
from handlers.conversations.inbox import Entry, Inbox, InboxView
from handlers.conversations.replying import Replied, Replies
from handlers.conversations.sends import Deciding
from projections.deciding import CheckFailed

Action = Callable[[Standing, Facts], list[NewEvent]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operators:
    """Acts of operators on the conversations of one deployment.

    Every act raises `NotFound` for a lead nobody talked to or another organization's,
    `StateChanged` where what stands is not what the act is for, and then nothing was recorded;
    `Unavailable` when the store cannot answer.
    """

    conversations: Conversations
    deciding: Deciding
    replies: Replies
    lists: Inbox
    availability: Availability

    def inbox(self, organization_id: str, operator: str | None = None) -> InboxView:
        """Return who waits, the longest first, and the conversations of the operator."""
        return self.lists.inbox(organization_id, operator)

    def sessions(self, organization_id: str, state: str) -> list[Entry]:
        """Return the open sessions of a state; see `Inbox.sessions`."""
        return self.lists.sessions(organization_id, state)

    def claim(
        self,
        organization_id: str,
        lead: str,
        operator: str,
        *,
        seen: Seen | None = None,
        take_over: bool = False,
    ) -> Now:
        """Make a conversation that waits the operator's own; `take_over` also one of the agents'."""
        actor = self._actor(operator)
        return self._act(
            organization_id,
            lead,
            lambda at, facts: handling.claim(at, actor, facts, seen, take_over=take_over),
        )

    def release(
        self,
        organization_id: str,
        lead: str,
        operator: str,
        *,
        note: str | None = None,
        seen: Seen | None = None,
    ) -> Now:
        """Put the operator's conversation back into the queue."""
        actor = self._actor(operator)
        return self._act(
            organization_id, lead, lambda at, facts: handling.release(at, actor, facts, note, seen)
        )

    def transfer(
        self,
        organization_id: str,
        lead: str,
        operator: str,
        to: str,
        *,
        seen: Seen | None = None,
    ) -> Now:
        """Give the operator's conversation to another one."""
        actor, other = self._actor(operator), self._actor(to).operator
        return self._act(
            organization_id,
            lead,
            lambda at, facts: handling.transfer(at, actor, facts, other, seen),
        )

    def return_to_bot(
        self,
        organization_id: str,
        lead: str,
        operator: str,
        *,
        note: str | None = None,
        seen: Seen | None = None,
    ) -> Now:
        """Let agents answer again."""
        actor = self._actor(operator)
        return self._act(
            organization_id,
            lead,
            lambda at, facts: handling.return_to_bot(at, actor, facts, note, seen),
        )

    def close(
        self, organization_id: str, lead: str, operator: str, *, seen: Seen | None = None
    ) -> Now:
        """End the conversation: what the lead writes next opens another, with agents."""
        actor = self._actor(operator)
        return self._act(
            organization_id, lead, lambda at, facts: handling.close(at, actor, facts, seen)
        )

    def reply(
        self, organization_id: str, lead: str, operator: str, message: OperatorMessage
    ) -> Replied:
        """Write to the lead; see `Replies.reply`."""
        return self.replies.reply(organization_id, lead, self._actor(operator), message)

    def available(self, organization_id: str, operator: str) -> list[str]:
        """Let the operator be told of who waits, today; return who may be told."""
        return self._set(organization_id, operator, available=True)

    def unavailable(self, organization_id: str, operator: str) -> list[str]:
        """Tell the operator nothing any more; return who may be told."""
        return self._set(organization_id, operator, available=False)

    def who_is_available(self, organization_id: str) -> list[str]:
        """Return the operators who may be told now."""
        return self.availability.available(organization_id)

    def _set(self, organization_id: str, operator: str, *, available: bool) -> list[str]:
        name = self._actor(operator).operator
        self.availability.set(organization_id, name, available=available)
        return self.who_is_available(organization_id)

    def _act(self, organization_id: str, lead: str, action: Action) -> Now:
        """Decide on the open session, unless a text is being sent in it, and return what stands."""
        session_id = acting.open_session(self.conversations, organization_id, lead)
        now, row = self.deciding.now(), keys.session(lead, session_id)
        try:
            self.deciding.record(
                organization_id,
                lead,
                lambda at, facts: action(acting.in_session(at, session_id), facts),
                wanted=[row],
                checks=[locks.nobody_sends(lead, session_id, now)],
            )
        except CheckFailed:
            raise acting.being_sent(self.conversations, lead, session_id, now) from None
        return now_of(acting.standing(self.conversations.look(lead, [row])))

    def _actor(self, operator: str) -> Actor:
        return acting.actor(operator, self.deciding.new_id)

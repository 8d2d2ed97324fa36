"""Reading a lead's conversation at the moment of a decision, and what its history says."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from domain import keys
from domain.conversation.messages import Delivery, Message
from domain.conversation.session import Session
from domain.conversation.thread import Thread
from domain.keys import Key
from domain.ports.storage import StateTable
from domain.records import Page, Row, every
from projections.conversations import CONVERSATIONS
from projections.deciding import Recorded
from projections.lead_log import LeadLog
from projections.reading import Ground

HISTORY_MESSAGES: Final = 30
"""Messages of a session that an agent or a card is given. Source: research/domain.md §8.5."""

_PAGE: Final = 2 * HISTORY_MESSAGES
"""Of one look at the lead's messages: those of other sessions are among them."""

STANDS_ON: Final = (CONVERSATIONS,)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A lead's conversation at one moment.

    Reading a row that was not loaded asks for it and lets the decision begin anew.
    """

    ground: Ground

    @property
    def thread(self) -> Thread | None:
        """What waits, None for a lead nobody talked to."""
        thread: Thread | None = self._row(keys.latest_inbound(self.ground.lead))
        return thread

    def session(self, session_id: str) -> Session | None:
        """Return a session of the lead."""
        session: Session | None = self._row(keys.session(self.ground.lead, session_id))
        return session

    def active(self) -> Session | None:
        """Return the open session."""
        thread = self.thread
        if thread is None or thread.active_session_id is None:
            return None
        return self.session(thread.active_session_id)

    def message(self, sort_key: str) -> Message | None:
        """Return one message by its sort key."""
        message: Message | None = self._row(Key(keys.session_partition(self.ground.lead), sort_key))
        return message

    def delivery(self, provider_message_id: str) -> Delivery | None:
        """Return what is known of a message of ours under the channel's id."""
        delivery: Delivery | None = self._row(keys.delivery(self.ground.lead, provider_message_id))
        return delivery

    def _row(self, key: Key) -> Any:
        return self.ground.fold.states(CONVERSATIONS).get(key)


def standing(recorded: Recorded) -> Thread | None:
    """Return what waits as a commit left it, None where it does not tell."""
    key = keys.latest_inbound(recorded.lead)
    row = next((each for each in recorded.rows if each.key == key), None)
    thread: Thread | None = None if row is None else CONVERSATIONS.decode(row)
    return thread


@dataclass(frozen=True, slots=True)
class Conversations:
    """Reads of conversations, of one deployment."""

    log: LeadLog

    @property
    def table(self) -> StateTable:
        """The state table, for lists. Lists are hints: load the lead, then decide."""
        return self.log.table

    def look(self, lead: str, wanted: Sequence[Key] = ()) -> Conversation:
        """Return a lead's conversation as of one moment, with the rows named.

        Raises:
            ViewBroken, Unavailable: see `Reader.ground`.
        """
        named = [keys.latest_inbound(lead), *wanted]
        return Conversation(self.log.reader.ground(lead, STANDS_ON, named))

    def get_active(self, lead: str) -> Session | None:
        """Return the lead's open session, consistently."""
        thread = self.look(lead).thread
        if thread is None or thread.active_session_id is None:
            return None
        session_id = thread.active_session_id
        return self.look(lead, [keys.session(lead, session_id)]).session(session_id)

    def history_for_session(
        self, lead: str, session_id: str, limit: int = HISTORY_MESSAGES
    ) -> list[Message]:
        """Return the newest messages of a session, in the order they were said.

        One page of the lead's messages is read, however many there are: what a lead wrote in
        another session meanwhile may leave fewer than `limit`.
        """
        page = self.table.query(
            keys.session_partition(lead), prefix=keys.MESSAGES, desc=True, limit=_PAGE
        )
        messages = [CONVERSATIONS.decode(row) for row in page.items]
        return [each for each in messages if each.session_id == session_id][:limit][::-1]

    def history(self, lead: str, limit: int = HISTORY_MESSAGES) -> list[Message]:
        """Return the newest messages of a lead, in the order they were said."""
        page = self.table.query(
            keys.session_partition(lead), prefix=keys.MESSAGES, desc=True, limit=limit
        )
        return [CONVERSATIONS.decode(row) for row in page.items][::-1]

    def list_by_state(self, organization_id: str, state: str) -> list[tuple[str, Session]]:
        """Return (lead, session) of every open session of a state, oldest first.

        The index may lag: load the lead before deciding anything.
        """
        return list(self.in_state(organization_id, state))

    def in_state(self, organization_id: str, state: str) -> Iterator[tuple[str, Session]]:
        """Yield what `list_by_state` lists, read only as far as somebody looks."""
        partition = keys.sessions_in(organization_id, state)
        for row in every(partial(self._page, partition)):
            yield str(row.attributes["leadOrganizationId"]), CONVERSATIONS.decode(row)

    def waiting(self, organization_id: str, until: str) -> Iterator[str]:
        """Yield leads for whom something has been due since before `until`, the oldest first."""
        partition = keys.pending_turns(organization_id)
        for row in every(partial(self._page, partition)):
            if row.gsi1 is None or row.gsi1[1] > until:
                return
            yield str(row.attributes["leadOrganizationId"])

    def _page(self, partition: str, cursor: str | None) -> Page[Row]:
        return self.table.query_index(partition, limit=200, cursor=cursor)

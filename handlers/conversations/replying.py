"""Writing to a lead: recorded under a lock, once however often it is asked for, and sent at once."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog

from domain import canonical, keys
from domain.conversation import handling
from domain.conversation.facts import OPERATORS
from domain.conversation.handling import OperatorMessage
from domain.conversation.standing import Actor
from domain.errors import FieldError, IdempotencyConflict, Rejected, Unavailable, Uncertain
from domain.event import MAX_ID_CHARACTERS, LeadEvent
from domain.instants import shift
from domain.ports.effects import WakeUps
from domain.records import Receipt
from handlers.conversations import acting, locks
from handlers.conversations.ground import Conversations
from handlers.conversations.sends import Deciding, Sends
from projections.deciding import CheckFailed, Command

_SENT: Final = "sent"
_MOST_BEFORE_IT: Final = 10
"""Texts that are sent first because they were queued first; a worker does what is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """What became of an operator's text.

    `state` is `sent`, that of the outbox (`queued`, `sending`, `failed`, `uncertain`), or the word
    for why it will not go. `duplicate`: the same text was given before, and this is the same message.
    """

    outbound_id: str
    state: str
    duplicate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    """Texts of operators. `lock_for` is how long one that is being recorded keeps others out."""

    conversations: Conversations
    deciding: Deciding
    sends: Sends
    wake_ups: WakeUps
    lock_for: timedelta

    def reply(
        self, organization_id: str, lead: str, actor: Actor, message: OperatorMessage
    ) -> Replied:
        """Record a text and send it at once; what cannot go now stays queued.

        Raises:
            StateChanged, WindowClosed, Rejected: see `handling.write`.
            IdempotencyConflict: the `client_message_id` is another text's.
        """
        command = _command(organization_id, lead, actor, message)
        receipt, own = self._known(command), False
        if receipt is None:
            receipt, own = self._recorded(organization_id, lead, actor, message, command)
        reader = self.conversations.log.reader
        [event] = reader.events(receipt.lead, gt=receipt.sequence - 1, lte=receipt.sequence)
        self._send(organization_id, lead, event.payload["outboundId"])
        return self._became(event, duplicate=not own)

    def _recorded(
        self,
        organization_id: str,
        lead: str,
        actor: Actor,
        message: OperatorMessage,
        command: Command,
    ) -> tuple[Receipt, bool]:
        """Record a text while the lock is held; return its receipt, and whether it is this call's."""
        session_id = acting.open_session(self.conversations, organization_id, lead)
        table, now = self.conversations.table, self.deciding.now()
        lock_id = f"{actor.operator}:{message.client_message_id}"
        if not locks.acquire_human_send_lock(
            table,
            lead,
            session_id,
            lock_id=lock_id,
            operator=actor.operator,
            now=now,
            expires_at=shift(now, self.lock_for),
        ):
            return self._known_or_refused(command, lead, session_id), False
        try:
            recorded = self.deciding.record(
                organization_id,
                lead,
                lambda conversation, facts: handling.write(
                    acting.in_session(conversation, session_id), actor, facts, message
                ),
                wanted=[keys.session(lead, session_id)],
                checks=[locks.still_held(lead, session_id, lock_id)],
                command=command,
            )
        except CheckFailed:
            # The other half of a double click may have recorded it and given the lock back.
            recorded = None
        finally:
            locks.release_human_send_lock(table, lead, session_id, lock_id)
        if recorded is not None and recorded.receipt is not None:
            return recorded.receipt, bool(recorded.events)
        return self._known_or_refused(command, lead, session_id), False

    def _known_or_refused(self, command: Command, lead: str, session_id: str) -> Receipt:
        """Return the receipt of whoever was faster with the same text; another's text refuses it."""
        receipt = self._known(command)
        if receipt is None:
            now = self.deciding.now()
            raise acting.being_sent(self.conversations, lead, session_id, now)
        return receipt

    def _known(self, command: Command) -> Receipt | None:
        receipt = self.conversations.log.store.receipt(command.key)
        if receipt is not None and receipt.is_of_other(command.fingerprint):
            raise IdempotencyConflict(
                event_id=receipt.event_id, lead=receipt.lead, sequence=receipt.sequence
            )
        return receipt

    def _send(self, organization_id: str, lead: str, name: str) -> None:
        """Send what is queued up to a text, in order; where that fails, the worker goes on."""
        try:
            for _ in range(_MOST_BEFORE_IT):
                thread = self.conversations.look(lead).thread
                waiting = list(thread.moving()) if thread else []
                if thread is None or all(each.outbound_id != name for each in waiting):
                    return
                # Where this process has no such channel, one that has sends it.
                if thread.channel not in self.sends.channels or not self.sends.send(
                    organization_id, lead, waiting[0]
                ):
                    break
            self.wake_ups.wake(organization_id, lead, name)
        except (Unavailable, Uncertain) as error:
            log = structlog.get_logger()
            log.warning("operator_send_failed", lead=lead, code=error.code)

    def _became(self, event: LeadEvent, *, duplicate: bool) -> Replied:
        name = event.payload["outboundId"]
        row = keys.message(event.lead, event.occurred_at, event.sequence, name)
        conversation = self.conversations.look(event.lead, [row])
        outbound = conversation.thread.find(name) if conversation.thread else None
        said = conversation.message(row.sk)
        settled = (said.error if said else None) or _SENT
        state = outbound.state if outbound else settled
        return Replied(outbound_id=name, state=state, duplicate=duplicate)


def _command(organization_id: str, lead: str, actor: Actor, message: OperatorMessage) -> Command:
    client_id = message.client_message_id
    if not 0 < len(client_id) <= MAX_ID_CHARACTERS:
        raise Rejected(
            "A text to a lead needs an id of its writer's.",
            hint="Draw one when the text is begun, and send it again with every try.",
            fields=[
                FieldError("/clientMessageId", f"must have 1 to {MAX_ID_CHARACTERS} characters")
            ],
        )
    key = keys.receipt(organization_id, OPERATORS, client_id)
    return Command(key, canonical.digest(lead, actor.operator, message.text))

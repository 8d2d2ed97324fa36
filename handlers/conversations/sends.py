"""Handing one text to its channel, between the note that it goes and the note of what came of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import structlog

from domain import keys
from domain.conversation.delivery import Accepted, OutboundText, SendResult, Unknown
from domain.conversation.facts import Facts
from domain.conversation.messages import Message
from domain.conversation.policy import Policy
from domain.conversation.sending import Tried, decide_send, decide_sent
from domain.conversation.thread import Outbound, Thread
from domain.event import Address, NewEvent
from domain.keys import Key
from domain.ports.effects import Channel, Clock, IdFactory
from domain.records import Check
from handlers.conversations.ground import STANDS_ON, Conversation
from projections.deciding import Command, Decision, Recorded
from projections.lead_log import LeadLog
from projections.reading import Ground

Decide = Callable[[Conversation, Facts], Sequence[NewEvent]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Licence:
    """Leave to hand a text over once: a commit says that it is being sent by whoever holds this."""

    channel: str
    text: OutboundText
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """Records decisions about one organization's conversations."""

    log: LeadLog
    now: Clock
    new_id: IdFactory

    def record(  # noqa: PLR0913 - a decision, and what it stands on
        self,
        organization_id: str,
        lead: str,
        decide: Decide,
        *,
        wanted: Sequence[Key] = (),
        likely: Callable[[Facts], Sequence[NewEvent]] | None = None,
        checks: Sequence[Check] = (),
        command: Command | None = None,
    ) -> Recorded:
        """Decide on a lead's conversation as it stands, and record what is decided.

        The rows that likely facts touch come with the first look. A command that was answered
        before is answered by its receipt.

        Raises:
            CheckFailed, Rejected, Unavailable, Uncertain: see `Recording.run`.
        """
        facts, decided = self._prepared(organization_id, decide)
        return self.log.record(
            Decision(
                organization_id=organization_id,
                lead=lead,
                decide=decided,
                stands_on=STANDS_ON,
                keys=[keys.latest_inbound(lead), *wanted],
                foreseen=likely(facts) if likely else (),
                checks=checks,
                command=command,
            )
        )

    def record_at(self, organization_id: str, address: Address, decide: Decide) -> Recorded:
        """Decide on the conversation of whoever has an address, who is made if nobody has it.

        Raises:
            Rejected, Unavailable, Uncertain: see `Recording.run`.
        """
        _, decided = self._prepared(organization_id, decide)
        return self.log.record(
            Decision(
                organization_id=organization_id,
                address=address,
                decide=decided,
                stands_on=STANDS_ON,
                keys=lambda lead: [keys.latest_inbound(lead)],
            )
        )

    def _prepared(
        self, organization_id: str, decide: Decide
    ) -> tuple[Facts, Callable[[Ground], Sequence[NewEvent]]]:
        facts = Facts(organization_id=organization_id, now=self.now(), new_id=self.new_id)

        def decided(ground: Ground) -> Sequence[NewEvent]:
            return decide(Conversation(ground), facts)

        return facts, decided


@dataclass(frozen=True, slots=True, kw_only=True)
class Sends:
    """Sends texts that are due. One try of one text is made by one process only."""

    deciding: Deciding
    channels: Mapping[str, Channel]
    policy: Policy

    def send(self, organization_id: str, lead: str, outbound: Outbound) -> Recorded | None:
        """Move one text of the outbox; return what was recorded last, None if nothing was.

        Raises:
            Unavailable, Uncertain: the store did not answer. What was handed over meanwhile stands
                as being sent, and a status or the passing of time settles it.
        """
        licences: list[Licence] = []

        def decide(conversation: Conversation, facts: Facts) -> Sequence[NewEvent]:
            thread = conversation.thread
            if thread is None:
                return []
            message = conversation.message(outbound.sort_key)
            decided = decide_send(thread, outbound.outbound_id, self.policy, facts)
            licences[:] = [
                licence(thread, outbound.outbound_id, message, fact)
                for fact in decided
                if fact.event_type == "reply_sending"
            ]
            return decided

        row = Key(keys.session_partition(lead), outbound.sort_key)
        recorded = self.deciding.record(organization_id, lead, decide, wanted=[row])
        if not recorded.events:
            return None
        for each in licences:
            recorded = self.hand_over(organization_id, lead, each)
        return recorded

    def hand_over(self, organization_id: str, lead: str, licence: Licence) -> Recorded:
        """Hand a text over, and record what came of it."""
        channel = self.channels.get(licence.channel)
        result: SendResult = Unknown(reason="no_channel")
        if channel is not None:
            result = channel.send(licence.text)
        tried = Tried(licence.text.outbound_id, licence.attempt, result)
        taken = result.message_id if isinstance(result, Accepted) else None

        def decide(conversation: Conversation, facts: Facts) -> Sequence[NewEvent]:
            thread = conversation.thread
            if thread is None:
                return []
            delivery = conversation.delivery(taken) if taken else None
            return decide_sent(thread, delivery, tried, self.policy, facts)

        def likely(facts: Facts) -> Sequence[NewEvent]:
            nothing = Thread(organization_id=organization_id)
            return decide_sent(nothing, None, tried, self.policy, facts)

        recorded = self.deciding.record(organization_id, lead, decide, likely=likely)
        structlog.get_logger().info(
            "outbound_sent", lead=lead, attempt=licence.attempt, status=type(result).__name__
        )
        return recorded


def licence(thread: Thread, name: str, message: Message | None, fact: NewEvent) -> Licence:
    """Return the licence that a `reply_sending` gives, once it is recorded."""
    return licence_for(thread, name, message.text if message else "", fact)


def licence_for(thread: Thread, name: str, text: str, fact: NewEvent) -> Licence:
    """Return the licence for a text: to the last address the lead wrote from, exactly."""
    return Licence(
        channel=thread.channel,
        attempt=fact.payload["attempt"],
        text=OutboundText(outbound_id=name, account=thread.account, to=thread.reply_to, text=text),
    )

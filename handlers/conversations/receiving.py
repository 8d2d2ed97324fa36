"""Receiving: items of a channel become events, each decided on in the commit that registers it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import structlog

from domain import canonical, keys
from domain.addresses import identity_keys
from domain.conversation.facts import Facts
from domain.conversation.inbound import (
    ChannelNotice,
    InboundMessage,
    Item,
    MessageEcho,
    MessageStatus,
)
from domain.conversation.policy import Policy
from domain.conversation.recording import fact_of
from domain.conversation.routing import decide_inbound, decide_takeover
from domain.conversation.sending import decide_status
from domain.errors import LeadError, Rejected, Unavailable, Uncertain
from domain.event import NewEvent
from domain.keys import Key
from domain.ports.effects import Clock, IdFactory, WakeUps
from handlers.conversations.ground import STANDS_ON, Conversation
from handlers.conversations.legacy import Legacy
from handlers.conversations.poison import Poison
from projections.deciding import Command, Decision, Recorded
from projections.lead_log import LeadLog
from projections.reading import Ground

Outcome = Literal["queued", "recorded", "duplicate", "ignored", "quarantined", "retry"]

Keep = Callable[[str, bytes, LeadError, str], str]
"""(organization, raw, why, form) → the id under which a thing is quarantined."""

_WOKEN: Final = frozenset(("message_received", "reply_queued", "reply_failed"))
"""Events after which there may be something to do for the lead."""


@dataclass(frozen=True, slots=True)
class Received:
    """What became of one item. `retry`: it is not durable, and must be delivered again."""

    outcome: Outcome
    lead: str | None = None
    first: bool = False
    """Whether it is the first thing that is known of its lead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiving:
    """Records what channels deliver. One strange item never touches the others."""

    log: LeadLog
    policy: Policy
    wake_ups: WakeUps
    keep: Keep
    poison: Poison
    now: Clock
    new_id: IdFactory
    legacy: Legacy | None = None

    def receive(self, organization_id: str, items: Sequence[Item]) -> list[Received]:
        """Record items in their order, each answered for itself; then wake whom they are of.

        Once for each lead, after all of them: what was delivered together is answered together,
        and asks a model once.
        """
        received = [self._one(organization_id, item) for item in items]
        newest = {
            each.lead: item.external_event_id
            for item, each in zip(items, received, strict=True)
            if each.lead is not None and each.outcome in {"queued", "duplicate"}
        }
        for lead, message_id in newest.items():
            self._wake(organization_id, lead, message_id)
        return received

    def _one(self, organization_id: str, item: Item) -> Received:
        try:
            received = self._recorded(organization_id, item)
        except (Unavailable, Uncertain) as error:
            structlog.get_logger().warning("item_not_durable", code=error.code)
            return Received("retry")
        except LeadError as error:
            return self._quarantined(organization_id, item, error)
        except Exception as error:  # noqa: BLE001 - one item's bug must not touch the others
            structlog.get_logger().exception("item_failed")
            reason = Rejected(f"An item could not be processed ({type(error).__name__}).")
            if self.poison.is_poison(organization_id, item.source, item.external_event_id):
                return self._quarantined(organization_id, item, reason)
            return Received("retry")
        if received.first:
            self._drain(organization_id, item)
        return received

    def _recorded(self, organization_id: str, item: Item) -> Received:
        if isinstance(item, ChannelNotice) and (item.strange or item.address is None):
            return self._noticed(organization_id, item)
        if item.address is None:
            raise Rejected(
                "An item tells no address that can be used.",
                hint="It is kept raw; read it again when an adapter can.",
            )
        if isinstance(item, ChannelNotice | MessageStatus) and not self._is_known(
            organization_id, item
        ):
            return Received("ignored")
        return self._decided(organization_id, item)

    def _decided(self, organization_id: str, item: Item) -> Received:
        facts = Facts(organization_id=organization_id, now=self.now(), new_id=self.new_id)
        new_session = self.new_id()

        def decide(ground: Ground) -> Sequence[NewEvent]:
            return self._facts(Conversation(ground), item, facts, new_session)

        recorded = self.log.record(
            Decision(
                organization_id=organization_id,
                address=item.address,
                decide=decide,
                stands_on=STANDS_ON,
                keys=lambda lead: _rows_of(lead, item),
                foreseen=self._foreseen(item, facts, new_session),
                command=self._command(organization_id, item),
            )
        )
        return self._answer(item, recorded)

    def _facts(
        self, conversation: Conversation, item: Item, facts: Facts, new_session: str
    ) -> Sequence[NewEvent]:
        thread = conversation.thread
        match item:
            case InboundMessage():
                return decide_inbound(thread, item, self.policy, facts, new_session)
            case MessageStatus():
                delivery = conversation.delivery(item.message_id)
                return decide_status(thread, delivery, item, self.policy, facts)
            case MessageEcho():
                return self._echoed(conversation, item, facts, new_session)
            case _:
                return [fact_of(item, facts)]

    def _echoed(
        self, conversation: Conversation, item: MessageEcho, facts: Facts, new_session: str
    ) -> Sequence[NewEvent]:
        """Tell an echo of our own send from somebody writing on the business's phone."""
        thread = conversation.thread
        delivery = conversation.delivery(item.external_event_id)
        if delivery is not None and delivery.outbound_id:
            return []
        for outbound in thread.outbox if thread else ():
            in_doubt = outbound.state in {"sending", "uncertain"}
            message = conversation.message(outbound.sort_key) if in_doubt else None
            if message is not None and message.text == item.text:
                return []
        following, session_id = decide_takeover(
            thread, facts, new_session, item.account, item.external_event_id
        )
        echoed = facts.fact(
            "message_echoed",
            item.source,
            item.external_event_id,
            occurred_at=item.occurred_at,
            channel=item.channel,
            channel_account=item.account or None,
            media_type=item.media_type,
            text=item.text or None,
            session_id=session_id,
        )
        return [echoed, *following]

    def _foreseen(self, item: Item, facts: Facts, new_session: str) -> list[NewEvent]:
        """Return the message itself, so that the rows it touches come with the first look."""
        if not isinstance(item, InboundMessage):
            return []
        return list(decide_inbound(None, item, self.policy, facts, new_session))[:1]

    def _command(self, organization_id: str, item: Item) -> Command:
        said = (type(item).__name__, getattr(item, "text", ""), getattr(item, "media_type", ""))
        key = keys.receipt(organization_id, item.source, item.external_event_id)
        return Command(key, canonical.digest(*said))

    def _answer(self, item: Item, recorded: Recorded) -> Received:
        if not recorded.events:
            if recorded.receipt is None:
                return Received("ignored", recorded.lead)
            if not isinstance(item, InboundMessage):
                return Received("recorded", recorded.lead)
            return Received("duplicate", recorded.lead)
        woken = any(each.event_type in _WOKEN for each in recorded.events)
        first = isinstance(item, InboundMessage) and recorded.events[0].sequence == 1
        return Received("queued" if woken else "recorded", recorded.lead, first)

    def _noticed(self, organization_id: str, item: ChannelNotice) -> Received:
        if not item.strange:
            structlog.get_logger().info("channel_notice", kind=item.kind)
            return Received("ignored")
        strange = Rejected("An item of a channel is not one this edition reads.")
        return self._quarantined(organization_id, item, strange)

    def _is_known(self, organization_id: str, item: Item) -> bool:
        """Tell whether the address is some lead's: a status of a stranger makes no lead."""
        if item.address is None:
            return False
        return self.log.knows(identity_keys(organization_id, item.address))

    def _quarantined(self, organization_id: str, item: Item, error: LeadError) -> Received:
        try:
            kept = self.keep(organization_id, item.raw, error, item.channel)
        except (Unavailable, Uncertain):
            return Received("retry")
        structlog.get_logger().warning("item_quarantined", code=error.code, quarantine_id=kept)
        return Received("quarantined")

    def _drain(self, organization_id: str, item: Item) -> None:
        """Bring in what an earlier deployment left of somebody who is new to this one."""
        if self.legacy is None or item.address is None:
            return
        try:
            self.legacy.drain(organization_id, item.address, item.account, self._outcomes)
        except (Unavailable, Uncertain) as error:
            structlog.get_logger().warning("legacy_not_drained", code=error.code)

    def _outcomes(self, organization_id: str, items: Sequence[Item]) -> list[str]:
        return [each.outcome for each in self.receive(organization_id, items)]

    def _wake(self, organization_id: str, lead: str, message_id: str) -> None:
        try:
            self.wake_ups.wake(organization_id, lead, message_id)
        except Unavailable as error:
            # The work stands in the lead's row, and the sweeper finds it there.
            structlog.get_logger().warning("wake_up_failed", code=error.code)


def _rows_of(lead: str, item: Item) -> list[Key]:
    """Return the rows an item is decided on: what waits, and which text of ours it is about."""
    rows = [keys.latest_inbound(lead)]
    if isinstance(item, MessageStatus):
        rows.append(keys.delivery(lead, item.message_id))
    elif isinstance(item, MessageEcho):
        rows.append(keys.delivery(lead, item.external_event_id))
    return rows

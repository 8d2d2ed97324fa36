"""The webhook of a channel: is it genuine, what does it say, and was all of it made durable."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Final, Protocol

import structlog

from domain.conversation.inbound import InboundMessage, Item
from domain.errors import Rejected
from domain.instants import to_datetime
from domain.ports.effects import Clock
from handlers.conversations.receiving import Keep, Received, Receiving

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
"""WhatsApp sends up to 3 MB (research/whatsapp.md §1.1)."""

_KEPT_BYTES: Final = 300_000
"""Of a body that nobody can read: its beginning, which the quarantine takes whatever it holds."""


class Verdict(StrEnum):
    """How a delivery is answered. Entry points turn it into their transport's words."""

    FORBIDDEN = "forbidden"
    TOO_LARGE = "too_large"
    IGNORED = "ignored"
    RECORDED = "recorded"
    QUEUED = "queued"
    RETRY = "retry"


class Delivered(Protocol):
    """What an adapter read: items in order, and a word where there is nothing to read."""

    @property
    def items(self) -> list[Item]:
        """The items, in the order they stand."""
        ...

    @property
    def problem(self) -> str | None:
        """What is wrong with all of it: "not_json" or "unknown_object"."""
        ...


class ChannelAdapter(Protocol):
    """How one channel proves and says what it delivers. Pure."""

    def verify(self, raw: bytes, header: str | None) -> bool:
        """Tell whether the channel signed these bytes."""
        ...

    def parse(self, raw: bytes, received_at: str) -> Delivered:
        """Return everything the body says. Total."""
        ...

    def challenge(self, query: Mapping[str, str]) -> str | None:
        """Return what proves to the channel that this is the webhook it asked for."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Takes the deliveries of one channel. `accounts` maps its numbers to organizations."""

    adapter: ChannelAdapter
    receiving: Receiving
    accounts: Mapping[str, str]
    keep: Keep
    now: Clock

    def challenge(self, query: Mapping[str, str]) -> str | None:
        """Answer the handshake; None if it is not meant for us."""
        return self.adapter.challenge(query)

    def post(self, raw: bytes, signature: str | None) -> Verdict:
        """Record a delivery, all of its items, and answer for the worst of them.

        RETRY: an item is not durable; the channel is to deliver again, and what was recorded
        bounces then.
        """
        if len(raw) > MAX_BODY_BYTES:
            return Verdict.TOO_LARGE
        now = self.now()
        if not self.adapter.verify(raw, signature):
            structlog.get_logger().warning("signature_rejected", bytes=len(raw))
            return Verdict.FORBIDDEN
        delivered = self.adapter.parse(raw, now)
        if delivered.problem is not None:
            return self._unreadable(raw, delivered.problem)
        received = self._received(delivered.items)
        structlog.get_logger().info(
            "webhook_received",
            bytes=len(raw),
            count=len(delivered.items),
            created=sum(each.outcome in {"queued", "recorded"} for each in received),
            duplicates=sum(each.outcome == "duplicate" for each in received),
            rejected=sum(each.outcome == "quarantined" for each in received),
            retried=sum(each.outcome == "retry" for each in received),
            lag_s=_lag_s(delivered.items, now),
        )
        return _worst(received)

    def _received(self, items: list[Item]) -> list[Received]:
        """Record items by the number they came to; those of strange numbers are counted only."""
        received: list[Received] = []
        for organization_id, theirs in groupby(items, lambda item: self.accounts.get(item.account)):
            if organization_id is None:
                structlog.get_logger().warning("account_unknown")
                received += [Received("ignored") for _ in theirs]
            else:
                received += self.receiving.receive(organization_id, list(theirs))
        return received

    def _unreadable(self, raw: bytes, problem: str) -> Verdict:
        """Keep a signed body nobody can read, and take it: another delivery would say the same."""
        if problem == "unknown_object":
            return Verdict.IGNORED
        for organization_id in sorted(set(self.accounts.values()))[:1]:
            reason = Rejected("A signed body is not JSON.")
            self.keep(organization_id, raw[:_KEPT_BYTES], reason, "webhook")
        return Verdict.IGNORED


def _lag_s(items: list[Item], now: str) -> float | None:
    """Return how long ago the oldest message was said, None if there is none.

    It grows where deliveries are held up, or eaten and delivered again.
    """
    said = [each.occurred_at for each in items if isinstance(each, InboundMessage)]
    if not said:
        return None
    return (to_datetime(now) - to_datetime(min(said))).total_seconds()


def _worst(received: list[Received]) -> Verdict:
    outcomes = {each.outcome for each in received}
    if "retry" in outcomes:
        return Verdict.RETRY
    if outcomes & {"queued", "duplicate"}:
        return Verdict.QUEUED
    return Verdict.RECORDED if outcomes & {"recorded", "quarantined"} else Verdict.IGNORED

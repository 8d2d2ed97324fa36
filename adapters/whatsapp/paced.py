"""A WhatsApp channel that keeps to the pace the platform allows, instead of being told."""

import math
from dataclasses import dataclass
from typing import Final

from adapters.whatsapp.client import WhatsAppChannel
from adapters.whatsapp.pacing import Pacing
from domain.conversation.delivery import ErrorClass, NotAccepted, OutboundText, SendResult

_BRIEF_S: Final = 1.0
"""A wait for the number rather than for the person: its bucket fills many times a second."""


@dataclass(frozen=True, slots=True)
class PacedChannel:
    """See `domain.ports.effects.Channel`. What may not go yet is answered as delayed, not sent."""

    channel: WhatsAppChannel
    pacing: Pacing

    def send(self, text: OutboundText) -> SendResult:
        """Hand one text over, if its turn has come."""
        wait_s = self.pacing.delay(text.account, text.to)
        if wait_s > 0:
            pair = wait_s > _BRIEF_S
            return NotAccepted(
                error_class=ErrorClass.PAIR if pair else ErrorClass.THROUGHPUT,
                retry_after_s=math.ceil(wait_s),
                error_title="held back by our own pace",
            )
        return self.channel.send(text)

    def typing(self, account: str, message_id: str) -> None:
        """Show that an answer is being written."""
        self.channel.typing(account, message_id)

    def reach(self, account: str) -> str | None:
        """See `WhatsAppChannel.reach`."""
        return self.channel.reach(account)

    def knock(self, url: str, body: bytes, signature: str | None) -> int | None:
        """See `WhatsAppChannel.knock`."""
        return self.channel.knock(url, body, signature)

    def close(self) -> None:
        """Close what connections are open."""
        self.channel.close()

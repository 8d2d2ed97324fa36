"""The console as a channel: whoever talks here reads the history, so a text has arrived at once."""

from domain.conversation.delivery import Accepted, OutboundText, SendResult


class ConsoleChannel:
    """Takes every text; `leads chat` shows it from the lead's own messages."""

    def send(self, text: OutboundText) -> SendResult:
        """Accept a text under an id made of ours, the same on every try."""
        return Accepted(message_id=f"console.{text.outbound_id}")

    def typing(self, account: str, message_id: str) -> None:
        """Show nothing: the terminal is read line by line."""

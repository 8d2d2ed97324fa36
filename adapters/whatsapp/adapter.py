"""The WhatsApp Cloud API as a channel that delivers: is it genuine, and what does it say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.whatsapp.parsing import Delivery, parse
from adapters.whatsapp.signature import challenge, verify


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatsAppAdapter:
    """One app of Meta's. `secrets` are its current app secret and older ones, while they rotate.

    `unsigned` lets deliveries without any secret in; it is for one's own desk.
    """

    secrets: Sequence[bytes]
    verify_token: str
    unsigned: bool = False

    def verify(self, raw: bytes, header: str | None) -> bool:
        """Tell whether Meta signed these bytes."""
        if not self.secrets:
            return self.unsigned
        return verify(raw, header, self.secrets)

    def parse(self, raw: bytes, received_at: str) -> Delivery:
        """Return everything the body says. Total."""
        return parse(raw, received_at)

    def challenge(self, query: Mapping[str, str]) -> str | None:
        """Return what the handshake asks for; None if it names another token, or none is set."""
        return challenge(query, self.verify_token) if self.verify_token else None

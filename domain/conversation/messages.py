"""Messages as a lead's history shows them, and how far those of ours came."""

import hashlib
from base64 import b32encode
from dataclasses import dataclass, field
from typing import Final, Literal

RANKS: Final = {"sent": 1, "delivered": 2, "read": 3, "played": 4}
"""Each status implies those before it. Source: research/whatsapp.md §5.2."""

FAILED: Final = "failed"


@dataclass(slots=True, kw_only=True)
class Message:
    """One message of either side. `error` says why one of ours did not reach the lead.

    `superseded` and its like keep a message out of what agents see as history.
    """

    message_id: str
    direction: Literal["inbound", "outbound"]
    kind: str
    at: str
    session_id: str | None = None
    text: str = ""
    route: str | None = None
    author: str | None = None
    contact_name: str | None = None
    media_id: str | None = None
    quoted_message_id: str | None = None
    whatsapp_instance: str | None = None
    error: str | None = None
    edited: int = 0


@dataclass(slots=True, kw_only=True)
class Delivery:
    """What became of a message of ours at the channel, under the id the channel gave it.

    `statuses` has the earliest time of each; they come in any order, also before we know which
    message it is (then `outbound_id` is empty).
    """

    provider_message_id: str
    outbound_id: str = ""
    sort_key: str = ""
    kind: str = ""
    session_id: str | None = None
    answers: str = ""
    attempt: int = 0
    sent_at: str = ""
    statuses: dict[str, str] = field(default_factory=dict)
    error_class: str | None = None
    error_code: int | None = None
    error_title: str | None = None
    error_details: str | None = None

    @property
    def arrived(self) -> bool:
        """Tell whether any status says that it reached the lead."""
        return any(RANKS.get(status, 0) > RANKS["sent"] for status in self.statuses)

    @property
    def status(self) -> str:
        """How far it came: the furthest status; failed only if nothing says that it arrived."""
        reached = max(self.statuses, key=lambda name: RANKS.get(name, 0), default="accepted")
        if self.arrived or FAILED not in self.statuses:
            return reached if reached != FAILED else "accepted"
        return FAILED


def outbound_id(session_id: str | None, cause: str, kind: str, part: int = 0) -> str:
    """Return the id of a message of ours: the same for the same cause, on every try.

    The channel gives it back with statuses; it tells nothing about anybody.
    """
    name = "\x1f".join((session_id or "", cause, kind, str(part)))
    digest = hashlib.sha256(name.encode()).digest()
    return f"out_{b32encode(digest).decode().lower()[:26]}"

"""Making the events of a conversation: sources, keys and payloads in one place."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from domain import catalog
from domain.acceptance import MAX_RAW_BYTES
from domain.conversation.messages import outbound_id
from domain.event import KNOWN_SOURCES, NewEvent, SourceType
from domain.instants import shift

MESSAGING: Final = "messaging_service"
AGENTS: Final = "ai_agents_service"
OPERATORS: Final = "operator_console"
CRM: Final = "crm_sync"

_OUR_SOURCES: Final[dict[str, SourceType]] = {OPERATORS: "INTERNAL", CRM: "INTERNAL"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Makes facts of one organization at one moment. The lead is the decision's.

    `new_id` only names what is made; nothing is decided by it.
    """

    organization_id: str
    now: str
    new_id: Callable[[], str]
    correlation_id: str | None = None

    def fact(
        self,
        event_type: str,
        source: str,
        external_event_id: str,
        *,
        occurred_at: str | None = None,
        raw: bytes | None = None,
        **payload: Any,
    ) -> NewEvent:
        """Return an event that happened now, or at the time its source states.

        Payload names are the catalog's, in snake_case; None is what is not said. `raw` is the
        source's own document; one too large to be kept beside the event is left out.

        Raises:
            InvalidEvent: a value breaks a rule of its type.
        """
        said = {name: value for name, value in payload.items() if value is not None}
        canonical, version = catalog.validate(event_type, None, said)
        return NewEvent(
            event_id=self.new_id(),
            organization_id=self.organization_id,
            event_type=event_type,
            source_type=KNOWN_SOURCES.get(source) or _OUR_SOURCES.get(source, "DIRECT"),
            source=source,
            external_event_id=external_event_id,
            occurred_at=occurred_at or self.now,
            received_at=self.now,
            payload=canonical,
            schema_version=version,
            occurred_at_stated=occurred_at is not None,
            raw_payload=_compressed(raw),
            correlation_id=self.correlation_id,
        )

    def session_started(
        self,
        session_id: str,
        channel: str,
        account: str,
        replaces: str | None = None,
        *,
        reply_to: str = "",
        contact_name: str | None = None,
    ) -> NewEvent:
        """Open a session."""
        return self.fact(
            "conversation_started",
            MESSAGING,
            f"{session_id}:started",
            channel=channel,
            session_id=session_id,
            conversation_id=session_id,
            channel_account=account or None,
            replaces_session_id=replaces,
            reply_to=reply_to or None,
            contact_name=contact_name or None,
        )

    def session_ended(
        self, session_id: str, channel: str, outcome: str, *, messages: int, seconds: int
    ) -> NewEvent:
        """Close a session."""
        return self.fact(
            "conversation_ended",
            MESSAGING,
            f"{session_id}:ended",
            channel=channel,
            session_id=session_id,
            conversation_id=session_id,
            outcome=outcome,
            message_count=messages,
            duration_seconds=max(0, seconds),
        )

    def reply_queued(
        self, kind: str, text: str, *, cause: str, session_id: str | None = None
    ) -> NewEvent:
        """Queue one fixed text for the lead; the same cause queues it once."""
        name = outbound_id(session_id, cause, kind)
        return self.fact(
            "reply_queued",
            MESSAGING,
            f"{name}:queued",
            outbound_id=name,
            kind=kind,
            text=text,
            session_id=session_id,
            cause_message_id=cause,
        )

    def step(self, event_type: str, outbound: str, attempt: int, **payload: Any) -> NewEvent:
        """Note a step of one try of sending a text."""
        step = event_type.removeprefix("reply_")
        return self.fact(
            event_type,
            MESSAGING,
            f"{outbound}:{step}:{attempt}",
            outbound_id=outbound,
            attempt=attempt,
            **payload,
        )

    def sending(self, outbound: str, attempt: int, patience: timedelta) -> NewEvent:
        """Note that a text is handed over now, and until when an answer is waited for."""
        until = shift(self.now, patience)
        return self.step("reply_sending", outbound, attempt, retry_at=until)

    def dropped(self, outbound: str, reason: str) -> NewEvent:
        """Note that a text will not be sent."""
        return self.fact(
            "reply_dropped", MESSAGING, f"{outbound}:dropped", outbound_id=outbound, reason=reason
        )


def _compressed(raw: bytes | None) -> bytes | None:
    if not raw:
        return None
    data = zlib.compress(raw)
    return data if len(data) <= MAX_RAW_BYTES else None

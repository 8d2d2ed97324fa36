"""Events of a conversation in any order, drawn from what the catalog declares: most make no sense.

Names come from small pools, so that events meet: two sessions, three messages of the lead, the
texts that answer them, two ids of the channel. What a fold must do with all of it is not to fail,
and to end in the same rows however the events are cut into commits.
"""

from itertools import product
from typing import Any, Final

from hypothesis import strategies as st

from domain import catalog
from domain.conversation.messages import outbound_id
from domain.event import LeadEvent
from projections.conversations import CONVERSATIONS
from tests.support.catalog_strategies import POOLS, payloads
from tests.support.strategies import INSTANTS, LEAD, event

_SESSIONS: Final = ["session-1", "session-2"]
_MESSAGES: Final = ["wamid.A", "wamid.B", "wamid.C"]
_TEXTS: Final = [
    outbound_id(session, message, "bot_text", part)
    for session, message, part in product(_SESSIONS, _MESSAGES, (0, 1))
]
_POOLS: Final[dict[str, list[Any]]] = POOLS | {
    "sessionId": _SESSIONS,
    "replacesSessionId": _SESSIONS,
    "messageId": [*_MESSAGES, "wamid.OUT1", "wamid.OUT2"],
    "causeMessageId": _MESSAGES,
    "coveredMessageIds": [_MESSAGES[:1], _MESSAGES[:2], _MESSAGES[1:], _MESSAGES],
    "outboundId": [*_TEXTS[:4], "out_operator"],
    "route": ["turn", "turn", "operator", "inbox", "notice", "record"],
    "status": ["sent", "delivered", "read", "failed", "odd"],
    "errorClass": ["TRANSIENT", "RECIPIENT"],
    "reply": ["Olá!", "Uma frase comum. " * 300],
    "outcome": ["completed", "abandoned", "moved"],
    "channelAccount": ["109876543210987", "109876543210988"],
    "qualificationData": ['{"service":"dna"}', "[1]", "no JSON"],
    "cadastralData": ['{"name":"Ana"}', ""],
    "card": ['{"last":[]}', "{"],
}
_SOURCES: Final = ["messaging_service", "ai_agents_service", "whatsapp"]
TYPES: Final = sorted(CONVERSATIONS.handles & set(catalog.TYPES))


@st.composite
def conversations(draw: st.DrawFn, *, min_size: int = 0, max_size: int = 30) -> list[LeadEvent]:
    """Return events of one lead's conversations in the order they were recorded."""
    drawn = []
    for number in range(1, draw(st.integers(min_size, max_size)) + 1):
        event_type = draw(st.sampled_from(TYPES))
        name = f"019d0c4e-{number:04x}-7000-8000-0000000000ff"
        made = event(
            event_type,
            draw(payloads(event_type, _POOLS)),
            at=draw(INSTANTS),
            event_id=name,
            sequence=number,
            source=draw(st.sampled_from(_SOURCES)),
        )
        if event_type == "message_received":
            name = draw(st.sampled_from(_MESSAGES))
        drawn.append(made._replace(external_event_id=name, lead=LEAD))
    return drawn

"""The card a person reads first: what is known of the lead, and the last that was said."""

from typing import Any, Final

from domain import canonical
from domain.conversation.messages import Message
from domain.conversation.session import Session

MAX_CHARACTERS: Final = 9_500
"""Of a card as JSON. Below the 10,000 a field of an event holds."""

_LAST: Final = 10
_QUESTION: Final = 500
_LINE: Final = 300


def card_of(session: Session, history: list[Message]) -> dict[str, Any]:
    """Return the card of a session. Deterministic: made without a model, so it works without one."""
    said = [each for each in history if each.text and each.error is None]
    questions = [each.text for each in said if each.direction == "inbound"]
    return {
        "segment": session.segment,
        "intent": session.intent,
        "qualification": session.qualification_data,
        "registration": session.cadastral_data,
        "openQuestion": questions[-1][:_QUESTION] if questions else "",
        "last": [
            {"from": "lead" if each.direction == "inbound" else "us", "text": each.text[:_LINE]}
            for each in said[-_LAST:]
        ],
    }


def card_text(card: dict[str, Any], reason: str) -> str:
    """Return a card as JSON that an event can hold; of one too long the oldest lines go first."""
    kept = {**card, "reason": reason}
    text = canonical.dumps(kept).decode()
    while len(text) > MAX_CHARACTERS and kept.get("last"):
        kept["last"] = kept["last"][1:]
        text = canonical.dumps(kept).decode()
    for name in ("registration", "qualification", "openQuestion"):
        if len(text) > MAX_CHARACTERS:
            kept.pop(name, None)
            text = canonical.dumps(kept).decode()
    return text

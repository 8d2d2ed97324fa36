"""What the CRM should show of a session: contact, deal and stage, and the digest that names it."""

import unicodedata
from typing import Any, Final

from domain import canonical
from domain.conversation.session import ABANDONED
from domain.conversation.states import BOT, HUMANS, TERMINAL, State

PROJECTION_VERSION: Final = 1
"""Part of every revision: a change of what is mirrored is new content for every session."""

NOVO_LEAD: Final = "novo_lead"
EM_TRIAGEM: Final = "em_triagem"
ATENDIMENTO_HUMANO: Final = "atendimento_humano"
FINALIZADO: Final = "finalizado"
PERDIDO: Final = "perdido"

STAGES: Final = (NOVO_LEAD, EM_TRIAGEM, ATENDIMENTO_HUMANO, FINALIZADO, PERDIDO)
"""Logical stages (seed 001). The last two are terminal."""

ACTIVE_STAGES: Final = STAGES[:3]
TERMINAL_STAGES: Final = STAGES[3:]

RANKS: Final = {NOVO_LEAD: 0, EM_TRIAGEM: 1, ATENDIMENTO_HUMANO: 2, FINALIZADO: 3, PERDIDO: 3}
"""A stage is never written over one of a higher rank."""


def target_stage(state: State, outcome: str | None) -> str:
    """Return the logical stage of a session (seed 001)."""
    if state in TERMINAL:
        return PERDIDO if outcome == ABANDONED else FINALIZADO
    if state in HUMANS:
        return ATENDIMENTO_HUMANO
    return EM_TRIAGEM if state in BOT - {State.NEW} else NOVO_LEAD


def desired_projection(
    state: State, outcome: str | None, contact: dict[str, str], deal: dict[str, str]
) -> dict[str, Any]:
    """Return the desired content: `stage`, `terminal`, `contact`, `deal`; all values text.

    Contact: phone (digits as the channel gives them), name, email. Deal: name, segment, intent, and
    `notes`, what agents collected, a line each.
    """
    stage = target_stage(state, outcome)
    return {
        "projection_version": PROJECTION_VERSION,
        "stage": stage,
        "terminal": stage in TERMINAL_STAGES,
        "contact": _said(contact),
        "deal": _said(deal),
    }


def revision(desired: dict[str, Any]) -> str:
    """Return the SHA-256 of desired content: equal content, equal revision. No clock is in it."""
    return canonical.digest(canonical.dumps(desired))


def _said(values: dict[str, str]) -> dict[str, str]:
    return {
        name: unicodedata.normalize("NFC", value.strip())
        for name, value in values.items()
        if value.strip()
    }

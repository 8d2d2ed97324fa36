"""The agents' desk: a turn goes in with what was said; an answer, or the reason for none, comes out."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import structlog

from domain.conversation.messages import Message
from domain.conversation.model import Said as Spoken
from domain.conversation.session import Session
from domain.conversation.turn import Result, Turn, Usage
from domain.conversation.turning import is_acceptable
from domain.errors import ViewBroken
from domain.ports.effects import Model
from handlers.agents.asking import ask
from handlers.agents.prompting import Prompting
from handlers.conversations.working import Said
from handlers.reads import Reads


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDesk:
    """Asks the agent of a session's state, with what is remembered of the lead within a budget."""

    model: Model
    prompting: Prompting
    reads: Reads
    budget: int
    locale: str

    def answer(
        self, organization_id: str, lead: str, turn: Turn, session: Session, said: Said
    ) -> tuple[Result, Turn]:
        """Ask, once more if the answer cannot be used, and return what came of it.

        Raises:
            ModelUnavailable: no answer came; nothing was decided.
        """
        prompted = self.prompting.build(
            organization_id,
            turn.state.value,
            turn.agent,
            [*_known(session), *spoken(said.history)],
            said.pending,
            self._memories(organization_id, lead),
        )
        asked = ask(self.model, prompted.request, partial(is_acceptable, turn.state))
        usage = Usage(
            model=asked.model,
            input_tokens=asked.input_tokens,
            output_tokens=asked.output_tokens,
            cost_micros=asked.cost_micros,
            cost_currency=asked.cost_currency,
            latency_ms=asked.latency_ms,
        )
        result = Result(answer=asked.answer, reason=asked.reason, usage=usage)
        return result, replace(turn, prompt=prompted.prompt)

    def _memories(self, organization_id: str, lead: str) -> str:
        if not self.budget:
            return ""
        try:
            return self.reads.context(
                organization_id, lead, budget=self.budget, locale=self.locale
            ).text
        except ViewBroken as error:
            # A bug in the memories must not silence the conversation.
            structlog.get_logger().warning("memories_left_out", lead=lead, code=error.code)
            return ""


def spoken(history: Iterable[Message]) -> list[Spoken]:
    """Return what was said and reached the other side, as a model reads it."""
    return [
        Spoken(role="user" if each.direction == "inbound" else "assistant", text=each.text)
        for each in history
        if each.text and each.error is None
    ]


def _known(session: Session) -> list[Spoken]:
    """Return the note of whoever had the conversation before, if there is one."""
    if not session.operator_note:
        return []
    return [Spoken(role="assistant", text=f"[Nota da equipe] {session.operator_note}")]

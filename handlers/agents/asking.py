"""Asking an agent's model until there is an answer that can be used: twice at most."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from domain.conversation.answer import Answer, Code, Unparsable, parse
from domain.conversation.guard import objection
from domain.conversation.model import ModelAnswer, ModelRefused, ModelRequest
from domain.ports.effects import Model

INVALID: Final = "agent_output_invalid"
"""Why a human answers where the model wrote twice what cannot be used (research/domain.md §8.4)."""

REFUSED: Final = "model_refused"

Judge = Callable[[Answer], str | None]
"""Says in a word why an answer cannot be used, None if it can."""

_FORM: Final = (
    "Sua resposta anterior não pôde ser lida. Responda de novo à última mensagem do cliente somente com"
    ' o objeto JSON {"s", "message", "metadata"}, sem texto em volta e sem blocos de código.'
)
_CODES: Final = ", ".join(Code)
_CORRECTIONS: Final[Mapping[str, str]] = {
    "unknown_code": f"O código `s` não existe. Responda de novo, com um destes: {_CODES}.",
    "empty_message": "Faltou o texto para o cliente em `message`. Responda de novo, com ele.",
    "illegal_transition": (
        "O código `s` não é permitido na etapa atual. Responda de novo; na dúvida, use CONTINUE."
    ),
    "claims_transfer": (
        "A mensagem promete que uma pessoa assume, mas o código não é HANDOFF. Responda de novo: sem"
        " essa promessa, ou com o código HANDOFF se uma pessoa deve assumir."
    ),
    "too_long": "A mensagem está longa demais. Responda de novo, em poucas frases.",
    "not_presentable": (
        "A mensagem não pode ir ao cliente assim. Responda de novo: só texto de conversa, sem JSON nem"
        " código, e sem prometer uma pessoa se o código não for HANDOFF."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What came of asking: an answer, or the word that says why there is none.

    `calls` that were answered, `corrected` by what the first one was refused for; tokens, costs
    and milliseconds are sums over them. The cost is None where that of a call is not known.
    """

    answer: Answer | None
    reason: str | None = None
    corrected: str | None = None
    calls: int = 0
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int | None = None
    cost_currency: str | None = None
    latency_ms: int = 0


def presentable_answer(answer: Answer) -> str | None:
    """Judge an answer by what may reach a customer alone."""
    if not answer.message:
        return None
    return objection(answer.message, handoff=answer.code is Code.HANDOFF)


def ask(model: Model, request: ModelRequest, judge: Judge = presentable_answer) -> Asked:
    """Ask, and once more with what was wrong; then give up, so that a human answers.

    Args:
        model: who is asked.
        request: the turn; its `previous` and `correction` are set here.
        judge: what else an answer must be, beside readable.

    Raises:
        ModelUnavailable: no answer came, to the first question or to the second.
    """
    asked = Asked(answer=None)
    for last in (False, True):
        try:
            written = model.answer(request)
        except ModelRefused:
            return replace(asked, reason=REFUSED)
        asked = _added(asked, written)
        answer, wrong = _read(written.text, judge)
        if wrong is None:
            return replace(asked, answer=answer)
        if not last:
            asked = replace(asked, corrected=wrong)
            correction = _CORRECTIONS.get(wrong, _FORM)
            request = replace(request, previous=written.text, correction=correction)
    return replace(asked, reason=INVALID)


def _read(text: str, judge: Judge) -> tuple[Answer | None, str | None]:
    try:
        answer = parse(text)
    except Unparsable as error:
        return None, error.reason
    return answer, judge(answer)


def _added(asked: Asked, written: ModelAnswer) -> Asked:
    known = asked.calls == 0 or asked.cost_micros is not None
    cost = None
    if known and written.cost_micros is not None:
        cost = (asked.cost_micros or 0) + written.cost_micros
    return replace(
        asked,
        calls=asked.calls + 1,
        model=written.model,
        input_tokens=asked.input_tokens + written.input_tokens,
        output_tokens=asked.output_tokens + written.output_tokens,
        cost_micros=cost,
        cost_currency=None if cost is None else written.cost_currency,
        latency_ms=asked.latency_ms + written.latency_ms,
    )

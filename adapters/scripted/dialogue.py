"""The conversation the scripted agent can lead: from a greeting to a person who sends the offer."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from adapters.scripted.hearing import Heard, hear
from domain.conversation.answer import Code
from domain.conversation.model import ModelRequest
from domain.conversation.states import State

Document = dict[str, Any]

_GREETING: Final = (
    "Olá! Sou a assistente virtual do laboratório. Fazemos sequenciamento, genotipagem, PCR em tempo"
    " real, extração de DNA e metagenômica. Do que você precisa?"
)
_WHICH: Final = (
    "Para eu te ajudar, qual destes serviços você procura: sequenciamento, genotipagem, PCR em tempo"
    " real, extração de DNA ou metagenômica?"
)
_PERSON: Final = "Claro! Vou chamar uma pessoa da equipe, que continua com você por aqui."
_GOODBYE: Final = "Eu que agradeço! Quando precisar, é só mandar uma mensagem. Até logo!"
_OTHER: Final = "Claro, vamos ao novo assunto. Do que você precisa?"
_NO_PRICES: Final = "O valor depende do tipo e da quantidade de amostras, por isso pergunto antes. "


def answer_to(request: ModelRequest) -> Document:
    """Return the answer to a request as the JSON that agents write."""
    heard = hear(request.messages)
    return _whatever_the_state(heard) or _BY_STATE.get(request.state, _triage)(heard)


def _whatever_the_state(heard: Heard) -> Document | None:
    if heard.wants_person:
        return _said(Code.HANDOFF, _PERSON, handoff_reason="customer_request")
    if heard.not_ours is not None:
        message = (
            f"{heard.not_ours} não está entre os nossos serviços. Já deixei o seu interesse anotado."
            " Posso ajudar com algum outro serviço de genética?"
        )
        return _said(
            Code.OUT_OF_PORTFOLIO, message, oop_service=heard.not_ours, segment=heard.segment
        )
    if heard.other_subject:
        return _said(Code.NEW_SUBJECT, _OTHER)
    return _said(Code.CLOSE, _GOODBYE) if heard.is_over else None


def _greet(heard: Heard) -> Document:
    return _triage(heard) if heard.service else _said(Code.TO_TRIAGE, _GREETING)


def _triage(heard: Heard) -> Document:
    if heard.service is None:
        return _said(Code.CONTINUE, _WHICH, segment=heard.segment)
    opening = _NO_PRICES if heard.asks_price else "Ótimo! "
    message = (
        f"{opening}Para {heard.service}, que tipo de amostra você tem (sangue, saliva, tecido, DNA…) e"
        " quantas são?"
    )
    intent = "preco" if heard.asks_price else "servico"
    return _said(
        Code.TO_QUALIFICATION,
        message,
        intent=intent,
        segment=heard.segment,
        qualification=_pairs(servico=heard.service),
    )


def _qualify(heard: Heard) -> Document:
    found = _pairs(tipo_amostra=heard.sample, quantidade=heard.quantity)
    if heard.sample is None or heard.quantity is None:
        what = "o tipo das amostras" if heard.sample is None else "quantas amostras são"
        if heard.sample is None and heard.quantity is None:
            what = "o tipo das amostras e quantas são"
        opening = _NO_PRICES if heard.asks_price else ""
        message = f"{opening}Me diga, por favor, {what}."
        return _said(Code.CONTINUE, message, segment=heard.segment, qualification=found)
    message = (
        f"Anotado: {heard.quantity} amostra(s), {heard.sample}. Para o orçamento, qual é o seu nome"
        " completo e o seu e-mail?"
    )
    return _said(Code.TO_REGISTRATION, message, segment=heard.segment, qualification=found)


def _register(heard: Heard) -> Document:
    found = _pairs(nome=heard.name, email=heard.email)
    if heard.name is None or heard.email is None:
        what = "seu nome completo" if heard.name is None else "seu e-mail"
        if heard.name is None and heard.email is None:
            what = "seu nome completo e seu e-mail"
        return _said(Code.CONTINUE, f"Só falta {what}.", registration=found)
    first, *_ = heard.name.split()
    message = (
        f"Obrigado, {first}! Passei seus dados para a nossa equipe, que envia o orçamento por aqui."
    )
    insight = {
        "insight_type": "purchase_intent",
        "content": "Deu todos os dados para receber um orçamento",
        "confidence": 0.9,
        "memory_type": "behavioral",
        "key": "purchase_intent",
        "value": "high",
    }
    return _said(
        Code.HANDOFF,
        message,
        handoff_reason="ready_for_offer",
        registration=found,
        insights=[insight],
    )


_BY_STATE: Final[Mapping[str, Callable[[Heard], Document]]] = {
    State.NEW: _greet,
    State.TRIAGE: _triage,
    State.QUALIFYING: _qualify,
    State.REGISTERING: _register,
}


def _said(code: Code, message: str, **metadata: object) -> Document:
    nothing: Document = dict.fromkeys(
        (
            *("intent", "segment", "qualification", "registration"),
            *("handoff_reason", "oop_service", "insights"),
        )
    )
    return {"s": code.value, "message": message, "metadata": {**nothing, **metadata}}


def _pairs(**values: str | None) -> list[dict[str, str]] | None:
    pairs = [{"key": key, "value": value} for key, value in values.items() if value is not None]
    return pairs or None

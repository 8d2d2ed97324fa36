"""What the scripted agent understands of Portuguese: some words, whatever their accents."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from domain.conversation.model import Said

_SERVICES: Final[Mapping[str, str]] = {
    r"sequencia\w*|sanger|ngs": "sequenciamento",
    r"genotip\w*": "genotipagem",
    r"qpcr|pcr": "PCR em tempo real",
    r"extra(?:cao|ir|i)\b": "extração de DNA",
    r"metagenom\w*|microbio\w*": "metagenômica",
}
_NOT_OURS: Final[Mapping[str, str]] = {
    r"paternidade": "Teste de paternidade",
    r"vacina\w*": "Vacina",
    r"hemograma|exame de sangue": "Exame de sangue de rotina",
    r"raio ?-?x|ultrassom|tomografia": "Exame de imagem",
    r"consulta": "Consulta médica",
}
_SEGMENTS: Final[Mapping[str, str]] = {
    r"universidade|pesquisa\w*|mestrado|doutorado|artigo|tese": "PESQUISA",
    r"empresa|industria|cnpj": "EMPRESA",
    r"clinica|hospital|medic[oa]s?": "CLINICA",
}
_SAMPLES: Final[Mapping[str, str]] = {
    r"sangue": "sangue",
    r"saliva": "saliva",
    r"swabs?": "swab",
    r"folhas?|plantas?": "folha",
    r"solo": "solo",
    r"agua": "água",
    r"tecidos?": "tecido",
    r"plasmid\w*": "plasmídeo",
    r"bacterias?|colonias?": "bactéria",
    r"dna": "DNA purificado",
}
_PERSON: Final = re.compile(
    r"\b(?:atendente|humano|gente de verdade)\b"
    r"|\b(?:falar|conversar|chama\w*|passa\w*)\b[^.!?\n]{0,30}\b(?:pessoa|alguem|vendedor\w*|equipe)\b"
)
_OVER: Final = re.compile(
    r"\b(?:so isso|mais nada|encerra\w*|tchau|ate mais|ate logo)\b"
    r"|^\W*(?:muito )?(?:obrigad[oa]|valeu|brigad[oa])\W*$"
)
_OTHER: Final = re.compile(r"\b(?:outr[oa] (?:assunto|duvida|pedido|coisa)|mudando de assunto)\b")
_PRICE: Final = re.compile(
    r"\b(?:precos?|valor(?:es)?|quanto (?:custa|fica|e)|orcamento|cota\w*)\b"
)
_QUANTITY: Final = re.compile(r"(?<![\d.,/-])([1-9]\d{0,3})(?![\d/-]|[.,]\d)")
_ONE: Final = re.compile(r"\b(?:um|uma)\b(?: so| unica)? (?:amostra|tubo)")
_EMAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_NAMED: Final = re.compile(
    r"(?i:me chamo|meu nome (?:é|e)|sou (?:o|a)|aqui (?:é|e) (?:o|a))\s+"
    r"((?-i:[A-ZÀ-Ý])[\w'-]*(?:\s+(?-i:[A-ZÀ-Ýd])[\w'-]*){0,4})"
)
_BARE_NAME: Final = re.compile(r"[A-Za-zÀ-ÿ][\w'-]+(?:\s+[A-Za-zÀ-ÿ][\w'-]*){1,4}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What was understood: of what nobody answered yet, and of everything the lead said."""

    wants_person: bool
    is_over: bool
    other_subject: bool
    asks_price: bool
    not_ours: str | None
    service: str | None
    segment: str | None
    sample: str | None
    quantity: str | None
    name: str | None
    email: str | None


def hear(messages: Sequence[Said]) -> Heard:
    """Understand a conversation as far as it has come."""
    answered = max((at for at, said in enumerate(messages) if said.role == "assistant"), default=-1)
    now = _plain("\n".join(said.text for said in messages[answered + 1 :]))
    texts = [said.text for said in messages if said.role == "user"]
    ever = _plain("\n".join(texts))
    quantity = _QUANTITY.search(_EMAIL.sub("", ever))
    email = _EMAIL.search("\n".join(texts))
    return Heard(
        wants_person=bool(_PERSON.search(now)),
        is_over=bool(_OVER.search(now)),
        other_subject=bool(_OTHER.search(now)),
        asks_price=bool(_PRICE.search(now)),
        not_ours=_named(_NOT_OURS, now),
        service=_named(_SERVICES, ever),
        segment=_named(_SEGMENTS, ever),
        sample=_named(_SAMPLES, ever),
        quantity=quantity[1] if quantity else "1" if _ONE.search(ever) else None,
        name=_name(texts),
        email=email[0] if email else None,
    )


def _named(names: Mapping[str, str], text: str) -> str | None:
    """Return the name of the first pattern that stands in a text."""
    found = (name for pattern, name in names.items() if re.search(rf"\b(?:{pattern})\b", text))
    return next(found, None)


def _name(texts: Sequence[str]) -> str | None:
    """Return the lead's name: as it was introduced, or what stands beside the address."""
    for text in reversed(texts):
        introduced = _NAMED.search(text)
        if introduced:
            return introduced[1].strip()
        if _EMAIL.search(text):
            beside = _BARE_NAME.fullmatch(_EMAIL.sub("", text).strip(" ,;.:-\n"))
            if beside:
                return beside[0]
    return None


def _plain(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in letters if not unicodedata.combining(each))

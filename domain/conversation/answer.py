"""What an agent answers: one JSON object `{"s": code, "message": text, "metadata": {…}}`.

The code proposes, the state machine disposes. Source: research/domain.md §8.4.

`parse` reads strictly first: exactly `ANSWER_SCHEMA`, nothing missing and nothing more. Any other
answer is repaired where its meaning is clear: members may be missing, unknown ones are ignored,
maps may be objects, and what surrounds or ends the object badly is forgiven (`repair`).
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Literal, get_args

from domain.conversation.repair import objects_in


class Code(StrEnum):
    """What the agent proposes to do."""

    CONTINUE = "CONTINUE"
    TO_TRIAGE = "TO_TRIAGE"
    TO_QUALIFICATION = "TO_QUALIFICATION"
    TO_REGISTRATION = "TO_REGISTRATION"
    HANDOFF = "HANDOFF"
    OUT_OF_PORTFOLIO = "OUT_OF_PORTFOLIO"
    NEW_SUBJECT = "NEW_SUBJECT"
    CLOSE = "CLOSE"


SILENT: Final = frozenset((Code.HANDOFF,))
"""Codes that need no message of the agent: the service has its own words for them."""

MemoryType = Literal["fact", "preference", "behavioral"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """What the agent concluded about the lead, as an `agent_insight` says it."""

    insight_type: str
    content: str
    confidence: float
    memory_type: MemoryType | None = None
    key: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An agent's answer, read. All text is cleaned and bounded, the message only cleaned.

    `qualification` and `registration` are what this turn added; numbers are text as JSON writes
    them. `repaired` tells that it was not exactly what the schema asks for.
    """

    code: Code
    message: str
    intent: str | None = None
    segment: str | None = None
    qualification: dict[str, str] = field(default_factory=dict)
    registration: dict[str, str] = field(default_factory=dict)
    handoff_reason: str | None = None
    oop_service: str | None = None
    insights: tuple[Insight, ...] = ()
    repaired: bool = field(default=False, compare=False)


class Unparsable(Exception):
    """There is no answer in the text. `reason` is a word, and never holds any of the text."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _object(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT: Final = {"type": "string"}
_MAYBE: Final = {"type": ["string", "null"]}
_PAIRS: Final = {"type": ["array", "null"], "items": _object(key=_TEXT, value=_TEXT)}
"""A free-form map: strict structured outputs know no object with members they cannot name."""

ANSWER_SCHEMA: Final[dict[str, object]] = _object(
    s={"type": "string", "enum": [code.value for code in Code]},
    message=_TEXT,
    metadata=_object(
        intent=_MAYBE,
        segment=_MAYBE,
        qualification=_PAIRS,
        registration=_PAIRS,
        handoff_reason=_MAYBE,
        oop_service=_MAYBE,
        insights={
            "type": ["array", "null"],
            "items": _object(
                insight_type=_TEXT,
                content=_TEXT,
                confidence={"type": "number"},
                memory_type={
                    "type": ["string", "null"],
                    "enum": [*get_args(MemoryType), None],
                },
                key=_MAYBE,
                value=_MAYBE,
            ),
        },
    ),
)
"""What the model is asked for, in the subset that OpenAI's strict structured outputs take: every
property required, absence by null, no bounds. What it means is bounded by `parse`."""

MAX_TEXT: Final = 65_536
"""Characters of an answer that are read at all; a message has 12,000 at most."""

MAX_DATA: Final = 4_000
"""Characters of one map as JSON: the session keeps those of all turns within 10,000."""

_MAX_INSIGHTS: Final = 5
_LONGEST: Final = 500
_WORD: Final = 100
_UNPRINTED: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NOTHING: Final = frozenset(("", "null", "none", "n/a"))
_TYPES: Final = {dict: "object", list: "array", str: "string", type(None): "null"}
_MEMORY_TYPES: Final[Mapping[str, MemoryType]] = {each: each for each in get_args(MemoryType)}


def parse(text: str) -> Answer:
    """Return the answer that a model's text holds.

    Raises:
        Unparsable: too_long, no_object, ambiguous (several objects that say different things),
            missing_code, unknown_code, or empty_message where the code needs one.
    """
    if len(text) > MAX_TEXT:
        raise Unparsable("too_long")
    document = _document(text)
    strict = _conforms(document, ANSWER_SCHEMA)
    if isinstance(document, str):
        # Written as JSON twice.
        text, document = document, _document(document)
    if not isinstance(document, dict):
        document = _only_answer(objects_in(text))
    answer = _answer(document)
    if not answer.message and answer.code not in SILENT:
        raise Unparsable("empty_message")
    return answer if strict else replace(answer, repaired=True)


def clean(text: str) -> str:
    """Return text without what cannot be stored or shown: controls, and halves of pairs."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNPRINTED.sub("", text.encode("utf-8", "ignore").decode()).strip()


def _document(text: str) -> Any:
    """Return the whole text as JSON, None if it is none."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> Any:
    message = f"{name} is no JSON"
    raise ValueError(message)


def _conforms(value: Any, schema: Mapping[str, Any]) -> bool:
    """Tell whether a value is exactly what a schema of the form above asks for."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    kind = "number" if number else _TYPES.get(type(value), "other")
    if kind not in schema["type"] or value not in schema.get("enum", [value]):
        return False
    if isinstance(value, dict):
        members: Mapping[str, Any] = schema["properties"]
        return value.keys() == members.keys() and all(
            _conforms(value[name], each) for name, each in members.items()
        )
    if isinstance(value, list):
        return all(_conforms(each, schema["items"]) for each in value)
    return True


def _only_answer(objects: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the object that is an answer. Two that differ are none: which one was meant?"""
    if not objects:
        raise Unparsable("no_object")
    answers = [each for each in objects if "s" in each]
    if not answers:
        raise Unparsable("missing_code")
    if any(each != answers[0] for each in answers):
        raise Unparsable("ambiguous")
    return answers[0]


def _answer(document: Mapping[str, Any]) -> Answer:
    metadata = document.get("metadata")
    told: Mapping[str, Any] = metadata if isinstance(metadata, dict) else {}
    message = document.get("message")
    return Answer(
        code=_code(document.get("s")),
        message=clean(message) if isinstance(message, str) else "",
        intent=_words(told.get("intent"), _WORD),
        segment=_words(told.get("segment"), _WORD),
        qualification=_data(told.get("qualification")),
        registration=_data(told.get("registration")),
        handoff_reason=_words(told.get("handoff_reason"), _WORD),
        oop_service=_words(told.get("oop_service"), _LONGEST),
        insights=_insights(told.get("insights")),
    )


def _code(value: object) -> Code:
    if not isinstance(value, str):
        raise Unparsable("missing_code")
    try:
        return Code(value.strip().upper())
    except ValueError:
        raise Unparsable("unknown_code") from None


def _words(value: object, longest: int) -> str | None:
    """Return a value as text of at most this length, None for what is nothing or a container."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return json.dumps(value) if math.isfinite(value) else None
    if isinstance(value, int):
        return json.dumps(value)[:longest]
    if not isinstance(value, str):
        return None
    text = clean(value)[:longest].strip()
    return None if text.casefold() in _NOTHING else text


def _data(value: object) -> dict[str, str]:
    """Return a map that came as pairs or as an object, as much of it as fits."""
    data: dict[str, str] = {}
    room = MAX_DATA - len("{}")
    for key, each in _pairs(value):
        name, text = _words(key, _WORD), _words(each, _LONGEST)
        if name is None or text is None:
            continue
        room -= len(json.dumps({name: text}, ensure_ascii=False))
        if room < 0:
            break
        data[name] = text
    return data


def _pairs(value: object) -> Iterator[tuple[object, object]]:
    if isinstance(value, dict):
        yield from value.items()
    if isinstance(value, list):
        for each in value:
            if isinstance(each, dict):
                yield each.get("key"), each.get("value")


def _insights(value: object) -> tuple[Insight, ...]:
    found = (_insight(each) for each in value) if isinstance(value, list) else ()
    return tuple([each for each in found if each is not None][:_MAX_INSIGHTS])


def _insight(value: object) -> Insight | None:
    """Return an insight, None if it lacks what an event of it needs."""
    told: Mapping[str, Any] = value if isinstance(value, dict) else {}
    insight_type = _words(told.get("insight_type"), _WORD)
    content = _words(told.get("content"), _LONGEST)
    confidence = told.get("confidence")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        return None
    if insight_type is None or content is None or not 0 <= confidence <= 1:
        return None
    return Insight(
        insight_type=insight_type,
        content=content,
        confidence=float(confidence),
        memory_type=_MEMORY_TYPES.get(str(told.get("memory_type"))),
        key=_words(told.get("key"), _WORD),
        value=_words(told.get("value"), _LONGEST),
    )

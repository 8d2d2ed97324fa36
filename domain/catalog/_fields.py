"""Types of payload fields: what they accept, their one canonical form, and what they mean.

Text is Unicode without NUL, and bounded. In canonical JSON money is text; every other decimal is
a number, whole when it has no fraction (1, 1.0 and "1" are all 1), else the nearest IEEE double.
What is marked `LOGGABLE` may stand in a log; everything else counts as personal.
"""

import math
import re
from collections.abc import Callable
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, PlainValidator, ValidationInfo, WithJsonSchema

from domain import instants, money


class Loggable:
    """Marks a field that holds a closed word or a number, never what a person wrote."""


LOGGABLE: Final = Loggable()


class Ours:
    """Marks a field that only this service fills in; the door drops what others put there."""


OURS: Final = Ours()

MAX_ITEMS: Final = 80
"""Of a list whose items make a memory row each: one commit takes 100 actions."""

_NUMBER_TEXT: Final = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,20})?", re.ASCII)
_WITHOUT_NUL: Final = r"^[^\x00]*$"
_MAX_CHOICES: Final = 100
_SCALARS: Final[list[dict[str, Any]]] = [{"type": "number"}, {"type": "boolean"}]


def describe(text: str, example: object) -> Any:
    """Say what a field means, with one example in canonical form."""
    return Field(description=text, examples=[example])


def text(low: int, high: int) -> Any:
    """Bound the length of text, in characters, and keep NUL out."""
    return Field(min_length=low, max_length=high, pattern=_WITHOUT_NUL)


def _currency(value: object) -> object:
    if not isinstance(value, str) or not money.is_currency(value):
        message = "must be an ISO 4217 currency code in upper case"
        raise ValueError(message)
    return value


def _money(value: object, info: ValidationInfo) -> str:
    return money.canonical(value, info.data.get("currency"))


def _instant(value: object) -> str:
    if not isinstance(value, str):
        message = "must be an ISO 8601 date and time"
        raise ValueError(message)  # noqa: TRY004 - pydantic reports a ValueError
    return instants.parse_instant(value)


def _no_boolean(value: object) -> object:
    if isinstance(value, bool):
        message = "must be a whole number"
        raise ValueError(message)  # noqa: TRY004 - pydantic reports a ValueError
    return value


def _number(low: int, high: int) -> Callable[[object], int | float]:
    def number(value: object) -> int | float:
        if isinstance(value, str) and _NUMBER_TEXT.fullmatch(value):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            message = "must be a number, or the text of one"
            raise ValueError(message)  # noqa: TRY004 - pydantic reports a ValueError
        # Not-a-number is not between anything either.
        if not low <= value <= high:
            message = f"must be between {low} and {high}"
            raise ValueError(message)
        return int(value) if isinstance(value, float) and value.is_integer() else value

    return number


def _number_schema(low: int, high: int) -> Any:
    number = {"type": "number", "minimum": low, "maximum": high}
    return WithJsonSchema(
        {"anyOf": [number, {"type": "string", "pattern": f"^{_NUMBER_TEXT.pattern}$"}]}
    )


def _scalar(longest: int) -> Callable[[object], object]:
    """Take text, a number or a boolean: what a value may be whose type only its sender knows."""
    number = _number(-money.LIMIT, money.LIMIT)

    def scalar(value: object) -> object:
        if isinstance(value, bool):
            return value
        if isinstance(value, int | float) and math.isfinite(value):
            return number(value)
        if isinstance(value, str) and len(value) <= longest and _is_clean(value):
            return value
        message = f"must be text of at most {longest} characters, a number or a boolean"
        raise ValueError(message)

    return scalar


def _answer(value: object) -> object:
    if not isinstance(value, list):
        return _ANSWER(value)
    if len(value) > _MAX_CHOICES or not all(isinstance(choice, str) for choice in value):
        message = f"must be at most {_MAX_CHOICES} choices, each of them text"
        raise ValueError(message)
    return [_ANSWER(choice) for choice in value]


def _is_clean(value: str) -> bool:
    """Tell whether text can be stored: neither NUL nor half a surrogate pair."""
    if "\x00" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


_ANSWER: Final = _scalar(10_000)

NOT_BOOLEAN: Final = BeforeValidator(_no_boolean)
"""Keeps true from being 1. After the bounds of a whole number, which pydantic reads first."""

Id = Annotated[str, text(1, 255)]
Name = Annotated[str, text(1, 500)]
Word = Annotated[str, text(1, 100)]
Text = Annotated[str, text(0, 10_000)]
Question = Annotated[str, text(1, 10_000)]

Count = Annotated[int, Field(ge=0, le=1_000_000_000), NOT_BOOLEAN, LOGGABLE]
Probability = Annotated[int | float, PlainValidator(_number(0, 1)), _number_schema(0, 1)]
Percent = Annotated[int | float, PlainValidator(_number(0, 100)), _number_schema(0, 100)]
Rating = Annotated[int | float, PlainValidator(_number(-1000, 1000)), _number_schema(-1000, 1000)]

Instant = Annotated[
    str, PlainValidator(_instant), WithJsonSchema({"type": "string", "format": "date-time"})
]
Currency = Annotated[
    str,
    PlainValidator(_currency),
    WithJsonSchema({"type": "string", "enum": list(money.CURRENCIES), "format": "iso-4217"}),
    describe("The currency of this event's amounts.", "BRL"),
    LOGGABLE,
]
Money = Annotated[
    str,
    PlainValidator(_money),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0, "exclusiveMaximum": money.LIMIT},
                {"type": "string", "pattern": r"^[0-9]{1,12}(?:\.[0-9]{1,20})?$"},
            ],
            "format": "money",
        }
    ),
]
"""An exact amount, as text with the decimal places of the event's currency.

Without a currency it has two, and rules assume `money.DEFAULT_CURRENCY`. A class declares its
currency before its amounts, since fields are validated in that order.
"""
Scalar = Annotated[
    str | int | float | bool,
    PlainValidator(_scalar(2_000)),
    WithJsonSchema({"anyOf": [{"type": "string", "maxLength": 2_000}, *_SCALARS]}),
]
Answer = Annotated[
    str | int | float | bool | list[str],
    PlainValidator(_answer),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "maxLength": 10_000},
                *_SCALARS,
                {
                    "type": "array",
                    "items": {"type": "string", "maxLength": 10_000},
                    "maxItems": _MAX_CHOICES,
                },
            ]
        }
    ),
]

ProductId = Annotated[Id, describe("The product, as its seller names it.", "whey_1kg")]
ProductName = Annotated[Name, describe("What people call the product.", "Whey Protein 1kg")]
Category = Annotated[Id, describe("The kind of product.", "supplements")]
Channel = Annotated[Word, describe("Where the lead was met.", "whatsapp")]
Context = Annotated[Text, describe("What it was about, in a few words.", "Perguntou do frete")]
ConversationId = Annotated[Id, describe("The conversation it was said in.", "conv-0042")]
Confidence = Annotated[Probability, describe("How sure the observer is.", 0.9), LOGGABLE]

"""Memories in words: short phrases in a locale, in which no text from outside can do harm.

Text that came with events is quoted as JSON, with everything escaped that could end a line, a
quotation or a block, or that a reader would not see. Only words of one plain token go unquoted.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from domain.instants import to_datetime
from domain.money import DEFAULT_CURRENCY
from projections.memories.phrases import ENGLISH, MONTHS, PHRASES, WEEKDAYS, WORDS
from projections.memories.render import Memory

LOCALES: Final = tuple(PHRASES)

MAX_TEXT_CHARACTERS: Final = 160
"""Of one quoted text; the memory has more of it."""

MAX_ITEMS: Final = 5

_UNSAFE: Final = re.compile(
    r'["\\<>&\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f'
    r"\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\uffff"
    r"\U000e0000-\U000e0fff\ud800-\udfff]"
)
"""What JSON escapes, what markup is made of, and what cannot be seen."""

_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_PLAIN: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,31}", re.ASCII)
_PART: Final = re.compile(r"\[([^\]]*)\]|([^\[]+)")
_FIELD: Final = re.compile(r"\{([^:}]+):(\w)\}")
_SYMBOLS: Final = {"BRL": "R$", "USD": "US$", "EUR": "€", "GBP": "£"}


class _Field(NamedTuple):
    names: tuple[str, ...]
    how: str


class _Part(NamedTuple):
    optional: bool
    pieces: tuple[str | _Field, ...]


class Wording:
    """A locale and a time zone to say memories in.

    Raises:
        KeyError: a locale that is not in `LOCALES`.
    """

    def __init__(self, locale: str, timezone: str) -> None:
        self._phrases = PHRASES[locale]
        self._words = WORDS[locale]
        self._weekdays = WEEKDAYS[locale]
        self._english = locale == ENGLISH
        self._zone = ZoneInfo(timezone)

    def phrase(self, memory: Memory) -> str:
        """Return one line about a memory."""
        kind = memory.memory_type, memory.key.partition(":")[0]
        template = self._phrases.get(kind) or self._phrases.get((memory.memory_type, ""))
        said = template and self._said(template, memory)
        return said or self._field_by_field(memory)

    def _said(self, template: str, memory: Memory) -> str:
        """Return the phrase, or nothing where a field is missing that it cannot do without."""
        out: list[str] = []
        for part in _parsed(template):
            pieces = [
                piece if isinstance(piece, str) else self._shown(piece, memory)
                for piece in part.pieces
            ]
            if all(pieces):
                out.extend(pieces)
            elif not part.optional:
                return ""
        return "".join(out)

    def _shown(self, field: _Field, memory: Memory) -> str:
        for name in field.names:
            value = _looked_up(memory, name)
            if value is not None:
                return _HOW[field.how](self, value, memory, name)
        return ""

    def _field_by_field(self, memory: Memory) -> str:
        fields = ", ".join(
            f"{_word(name)} {self.text(value)}"
            for name, value in sorted(memory.value.items())
            if not isinstance(value, dict)
        )
        return f"{_word(memory.memory_type)}/{_word(memory.key)}: {fields}"

    def text(self, value: Any) -> str:
        """Return a value of any kind, text in quotes."""
        if isinstance(value, bool):
            return self._words[str(value).lower()]
        if isinstance(value, int | float):
            return self.number(value)
        if isinstance(value, list):
            more = ", …" if len(value) > MAX_ITEMS else ""
            return ", ".join(self.text(each) for each in value[:MAX_ITEMS]) + more
        return quoted(value) if isinstance(value, str) else ""

    def word(self, value: Any) -> str:
        """Return a word of ours in the locale, any other as it was sent."""
        text = str(value)
        return self._words.get(text) or _word(text)

    def true(self, name: str, value: Any) -> str:
        """Return what it means that a field is true; nothing if it is not."""
        return self._words[name] if value is True else ""

    def number(self, value: float) -> str:
        """Return a number with the locale's marks."""
        return self._marked(f"{value:,}")

    def whole(self, value: float) -> str:
        """Return a number without its fraction, at least 1 where there is any."""
        return self.number(max(round(value), 1 if value > 0 else 0))

    def percent(self, value: float | str) -> str:
        """Return a share of 1 as a percentage."""
        return f"{round(float(value) * 100)}%"

    def money(self, value: Any, memory: Memory) -> str:
        """Return an amount, or amounts of several currencies; nothing where there are none."""
        amounts = value
        if not isinstance(value, dict):
            amounts = {memory.value.get("currency", DEFAULT_CURRENCY): value}
        return " + ".join(self._amount(code, amounts[code]) for code in sorted(amounts))

    def day(self, instant: str) -> str:
        """Return the local day of an instant."""
        local = to_datetime(instant).astimezone(self._zone)
        if self._english:
            return f"{local.day} {MONTHS[local.month - 1]} {local.year}"
        return f"{local.day:02d}/{local.month:02d}/{local.year}"

    def weekday(self, number: int) -> str:
        """Return the name of an ISO weekday."""
        return self._weekdays[number - 1]

    def _amount(self, currency: str, amount: str) -> str:
        whole, _, fraction = amount.partition(".")
        digits = self._marked(f"{int(whole):,}" + (f".{fraction}" if fraction else ""))
        symbol = _SYMBOLS.get(currency)
        if symbol and self._english:
            return f"{symbol}{digits}"
        return f"{symbol or currency} {digits}"

    def _marked(self, digits: str) -> str:
        return digits if self._english else digits.translate(_SWAPPED)


def quoted(text: str) -> str:
    """Return text as a JSON string that is safe inside any markup, cut to `MAX_TEXT_CHARACTERS`."""
    if len(text) > MAX_TEXT_CHARACTERS:
        text = f"{text[: MAX_TEXT_CHARACTERS - 1]}…"
    return f'"{_UNSAFE.sub(_escaped, text)}"'


_SWAPPED: Final = str.maketrans(",.", ".,")

_HOW: Final[dict[str, Callable[[Wording, Any, Memory, str], str]]] = {
    "q": lambda wording, value, _memory, _name: wording.text(value),
    "w": lambda _wording, value, _memory, _name: _word(str(value)),
    "t": lambda wording, value, _memory, _name: wording.word(value),
    "b": lambda wording, value, _memory, name: wording.true(name, value),
    "m": lambda wording, value, memory, _name: wording.money(value, memory),
    "d": lambda wording, value, _memory, _name: wording.day(value),
    "n": lambda wording, value, _memory, _name: wording.number(value),
    "i": lambda wording, value, _memory, _name: wording.whole(value),
    "p": lambda wording, value, _memory, _name: wording.percent(value),
    "k": lambda wording, value, _memory, _name: wording.weekday(value),
}


def _looked_up(memory: Memory, name: str) -> Any:
    if name == "@key":
        return memory.key.partition(":")[2]
    return memory.confidence if name == "@confidence" else memory.value.get(name)


def _word(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else quoted(text)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


@lru_cache(maxsize=256)
def _parsed(template: str) -> tuple[_Part, ...]:
    return tuple(
        _Part(match[2] is None, tuple(_pieces(match[1] if match[2] is None else match[2])))
        for match in _PART.finditer(template)
    )


def _pieces(text: str) -> list[str | _Field]:
    out: list[str | _Field] = []
    end = 0
    for match in _FIELD.finditer(text):
        if literal := text[end : match.start()]:
            out.append(literal)
        out.append(_Field(tuple(match[1].split("|")), match[2]))
        end = match.end()
    if rest := text[end:]:
        out.append(rest)
    return out

"""Finding JSON objects in what a model wrote around, into and after them.

Forgiven: text before and after, fences, trailing or missing commas, line ends inside text, numbers
that are none, and an end that was cut off: what was complete before the cut is kept. Nothing is
guessed: a member whose value is not complete is left out.
"""

import json
import re
from typing import Any, Final

MAX_DEPTH: Final = 16
"""Containers inside each other; an answer has four."""

_MAX_TRIES: Final = 50
"""Opening braces that are looked at, so that a text of nothing else costs no square of its length."""

_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BARE: Final = re.compile(r"[-+.0-9A-Za-z]+")
_BETWEEN: Final = re.compile(r"[\s,]*")
_FENCE_AT_END: Final = re.compile(r"\s*(?:`{3,}|~{3,})\s*\Z")


class _Cut:
    """Stands for a value that the end of the text cut off."""


_CUT: Final = _Cut()


def objects_in(text: str) -> list[dict[str, Any]]:
    """Return the outermost objects that can be read in a text, in their order. Never raises."""
    text = _FENCE_AT_END.sub("", text)
    found: list[dict[str, Any]] = []
    at = text.find("{")
    for _ in range(_MAX_TRIES):
        if at < 0:
            break
        reader = _Reader(text, at)
        try:
            found.append(reader.read_object(1))
        except ValueError:
            at = text.find("{", at + 1)
        else:
            at = text.find("{", reader.at)
    return found


class _Reader:
    """Reads values from a place in a text on. What is no JSON at all is a ValueError."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def read_object(self, depth: int) -> dict[str, Any]:
        """Read the object that opens here, as far as it goes."""
        self._go_in(depth)
        found: dict[str, Any] = {}
        while not self._closes("}"):
            name = self._read_value(depth)
            if isinstance(name, _Cut):
                break
            if not isinstance(name, str):
                message = "the name of a member is text"
                raise ValueError(message)  # noqa: TRY004 - no JSON is a ValueError here
            value = self._read_value(depth) if self._takes_colon() else _CUT
            if isinstance(value, _Cut):
                break
            found[name] = value
        return found

    def _read_array(self, depth: int) -> list[Any]:
        self._go_in(depth)
        found: list[Any] = []
        while not self._closes("]"):
            value = self._read_value(depth)
            if isinstance(value, _Cut):
                break
            found.append(value)
        return found

    def _read_value(self, depth: int) -> Any:
        self._skip()
        match self.text[self.at : self.at + 1]:
            case "":
                return _CUT
            case "{":
                return self.read_object(depth + 1)
            case "[":
                return self._read_array(depth + 1)
            case '"':
                return self._read_token(_STRING)
            case _:
                return self._read_token(_BARE)

    def _read_token(self, pattern: re.Pattern[str]) -> Any:
        """Read text, a number or a word; one that may go on behind the end is cut off."""
        match = pattern.match(self.text, self.at)
        end = len(self.text) if match is None else match.end()
        if match is None and pattern is _BARE:
            message = "no value begins here"
            raise ValueError(message)
        if match is None or (pattern is _BARE and end == len(self.text)):
            self.at = len(self.text)
            return _CUT
        self.at = end
        return json.loads(match[0], strict=False, parse_constant=lambda _: None)

    def _go_in(self, depth: int) -> None:
        if depth > MAX_DEPTH:
            message = "nested too deep"
            raise ValueError(message)
        self.at += 1

    def _closes(self, bracket: str) -> bool:
        """Go over what stands between members; tell whether there are no more."""
        between = _BETWEEN.match(self.text, self.at)
        self.at = self.at if between is None else between.end()
        if self.text[self.at : self.at + 1] == bracket:
            self.at += 1
            return True
        return self.at >= len(self.text)

    def _takes_colon(self) -> bool:
        """Go over the colon; False if the text ends before it."""
        self._skip()
        if self.at >= len(self.text):
            return False
        if self.text[self.at] != ":":
            message = "a colon is missing"
            raise ValueError(message)
        self.at += 1
        return True

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

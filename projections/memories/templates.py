"""Message templates: `{{ type.key.field | default }}`, filled from a lead's memories.

A variable names the field of a memory's value: `purchase.last_transaction.amount`,
`form.sat_survey_2026:score.answer`, `purchase.totals.totalSpent.BRL`. Nothing is ever executed, and
what was filled in is not read again.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from domain import canonical
from projections.memories.render import Memory

_PLACE: Final = re.compile(r"\{\{([^{}|]+)(?:\|([^{}]*))?\}\}")


class Filled(NamedTuple):
    """A filled text, and the variables that had neither value nor default, each once, in order."""

    text: str
    missing: tuple[str, ...]


def fill(text: str, memories: Sequence[Memory], *, strict: bool = False) -> Filled:
    """Return the text with every variable replaced by its value.

    One without a value becomes its default. Without a default it is missing, and nothing takes its
    place; with `strict` it stays in the text as it is, so that no half-filled message looks whole.
    """
    values = _by_name(memories)
    missing: dict[str, None] = {}

    def filled(place: re.Match[str]) -> str:
        variable: str = place[1].strip()
        default: str | None = place[2]
        if not variable:
            return place[0]
        value = _found(values, variable)
        if value is not None:
            return _text(value)
        if default is not None:
            return default.strip()
        missing[variable] = None
        return place[0] if strict else ""

    return Filled(_PLACE.sub(filled, text), tuple(missing))


def resolve(memories: Sequence[Memory], variable: str) -> Any:
    """Return the value of a variable as the memory holds it, None if there is none."""
    return _found(_by_name(memories), variable)


def _by_name(memories: Sequence[Memory]) -> dict[str, dict[str, Any]]:
    return {f"{each.memory_type}.{each.key}": each.value for each in memories}


def _found(values: Mapping[str, dict[str, Any]], variable: str) -> Any:
    """Look for the longest key first: keys may have dots of their own."""
    end = variable.rfind(".")
    while end > 0:
        value = values.get(variable[:end])
        if value is not None:
            return _member(value, variable[end + 1 :])
        end = variable.rfind(".", 0, end)
    return None


def _member(value: dict[str, Any], path: str) -> Any:
    found: Any = value
    for name in path.split("."):
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(_text(each) for each in value)
    return canonical.dumps(value).decode()

"""What an agent may read of a lead's memories: short lines under a budget of tokens.

The best memories that fit are shown, grouped in fixed sections and sorted by key, so that the text
changes little from one turn to the next and a provider's prompt cache holds. Nothing that came with
an event can close the block or begin a line of its own (`projections.memories.wording`).
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from domain import canonical
from domain.instants import to_datetime
from projections.memories.phrases import ABOUT, PORTUGUESE, SECTIONS
from projections.memories.render import Memory
from projections.memories.wording import Wording

BYTES_PER_TOKEN: Final = 4
"""Of UTF-8. An estimate that needs no model's vocabulary; for Portuguese it is on the safe side."""

_WEIGHTS: Final = {
    "purchase": 100,
    "form": 95,
    "preference": 90,
    "support": 85,
    "fact": 80,
    "interest": 70,
    "behavioral": 60,
    "campaign": 40,
}
_OTHER_WEIGHT: Final = 50
_HALVES_EVERY_DAYS: Final = 60
_MAX_HALVINGS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Memories as text for an agent.

    `tokens` is the UTF-8 size of `text` in quarters, never more than the budget. `included` and
    `omitted` are memories as `type/key`: the ones shown as they appear, the others best first.
    Equal inputs give equal bytes and one `digest`.
    """

    text: str
    tokens: int
    included: tuple[str, ...]
    omitted: tuple[str, ...]
    digest: str


def context(
    memories: Sequence[Memory],
    *,
    now: str,
    budget: int,
    locale: str = PORTUGUESE,
    format: str = "xml",  # noqa: A002 - what the API calls it
    timezone: str = "America/Sao_Paulo",
) -> Context:
    """Return the best memories that fit.

    Args:
        memories: of one lead; those that have expired by `now` are left out.
        now: the instant of reading, fixed-width; the older a memory, the less it counts.
        budget: of tokens. Where it does not even hold an empty block, the text is empty.
        locale: one of `wording.LOCALES`.
        format: "xml", "markdown" or "json".
        timezone: of the days that are named.

    Raises:
        KeyError: another locale, format or time zone.
    """
    wording = Wording(locale, timezone)
    sections = SECTIONS[locale]
    block = _Block(_SHAPES[format], ABOUT[locale], budget * BYTES_PER_TOKEN)
    left_out: list[str] = []
    for memory in sorted(memories, key=lambda each: _rank(each, now)):
        name = f"{memory.memory_type}/{memory.key}"
        section = sections.get(memory.memory_type, memory.memory_type)
        if _expired(memory, now) or not block.add(section, name, wording.phrase(memory)):
            left_out.append(name)
    order = [*sections.values(), *sorted(block.lines.keys() - set(sections.values()))]
    text, included = block.written([section for section in order if section in block.lines])
    return Context(
        text=text,
        tokens=-(-len(text.encode()) // BYTES_PER_TOKEN),
        included=included,
        omitted=tuple(left_out),
        digest=canonical.digest(text),
    )


def score(memory: Memory, now: str) -> int:
    """Return how much a memory matters now: its type, how sure it is, and how old, in integers."""
    weight = _WEIGHTS.get(memory.memory_type, _OTHER_WEIGHT)
    age = (to_datetime(now) - to_datetime(memory.updated_at)).days
    halvings = min(max(age, 0) // _HALVES_EVERY_DAYS, _MAX_HALVINGS)
    return weight * int(Decimal(memory.confidence) * 1000) >> halvings


class _Shape(NamedTuple):
    """The parts of a format. `%` stands for the name of a section, or for what the block is about."""

    opening: str
    closing: str
    section_opening: str
    section_closing: str
    line: Callable[[str], str]
    between: str = ""


_SHAPES: Final = {
    "xml": _Shape(
        '<lead_memory about="%">\n',
        "</lead_memory>\n",
        "<%>\n",
        "</%>\n",
        "- {}\n".format,
    ),
    "markdown": _Shape("# lead_memory: %\n", "", "## %\n", "", "- {}\n".format),
    "json": _Shape(
        '{"about":"%","lead_memory":{',
        "}}",
        '"%":[',
        "]",
        lambda phrase: json.dumps(phrase, ensure_ascii=False),
        between=",",
    ),
}


class _Block:
    """A block that takes lines as long as its bytes suffice."""

    def __init__(self, shape: _Shape, about: str, room: int) -> None:
        self.lines: dict[str, dict[str, str]] = {}
        self._shape = shape
        self._opening = shape.opening.replace("%", about)
        self._room = room - _bytes(self._opening) - _bytes(shape.closing)
        self._usable = self._room >= 0

    def add(self, section: str, name: str, phrase: str) -> bool:
        """Take a line, unless it and a section it opens would not fit."""
        shape = self._shape
        line = shape.line(phrase)
        size = _bytes(line)
        if section not in self.lines:
            size += _bytes(shape.section_opening.replace("%", section))
            size += _bytes(shape.section_closing.replace("%", section))
        if self.lines:
            # In front of the line, or in front of the section that it opens.
            size += _bytes(shape.between)
        if size > self._room:
            return False
        self._room -= size
        self.lines.setdefault(section, {})[name] = line
        return True

    def written(self, order: Iterable[str]) -> tuple[str, tuple[str, ...]]:
        """Return the text and the names in it, sections in this order, lines by name."""
        if not self._usable:
            return "", ()
        shape = self._shape
        names: list[str] = []
        sections: list[str] = []
        for section in order:
            lines = self.lines[section]
            names.extend(sorted(lines))
            body = shape.between.join(lines[name] for name in sorted(lines))
            opening = shape.section_opening.replace("%", section)
            sections.append(opening + body + shape.section_closing.replace("%", section))
        body = shape.between.join(sections)
        return self._opening + body + shape.closing, tuple(names)


def _rank(memory: Memory, now: str) -> tuple[int, str, str]:
    return -score(memory, now), memory.memory_type, memory.key


def _expired(memory: Memory, now: str) -> bool:
    return memory.expires_at is not None and memory.expires_at <= now


def _bytes(text: str) -> int:
    return len(text.encode())

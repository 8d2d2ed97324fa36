"""What is known of a deal beside its name, as lines of its description that people read."""

import threading
from collections.abc import Mapping
from typing import Final

PARTS: Final = ("segment", "intent", "notes")
"""The logical properties that share the description, so none of them can be written alone."""

_LABELS: Final = {"segment": "Segmento", "intent": "Intenção"}
_NOTES: Final = "Anotações:"
_REMEMBERED: Final = 1_000
"""Deals; who reads before writing needs the last one only."""


class Descriptions:
    """What the descriptions said that were read last, until each is written over. For threads too.

    A part is written with the others, and who writes has just read: so nothing is read twice.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts: dict[str, dict[str, str]] = {}

    def remember(self, deal_id: str, properties: Mapping[str, str]) -> None:
        """Take in what a whole reading of a deal says."""
        with self._lock:
            self._parts.pop(deal_id, None)
            self._parts[deal_id] = {name: properties.get(name, "") for name in PARTS}
            while len(self._parts) > _REMEMBERED:
                del self._parts[next(iter(self._parts))]

    def take(self, deal_id: str) -> dict[str, str] | None:
        """Return the parts of a description that was read, once; None if it must be read."""
        with self._lock:
            return self._parts.pop(deal_id, None)


def written(parts: Mapping[str, str]) -> str:
    """Return the description of these parts; "" if there is nothing to tell."""
    lines = [
        f"{label}: {' '.join(parts[name].split())}"
        for name, label in _LABELS.items()
        if parts.get(name, "").strip()
    ]
    notes = parts.get("notes", "").strip()
    return "\n".join([*lines, _NOTES, notes] if notes else lines)


def read(text: str) -> dict[str, str]:
    """Return the parts of a description. What people wrote into it counts as notes."""
    lines = text.replace("\r\n", "\n").split("\n")
    title = lines.index(_NOTES) if _NOTES in lines else len(lines)
    parts: dict[str, str] = {}
    rest = []
    for line in lines[:title]:
        name = next(
            (name for name, label in _LABELS.items() if _is_of(line, label, name, parts)), ""
        )
        if name:
            parts[name] = line.partition(":")[2].strip()
        else:
            rest.append(line)
    notes = "\n".join([*rest, *lines[title + 1 :]]).strip()
    return {**parts, "notes": notes} if notes else parts


def _is_of(line: str, label: str, name: str, parts: Mapping[str, str]) -> bool:
    return name not in parts and line.startswith(f"{label}: ")

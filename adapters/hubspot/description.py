"""What is known of a deal beside its name, as lines of its description that people read."""

from collections.abc import Mapping
from typing import Final

PARTS: Final = ("segment", "intent", "notes")
"""The logical properties that share the description, so none of them can be written alone."""

_LABELS: Final = {"segment": "Segmento", "intent": "Intenção"}
_NOTES: Final = "Anotações:"


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

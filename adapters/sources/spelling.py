"""Objects whose fields may be spelled in camelCase or in snake_case."""

import re
from collections.abc import Collection
from functools import cache
from typing import Any, Final

_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])([A-Z])")


class Part:
    """One object of a document, and where it stands. What is no object has no fields."""

    def __init__(self, value: Any, at: str) -> None:
        self.is_object = isinstance(value, dict)
        self.fields: dict[str, Any] = value if self.is_object else {}
        self.at = at

    def get(self, name: str) -> Any:
        """Return a field by its camelCase name, None if there is none."""
        return self.fields.get(self._spelled(name))

    def place(self, name: str) -> str:
        """Point at a field as the sender spelled it."""
        return f"{self.at}/{self._spelled(name)}"

    def part(self, name: str) -> "Part":
        """Return the object that stands in a field."""
        return Part(self.get(name), self.place(name))

    def others(self, names: Collection[str]) -> dict[str, Any]:
        """Return every field but those named, as it was spelled."""
        spelled = {self._spelled(name) for name in names}
        return {name: value for name, value in self.fields.items() if name not in spelled}

    def _spelled(self, name: str) -> str:
        if self.fields.get(name) is not None:
            return name
        snake = _snake(name)
        return snake if self.fields.get(snake) is not None else name


@cache
def _snake(name: str) -> str:
    # Only names that a source asks for come here, so the cache is as small as their number.
    return _CAPITAL.sub(r"_\1", name).lower()

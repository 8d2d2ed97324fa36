"""One request and one answer, as they are on the wire, without the library that carries them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from domain import reading
from domain.errors import MalformedBody

ObjectKind = Literal["contact", "deal"]


class Verb(StrEnum):
    """What a request may do there, which decides what an unclear answer to it means.

    READ changes nothing, whatever its method. WRITE does no harm twice, unless it comes late. CREATE
    may make a second one.
    """

    READ = "READ"
    WRITE = "WRITE"
    CREATE = "CREATE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request. Without a path it cannot be made: an id or a key in it is none."""

    verb: Verb
    method: str
    path: str | None
    params: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    searches: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer that came whole. `body` is its JSON, None if it has none; headers in lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    too_large: bool = False

    @property
    def fields(self) -> Mapping[str, Any]:
        """The members of an object; anything else has none."""
        return self.body if isinstance(self.body, dict) else {}


def decode(content: bytes) -> Any:
    """Return the value of a body, None if it is no JSON. Never raises."""
    try:
        return reading.parse(content)
    except (MalformedBody, RecursionError, ValueError):
        return None


def rows(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list; anything else has none."""
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []

"""What was asked of the simulator: every request, for who wants to know how often and in what order."""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from handlers.simulators.server import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One request, in the order of arrival. No header is kept: one of them is a secret.

    `status` is what was answered; None if the connection ended without an answer. `executed` counts
    how often it was carried out; one that comes late counts when it does. `fault` names what was
    done to it on purpose.
    """

    number: int
    at: str
    method: str
    path: str
    query: dict[str, str]
    body: bytes
    fault: str = ""
    status: int | None = None
    executed: int = 0

    @property
    def document(self) -> Any:
        """The JSON of its body; None if it has none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def is_write(self) -> bool:
        """Whether it changes something."""
        return is_write(self.method, self.path)


class Journal:
    """The last requests. Safe between threads.

    Args:
        size: how many are kept.
    """

    def __init__(self, size: int) -> None:
        self._entries: deque[Entry] = deque(maxlen=size)
        self._count = 0
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Entry]:
        """Yield the requests, the oldest first."""
        with self._lock:
            entries = list(self._entries)
        return iter(entries)

    def __len__(self) -> int:
        """Return how many requests are kept."""
        return len(self._entries)

    def of(self, method: str | None = None, path: str = "*") -> list[Entry]:
        """Return those of a verb, whose path without its query fits a pattern."""
        return [
            entry
            for entry in self
            if method in {None, entry.method} and fnmatchcase(entry.path, path)
        ]

    @property
    def writes(self) -> list[Entry]:
        """Those that change something."""
        return [entry for entry in self if entry.is_write]

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._entries.clear()

    def begin(self, request: Request, at: str, fault: str) -> int:
        """Keep that a request came; return its number."""
        address = urlsplit(request.path)
        with self._lock:
            self._count += 1
            entry = Entry(
                number=self._count,
                at=at,
                method=request.method,
                path=address.path,
                query=dict(parse_qsl(address.query, keep_blank_values=True)),
                body=request.body,
                fault=fault,
            )
            self._entries.append(entry)
            return entry.number

    def answered(self, number: int, status: int) -> None:
        """Keep what a request was answered with."""
        self._change(number, lambda entry: replace(entry, status=status))

    def executed(self, number: int) -> None:
        """Keep that a request was carried out."""
        self._change(number, lambda entry: replace(entry, executed=entry.executed + 1))

    def _change(self, number: int, change: Callable[[Entry], Entry]) -> None:
        with self._lock:
            if not self._entries:
                return
            # Numbers are dense, so a place follows from a number.
            place = number - self._entries[0].number
            if 0 <= place < len(self._entries):
                self._entries[place] = change(self._entries[place])


def is_write(method: str, path: str) -> bool:
    """Tell whether a request changes something: a search or a batch read does not."""
    return method != "GET" and not path.endswith(("/search", "/batch/read"))

"""Sees every connection this process opens."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_watching: list[list[Any]] = []
_hooks: list[Any] = []


@contextmanager
def connections() -> Iterator[list[Any]]:
    """Lend the list of addresses that are connected to from now on."""
    if not _hooks:
        # A hook stays for good, so there is one for all tests.
        _hooks.append(_see)
        sys.addaudithook(_see)
    seen: list[Any] = []
    _watching.append(seen)
    try:
        yield seen
    finally:
        _watching.remove(seen)


def _see(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        for each in _watching:
            each.append(arguments[1])

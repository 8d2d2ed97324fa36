"""Ports of what cannot be repeated: acting on the world, and asking it what only it knows.

Projections cannot import this module (an import contract), so a replay can neither act nor
depend on when or where it runs.
"""

from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def __call__(self) -> str:
        """Return now, fixed-width UTC (`domain.instants`)."""
        ...


class IdFactory(Protocol):
    """Makes identifiers nobody else has."""

    def __call__(self) -> str:
        """Return a UUIDv7 as text: unique, and later ids sort later."""
        ...

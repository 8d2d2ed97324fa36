"""Time as a HubSpot tells it, and a clock that stands still until it is moved."""

import threading
from datetime import timedelta
from typing import Final

from domain import instants

_MILLISECONDS: Final = 23
"""How much of a fixed-width instant is kept: `2026-03-20T12:00:00.000`."""


class VirtualClock:
    """Tells a time that only passes when it is told to. Safe between threads."""

    def __init__(self, now: str = "2026-03-20T12:00:00.000000Z") -> None:
        self._now = now
        self._lock = threading.Lock()

    def __call__(self) -> str:
        """Return now, fixed-width UTC."""
        with self._lock:
            return self._now

    def advance(self, seconds: float) -> str:
        """Let so many seconds pass; return the time it is then."""
        with self._lock:
            self._now = after(self._now, seconds)
            return self._now


def after(instant: str, seconds: float) -> str:
    """Return the instant so many seconds later."""
    return instants.shift(instant, timedelta(seconds=seconds))


def seconds(instant: str) -> float:
    """Return the seconds since 1970."""
    return instants.to_datetime(instant).timestamp()


def stamp(instant: str) -> str:
    """Return the instant as answers have it: milliseconds, and a Z."""
    return f"{instant[:_MILLISECONDS]}Z"


def midnight(instant: str, utc_offset_hours: int) -> str:
    """Return the day it is where the account is."""
    return after(instant, utc_offset_hours * 3600)[:10]

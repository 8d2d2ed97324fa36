"""How fast an account may be asked: one pacer for a process, which keeps each request its turn."""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

START_BURST: Final = 100
"""Requests in `INTERVAL_S` until an answer says how many. Source: research/crm.md §1.2, the least."""

INTERVAL_S: Final = 10.0
"""Source: as above."""

SEARCHES_PER_S: Final = 5
"""Of an account; no answer tells it. Source: as above."""

MARGIN: Final = 4
"""Requests of each interval that are not used: what is on its way may arrive later than it left."""

_MOST: Final = 1_000
"""Requests in an interval, whatever an answer says."""
_LONGEST_S: Final = 60.0


class _Window:
    """Turns of which at most so many lie in any interval; each is given once, in order."""

    def __init__(self, allowed: int, interval_s: float) -> None:
        self.allowed = allowed
        self.interval_s = interval_s
        self.closed_until = 0.0
        self._turns: deque[float] = deque(maxlen=_MOST)

    def turn(self, now: float) -> float:
        at = max(now, self.closed_until)
        if self._turns:
            at = max(at, self._turns[-1])
        if len(self._turns) >= self.allowed:
            at = max(at, self._turns[-self.allowed] + self.interval_s)
        self._turns.append(at)
        return at


class Pacer:
    """Holds requests back until they may go. Threads may share one.

    Args:
        now: a clock in seconds that never goes back.
        sleep: waits for so many seconds.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._now = now
        self._sleep = sleep
        self._lock = threading.Lock()
        self._requests = _Window(START_BURST - MARGIN, INTERVAL_S)
        self._searches = _Window(SEARCHES_PER_S, 1.0)
        self._day_left: float | None = None

    @property
    def allowed(self) -> tuple[int, float]:
        """How many requests go out in how many seconds, by what the account has told so far."""
        with self._lock:
            return self._requests.allowed, self._requests.interval_s

    @property
    def day_left(self) -> float | None:
        """The share of a day's requests that is left, 0 to 1, as an answer told last; None before."""
        with self._lock:
            return self._day_left

    def reserve(self, *, searches: bool = False) -> float:
        """Return in how many seconds a request may go: the turn is taken, and nobody else's."""
        with self._lock:
            now = self._now()
            # Searches have a limit of their own, and count to no other.
            window = self._searches if searches else self._requests
            return max(0.0, window.turn(now) - now)

    def hold(self, *, searches: bool = False) -> None:
        """Wait for the turn of a request."""
        wait_s = self.reserve(searches=searches)
        if wait_s > 0.0:
            self._sleep(wait_s)

    def told(self, headers: Mapping[str, str]) -> None:
        """Take in what an answer says of the limit; names of headers are in lower case.

        Others may use the same limit, so what is left counts, not only what was sent from here.
        """
        most = _number(headers.get("x-hubspot-ratelimit-max"))
        left = _number(headers.get("x-hubspot-ratelimit-remaining"))
        interval_ms = _number(headers.get("x-hubspot-ratelimit-interval-milliseconds"))
        a_day = _number(headers.get("x-hubspot-ratelimit-daily"))
        of_it = _number(headers.get("x-hubspot-ratelimit-daily-remaining"))
        with self._lock:
            if a_day and of_it is not None:
                self._day_left = min(of_it / a_day, 1.0)
            window = self._requests
            if most:
                window.allowed = min(max(1, most - MARGIN), _MOST)
            if interval_ms:
                window.interval_s = min(interval_ms / 1000, _LONGEST_S)
            if left is not None and left <= MARGIN:
                # The limit rolls: a part of it is free again soon, all of it after an interval.
                wait_s = window.interval_s if left == 0 else window.interval_s / 10
                window.closed_until = max(window.closed_until, self._now() + wait_s)


def _number(header: str | None) -> int | None:
    text = (header or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None

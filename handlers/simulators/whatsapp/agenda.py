"""What is to be done later: a queue by time, worked off by threads of its own."""

import heapq
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Final

_PATIENCE_S: Final = 10.0
"""How long to wait for a thread that is to end."""


Asked = tuple[float, Callable[[], None]]
"""After how many of an agenda's seconds to do what. It must not raise."""


@dataclass(frozen=True, slots=True)
class Place:
    """A moment of an agenda, and a place in the order of what is asked for."""

    at: float
    number: int


@dataclass(order=True, slots=True)
class _Due:
    at: float
    number: int
    within: int
    act: Callable[[], None] = field(compare=False)


class Agenda:
    """Does things when they are due, in the order of their time, then of being asked for.

    Its seconds pass `speed` times as fast as real ones. With an infinite speed nothing is waited
    for: its clock jumps to what is due next, so that a delay costs nothing and yet orders what was
    asked for together, or while it paused. With one thread the order is exact; with more, what is
    due may overtake what is being done.
    """

    def __init__(self, *, speed: float, threads: int) -> None:
        self._speed = speed
        self._count = threads
        self._due: list[_Due] = []
        self._numbers = count()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._busy = 0
        self._begun = 0
        self._ended = False
        self._paused = False
        self._jumped = 0.0
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """How much of its own time has passed."""
        if math.isinf(self._speed):
            return self._jumped
        return (time.monotonic() - self._started) * self._speed

    def start(self) -> None:
        """Begin to work; what was asked for before waits until now."""
        for number in range(self._count):
            thread = threading.Thread(target=self._work, name=f"webhooks-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """End, after what is being done; what is due later is dropped."""
        with self._changed:
            self._ended = True
            self._due.clear()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(_PATIENCE_S)

    def later(self, *asked: Asked) -> None:
        """Do each after so many of its seconds; those asked for together keep their order."""
        with self._changed:
            self._ask(self._place(), asked)

    def begin(self) -> Place:
        """Keep a place for what is asked for at the `end`; nothing is settled until then."""
        with self._changed:
            self._begun += 1
            return self._place()

    def end(self, place: Place, *asked: Asked) -> None:
        """Do each as if it had been asked for when the place was kept."""
        with self._changed:
            self._begun -= 1
            self._ask(place, asked)
            self._changed.notify_all()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Start nothing meanwhile; what is asked for is done afterwards.

        What was begun meanwhile has ended then: a place that was kept in time is taken in time.
        """
        self._pause(paused=True)
        try:
            yield
        finally:
            with self._changed:
                self._changed.wait_for(lambda: not self._begun, _PATIENCE_S)
            self._pause(paused=False)

    def settle(self, timeout_s: float) -> bool:
        """Wait until nothing is left to do; tell whether it came to that in real seconds."""
        with self._changed:
            return self._changed.wait_for(self._is_settled, timeout_s)

    def _is_settled(self) -> bool:
        return not (self._due or self._busy or self._begun)

    def _place(self) -> Place:
        return Place(self.seconds, next(self._numbers))

    def _ask(self, place: Place, asked: Sequence[Asked]) -> None:
        if self._ended:
            return
        for within, (after_s, act) in enumerate(asked):
            due = _Due(place.at + max(after_s, 0.0), place.number, within, act)
            heapq.heappush(self._due, due)
        self._changed.notify_all()

    def _pause(self, *, paused: bool) -> None:
        with self._changed:
            self._paused = paused
            self._changed.notify_all()

    def _work(self) -> None:
        while (act := self._next()) is not None:
            try:
                act()
            finally:
                with self._changed:
                    self._busy -= 1
                    self._changed.notify_all()

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            while not self._ended:
                wait_s = self._wait_s()
                if wait_s is not None and wait_s <= 0:
                    due = heapq.heappop(self._due)
                    self._jumped = max(self._jumped, due.at)
                    self._busy += 1
                    return due.act
                self._changed.wait(wait_s)
        return None

    def _wait_s(self) -> float | None:
        """Return the real seconds until something is due; None if nothing is to be done."""
        if not self._due or self._paused:
            return None
        return (self._due[0].at - self.seconds) / self._speed

"""The embedded queue: leads that are ready, each worked on by one thread at a time.

It keeps nothing that matters: what waits for a lead is a row in the index of pending turns, written
in the commit that made it wait. After a crash the first poll of that index finds every lead again.
"""

import threading
from collections.abc import Callable
from typing import Final

from domain.ports.effects import ReadyLead

_LONGEST_WAIT_S: Final = 60.0


class EmbeddedQueue:
    """A set of leads, first come first served; a lead in work is not given out again meanwhile.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._ready: dict[ReadyLead, float] = {}
        self._working: set[ReadyLead] = set()
        self._failures: dict[ReadyLead, int] = {}
        self._closed = False

    def wake(self, organization_id: str, lead: str, message_id: str = "") -> None:  # noqa: ARG002 - the port
        """Make a lead ready now, also one that waits after a failure."""
        with self._changed:
            self._ready[ReadyLead(organization_id, lead)] = self._clock()
            self._changed.notify()

    def found(self, organization_id: str, lead: str) -> None:
        """Make a lead ready that was found waiting, unless it is known to wait."""
        with self._changed:
            each = ReadyLead(organization_id, lead)
            if each not in self._ready and each not in self._working:
                self._ready[each] = self._clock()
                self._changed.notify()

    def take(self, timeout_s: float) -> ReadyLead | None:
        """Return the lead that has been ready the longest; None if none was in time."""
        until = self._clock() + timeout_s
        with self._changed:
            while not self._closed:
                now = self._clock()
                due = min(
                    (
                        (at, each)
                        for each, at in self._ready.items()
                        if each not in self._working and at <= now
                    ),
                    default=None,
                )
                if due is not None:
                    del self._ready[due[1]]
                    self._working.add(due[1])
                    return due[1]
                if now >= until:
                    return None
                self._changed.wait(min(until - now, 0.05))
        return None

    def done(self, lead: ReadyLead) -> None:
        """Take a lead back that was worked on."""
        with self._changed:
            self._working.discard(lead)
            self._failures.pop(lead, None)
            self._changed.notify()

    def failed(self, lead: ReadyLead, after_s: float = 1.0) -> float:
        """Take a lead back that could not be worked on; return the seconds until it is ready.

        The wait doubles with each failure in a row, to a minute.
        """
        with self._changed:
            self._working.discard(lead)
            failures = self._failures.get(lead, 0)
            self._failures[lead] = failures + 1
            wait = min(_LONGEST_WAIT_S, after_s * 2.0 ** min(failures, 10))
            self._ready.setdefault(lead, self._clock() + wait)
            self._changed.notify()
            return wait

    def idle(self) -> bool:
        """Tell whether nothing is ready or in work."""
        with self._changed:
            return not self._ready and not self._working

    def close(self) -> None:
        """Let every `take` return."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

"""How fast WhatsApp may be written to: per person and per number of ours, without waiting here."""

import threading
from collections.abc import Callable
from typing import Final

PAIR_INTERVAL_S: Final = 6.0
"""Between two messages to one person. Source: research/whatsapp.md §5.1, error 131056."""

PAIR_BURST: Final = 45
"""Messages to one person that may be sent at once, borrowed from later. Source: as above."""

NUMBER_PER_S: Final = 80.0
"""Messages a second of one number. Source: Meta; 20 where the number is in the phone app too."""

MAX_PAIRS: Final = 10_000
"""People whose last messages are remembered."""

_NO_TIME_S: Final = 1e-6
"""What sums of fractions may be wrong by, and nobody waits for."""


class _Bucket:
    """A token bucket kept as one time per key: when it will be full again (GCRA).

    Of more than `most` keys those that are full are forgotten, then those that are nearly so:
    forgetting lets a message go early, and the channel's own answer delays it then.
    """

    def __init__(self, interval_s: float, burst: int, most: int) -> None:
        self._interval_s = interval_s
        self._credit_s = interval_s * (burst - 1)
        self._most = most
        self._full_at: dict[object, float] = {}

    def __len__(self) -> int:
        return len(self._full_at)

    def wait_s(self, key: object, now: float) -> float:
        wait_s = self._full_at.get(key, now) - self._credit_s - now
        return wait_s if wait_s > _NO_TIME_S else 0.0

    def take(self, key: object, now: float) -> None:
        self._full_at[key] = max(self._full_at.get(key, now), now) + self._interval_s
        if len(self._full_at) > self._most:
            self._forget(now)

    def _forget(self, now: float) -> None:
        kept = [(at, key) for key, at in self._full_at.items() if at > now]
        kept.sort(key=lambda each: each[0])
        # Half of it, so that the next one to forget is far away.
        self._full_at = {key: at for at, key in kept[-(self._most // 2) :]}


class Pacing:
    """Says how long a message must wait. One for a process; threads may share it.

    Args:
        now: a clock in seconds that never goes back.
        per_second: messages a second of each number.
    """

    def __init__(self, now: Callable[[], float], *, per_second: float = NUMBER_PER_S) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._pairs = _Bucket(PAIR_INTERVAL_S, PAIR_BURST, MAX_PAIRS)
        self._numbers = _Bucket(1 / per_second, max(1, int(per_second)), MAX_PAIRS)

    def delay(self, account: str, to: str) -> float:
        """Return 0.0 if a message may be sent now, which then counts as sent.

        Else the seconds after which to ask again; nothing counts as sent then.
        """
        with self._lock:
            now = self._now()
            pair = (account, to)
            wait_s = max(self._pairs.wait_s(pair, now), self._numbers.wait_s(account, now))
            if wait_s <= 0.0:
                self._pairs.take(pair, now)
                self._numbers.take(account, now)
            return wait_s

    def remembered(self) -> int:
        """Return of how many people something is remembered."""
        return len(self._pairs)

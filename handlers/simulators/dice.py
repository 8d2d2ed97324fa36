"""Random numbers of a simulator: the same for the same seed, whichever thread asks first."""

import threading
from collections import Counter
from random import Random


class Dice:
    """Random numbers that do not depend on which thread asks first.

    Every question has a name, for example a phone; its n-th answer is the same in every run with
    the same random numbers to begin with.
    """

    def __init__(self, random: Random) -> None:
        self.base = random.getrandbits(64)
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def roll(self, name: str) -> Random:
        """Return the random numbers of the next time this is asked."""
        return Random(f"{self.base}:{name}:{self.count(f'roll:{name}')}")  # noqa: S311 - no secret

    def count(self, name: str) -> int:
        """Return how many times this was counted, this one included."""
        with self._lock:
            self._asked[name] += 1
            return self._asked[name]

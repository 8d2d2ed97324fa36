"""Numbers a service tells of itself, in one form for whoever collects them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Unit = Literal["Count", "Seconds", "Percent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One number, or several observations of one thing.

    Args:
        name: in capitals, as CloudWatch has it.
        says: what it is, for who sees it without this code.
        values: one number, or every observation there was.
        label: a name and a value that tell numbers of one name apart.
        adds: what was counted since the last time, not how things stand.
    """

    name: str
    says: str
    values: tuple[float, ...]
    unit: Unit = "Count"
    label: tuple[str, str] | None = None
    adds: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Observations by size. `counts` has one number a bound, at most that, and one for the rest."""

    name: str
    says: str
    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    total: float


class Buckets:
    """Sorts observations as they come; keeps none of them."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(sorted(bounds))
        self._counts = [0] * (len(self._bounds) + 1)
        self._total = 0.0

    def observe(self, value: float) -> None:
        """Take in one observation."""
        fits = (place for place, bound in enumerate(self._bounds) if value <= bound)
        self._counts[next(fits, len(self._bounds))] += 1
        self._total += value

    def histogram(self, name: str, says: str) -> Histogram:
        """Return what was observed so far."""
        return Histogram(
            name=name,
            says=says,
            bounds=self._bounds,
            counts=tuple(self._counts),
            total=self._total,
        )

"""How things are timed: in turns, so that a machine that slows down slows both sides alike."""

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Result:
    """One benchmark: what was measured, against which budget, and whether that holds."""

    name: str
    unit: str
    value: float
    budget: str = ""
    holds: bool | None = None
    more: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def rate(count: int, work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return count / (time.perf_counter() - start)


def in_turns(
    rounds: int, ours: Callable[[int], float], peer: Callable[[int], float]
) -> tuple[float, float, float]:
    """Return the medians of both rates and of their ratio, round by round."""
    pairs = [(ours(number), peer(number)) for number in range(rounds)]
    ratios = [one / other for one, other in pairs]
    return (
        statistics.median(one for one, _ in pairs),
        statistics.median(other for _, other in pairs),
        statistics.median(ratios),
    )


def at_least(name: str, unit: str, value: float, floor: float, **more: Any) -> Result:
    return Result(name, unit, round(value, 3), f">= {floor:g}", value >= floor, more)


def at_most(name: str, unit: str, value: float, ceiling: float, **more: Any) -> Result:
    return Result(name, unit, round(value, 3), f"<= {ceiling:g}", value <= ceiling, more)

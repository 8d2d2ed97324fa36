"""Numbers in Prometheus' text format, version 0.0.4. Pure.

Source: prometheus.io/docs/instrumenting/exposition_formats.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from handlers.measures import Histogram, Measure

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def exposed(prefix: str, numbers: Iterable[Measure | Histogram]) -> str:
    """Return numbers as text; those of one name stand under one heading, where the first was."""
    families: dict[str, list[Measure | Histogram]] = {}
    for each in numbers:
        families.setdefault(each.name, []).append(each)
    lines = (line for family in families.values() for line in _family(prefix, family))
    return "".join(f"{line}\n" for line in lines)


def _family(prefix: str, family: list[Measure | Histogram]) -> Iterator[str]:
    first = family[0]
    name = prefix + _WORD.sub("_", first.name).lower()
    kind = "histogram"
    if isinstance(first, Measure):
        kind = "counter" if first.adds else "gauge"
        name += "_total" if first.adds else ""
    yield f"# HELP {name} {_escaped(first.says)}"
    yield f"# TYPE {name} {kind}"
    for each in family:
        yield from _histogram(name, each) if isinstance(each, Histogram) else _lines(name, each)


def _lines(name: str, measure: Measure) -> Iterator[str]:
    label = ""
    if measure.label is not None:
        label = f'{{{measure.label[0]}="{_quoted(measure.label[1])}"}}'
    for value in measure.values:
        yield f"{name}{label} {_number(value)}"


def _histogram(name: str, histogram: Histogram) -> Iterator[str]:
    """Yield its buckets, each with all that are smaller."""
    bounds = [*map(_number, histogram.bounds), "+Inf"]
    so_far = 0
    for bound, count in zip(bounds, histogram.counts, strict=True):
        so_far += count
        yield f'{name}_bucket{{le="{bound}"}} {so_far}'
    yield f"{name}_sum {_number(histogram.total)}"
    yield f"{name}_count {so_far}"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')

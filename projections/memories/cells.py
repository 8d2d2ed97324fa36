"""Cells: what rows of memories are made of, and how they merge.

Merging is commutative and associative, so any order of arrival, any batching and any number of
workers end in the same bytes; sums of floats would not. A cell is named `kind:name`:

    last       [precedence, stamp, value]; the higher precedence wins, then the later stamp
    min, max   an integer, or an instant as text
    add        an integer; the sum
    count      {label: integer}; the sum of each label
    maxmap     {label: integer or instant}; the greatest of each label
    days       {YYYY-MM-DD: [sum, n]}; sums of each day, from 90 days before the newest day on
    newestK    sorted list of elements that compare among themselves (stamps, or lists that begin
               with one); the K greatest of the union; K is 20, 50 or 200

An event gives a `last` cell one value at most: between two values of one stamp the order of arrival
would decide. What is added or compared is never a float; a value of `last` is whatever was stated.
"""

from bisect import bisect_left
from collections.abc import Callable
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, Final

Cells = dict[str, Any]
"""Cell name to value. Values are what JSON gives back: lists, never tuples."""

Contribution = tuple[str, str, Cells]
"""What one event adds to one memory: its type, its key, and the cells to merge."""

AGENT_INFERRED: Final = 0
SYSTEM_COMPUTED: Final = 1
EVENT_DERIVED: Final = 2
USER_DECLARED: Final = 3
SOURCES: Final = ("agent_inferred", "system_computed", "event_derived", "user_declared")
"""Names of the precedences, lowest first: what a person said beats what a model guessed."""

KEPT_DAYS: Final = 90


def stamp(occurred_at: str, event_id: str) -> str:
    """Return the place of an event in the order of meaning, as short text that sorts that way.

    Zeros that end the fraction are left out: `#` sorts below `.` and every digit, so the order of
    times of any precision stays.
    """
    if occurred_at.endswith(".000000Z"):
        return f"{occurred_at[:19]}#{event_id}"
    return f"{occurred_at[:-1].rstrip('0')}#{event_id}"


def instant_of(stamped: str) -> str:
    """Return the fixed-width instant of a stamp."""
    seconds, _, fraction = stamped.partition("#")[0].partition(".")
    return f"{seconds}.{fraction:0<6}Z"


def event_id_of(stamped: str) -> str:
    """Return the event id of a stamp."""
    return stamped.partition("#")[2]


def register(stamped: str, value: Any, precedence: int = EVENT_DERIVED) -> list[Any]:
    """Return a value for a `last` cell."""
    return [precedence, stamped, value]


def merge(cells: Cells, contribution: Cells) -> None:
    """Merge a contribution into cells, in place.

    The contribution is left as it is and may be merged again elsewhere: what cells change later is
    copied, the rest (registers and elements) is shared and never changed.

    Raises:
        KeyError: a cell of an unknown kind.
    """
    for name, value in contribution.items():
        _MERGE_OF[name](cells, name, value)


@lru_cache(maxsize=4096)
def day_before(day: str, days: int) -> str:
    """Return the day (YYYY-MM-DD) that many days before."""
    return (date.fromisoformat(day) - timedelta(days=days)).isoformat()


def _last(cells: Cells, name: str, value: list[Any]) -> None:
    mine = cells.get(name)
    if mine is None or (value[0], value[1]) > (mine[0], mine[1]):
        cells[name] = value


def _min(cells: Cells, name: str, value: Any) -> None:
    mine = cells.get(name)
    if mine is None or value < mine:
        cells[name] = value


def _max(cells: Cells, name: str, value: Any) -> None:
    mine = cells.get(name)
    if mine is None or value > mine:
        cells[name] = value


def _add(cells: Cells, name: str, value: int) -> None:
    cells[name] = cells.get(name, 0) + value


def _count(cells: Cells, name: str, value: dict[str, int]) -> None:
    mine = cells.get(name)
    if mine is None:
        cells[name] = dict(value)
        return
    for label, number in value.items():
        mine[label] = mine.get(label, 0) + number


def _maxmap(cells: Cells, name: str, value: dict[str, Any]) -> None:
    mine = cells.setdefault(name, {})
    for label, challenger in value.items():
        _max(mine, label, challenger)


def _days(cells: Cells, name: str, value: dict[str, list[int]]) -> None:
    mine = cells.setdefault(name, {})
    known = len(mine)
    for day, (total, number) in value.items():
        bucket = mine.get(day)
        if bucket is None:
            mine[day] = [total, number]
        else:
            bucket[0] += total
            bucket[1] += number
    if len(mine) != known:
        floor = day_before(max(mine), KEPT_DAYS)
        for day in [day for day in mine if day < floor]:
            del mine[day]


_Merge = Callable[[Cells, str, Any], None]


def _newest(limit: int) -> _Merge:
    def merge_newest(cells: Cells, name: str, value: list[Any]) -> None:
        mine = cells.get(name)
        if mine is None:
            mine = cells[name] = []
        for element in value:
            if not mine or element > mine[-1]:
                mine.append(element)
                continue
            place = bisect_left(mine, element)
            if mine[place] != element:
                mine.insert(place, element)
        if len(mine) > limit:
            del mine[:-limit]

    return merge_newest


_KINDS: Final[dict[str, _Merge]] = {
    "last": _last,
    "min": _min,
    "max": _max,
    "add": _add,
    "count": _count,
    "maxmap": _maxmap,
    "days": _days,
    **{f"newest{limit}": _newest(limit) for limit in (20, 50, 200)},
}


class _MergeOf(dict[str, _Merge]):
    """Finds the merge of a cell's name; names are few and written in rules, so all are kept."""

    def __missing__(self, name: str) -> _Merge:
        found = self[name] = _KINDS[name.partition(":")[0]]
        return found


_MERGE_OF: Final = _MergeOf()

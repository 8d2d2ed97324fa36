"""The search: an index that is late, and what it can be asked."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from domain import instants
from handlers.simulators.hubspot.answers import JsonObject, Refused, error, malformed
from handlers.simulators.hubspot.moments import seconds
from handlers.simulators.hubspot.records import Record

# Source of every limit: research/crm.md §1.2.
LONGEST_BODY: Final = 3_000
MOST_GROUPS: Final = 5
MOST_FILTERS: Final = 6
MOST_IN_ALL: Final = 18
LARGEST_PAGE: Final = 200
LAST_RESULT: Final = 10_000

_PAGE: Final = 10
_ASSOCIATED: Final = re.compile(r"associations\.(contact|deal)")
_TOKENS: Final = re.compile(r"[\w@.+-]+")
_TEXT_IN: Final = (
    *("email", "firstname", "lastname", "phone", "company", "dealname", "description"),
    *("hs_searchable_calculated_phone_number", "hs_searchable_calculated_mobile_number"),
)

Associated = Callable[[Record], Sequence[str]]


class Filter(NamedTuple):
    """One condition; `values` are those of the operator, in order."""

    name: str
    operator: str
    values: tuple[str, ...]


class Query(NamedTuple):
    """What is searched for. Groups are alternatives, the filters of one hold together."""

    groups: tuple[tuple[Filter, ...], ...]
    text: str
    sort: tuple[str, bool]
    properties: tuple[str, ...]
    after: int
    limit: int


class Index:
    """What a search sees: each write after a while, so the order of two may look turned round."""

    def __init__(self) -> None:
        self._seen: dict[str, list[tuple[float, Record | None]]] = {}

    def note(self, record_id: str, record: Record | None, visible_at: float) -> None:
        """Let a record be seen as it is now from then on; None takes it away."""
        seen = self._seen.setdefault(record_id, [])
        last = seen[-1][0] if seen else visible_at
        seen.append((max(last, visible_at), record))

    def saved(self) -> dict[str, list[tuple[float, Record | None]]]:
        """Return what `restore` puts back."""
        return {record_id: list(seen) for record_id, seen in self._seen.items()}

    def restore(self, saved: dict[str, list[tuple[float, Record | None]]]) -> None:
        """Put back what was to be seen."""
        self._seen = saved

    def visible(self, at: float) -> list[Record]:
        """Return what is seen at a time; earlier ones cannot be asked for any more."""
        found = []
        for seen in self._seen.values():
            place = bisect_right(seen, at, key=lambda each: each[0])
            if not place:
                continue
            del seen[: place - 1]
            if (record := seen[0][1]) is not None:
                found.append(record)
        return found


def read_query(body: JsonObject, size: int, known: Callable[[str], bool]) -> Query:
    """Return what a search is asked for.

    Args:
        body: the document.
        size: how long it is.
        known: tells whether there is such a property.

    Raises:
        Refused: it passes a limit, or is no search.
    """
    groups = body.get("filterGroups", [])
    if not isinstance(groups, list):
        raise malformed("filterGroups must be a list")
    read = tuple(_group(group, known) for group in groups)
    if size > LONGEST_BODY or len(read) > MOST_GROUPS or sum(map(len, read)) > MOST_IN_ALL:
        raise _problem("The request has too many filters or is too long.")
    after, limit = _whole(body.get("after", 0)), _whole(body.get("limit", _PAGE))
    if limit > LARGEST_PAGE or after + limit > LAST_RESULT:
        raise _problem(f"limit is {LARGEST_PAGE}, and no result after {LAST_RESULT} is shown.")
    properties = body.get("properties") or []
    return Query(
        groups=read,
        text=str(body.get("query") or ""),
        sort=_sort(body.get("sorts") or []),
        properties=tuple(map(str, properties)) if isinstance(properties, list) else (),
        after=after,
        limit=limit,
    )


def find(records: Sequence[Record], query: Query, associated: Associated) -> list[Record]:
    """Return what fits, in order; all of it, not a page."""
    found = [record for record in records if _fits(record, query, associated)]
    name, descending = query.sort
    found.sort(key=lambda record: int(record.id))
    found.sort(key=lambda record: _rank(record.shown.get(name, "")), reverse=descending)
    return found


def _fits(record: Record, query: Query, associated: Associated) -> bool:
    shown = record.shown
    if query.text and not any(
        query.text.casefold() in shown.get(name, "").casefold() for name in _TEXT_IN
    ):
        return False
    return not query.groups or any(
        all(_holds(each, record, shown, associated) for each in group) for group in query.groups
    )


def _holds(
    condition: Filter, record: Record, shown: dict[str, str], associated: Associated
) -> bool:
    if _ASSOCIATED.fullmatch(condition.name):
        return any(value in associated(record) for value in condition.values)
    value = shown.get(condition.name)
    if condition.operator in {"HAS_PROPERTY", "NOT_HAS_PROPERTY"}:
        return (value is not None) == (condition.operator == "HAS_PROPERTY")
    # What has no value differs from every value, and is neither less nor more.
    if value is None:
        return condition.operator in {"NEQ", "NOT_IN", "NOT_CONTAINS_TOKEN"}
    return _OPERATORS[condition.operator](value, condition.values)


def _group(group: Any, known: Callable[[str], bool]) -> tuple[Filter, ...]:
    filters = group.get("filters", []) if isinstance(group, dict) else None
    if not isinstance(filters, list):
        raise malformed("a filter group needs filters")
    if len(filters) > MOST_FILTERS:
        raise _problem(f"A filter group has at most {MOST_FILTERS} filters.")
    return tuple(_filter(each, known) for each in filters)


def _filter(asked: Any, known: Callable[[str], bool]) -> Filter:
    if not isinstance(asked, dict):
        raise malformed("a filter is an object")
    name, operator = str(asked.get("propertyName", "")), str(asked.get("operator", ""))
    if operator not in _OPERATORS and operator not in {"HAS_PROPERTY", "NOT_HAS_PROPERTY"}:
        raise malformed("operator is none of the allowed values")
    if not known(name) and not _ASSOCIATED.fullmatch(name):
        raise _problem(f"There was a problem with the property {name}.")
    values = asked.get("values") if operator in {"IN", "NOT_IN"} else [asked.get("value")]
    if operator == "BETWEEN":
        values = [asked.get("value"), asked.get("highValue")]
    if not isinstance(values, list):
        raise malformed(f"{operator} needs values")
    return Filter(name, operator, tuple("" if each is None else str(each) for each in values))


def _sort(sorts: Any) -> tuple[str, bool]:
    first = sorts[0] if isinstance(sorts, list) and sorts else "createdate"
    if isinstance(first, dict):
        return str(first.get("propertyName", "createdate")), first.get("direction") == "DESCENDING"
    return str(first).removeprefix("-"), str(first).startswith("-")


def _whole(value: Any) -> int:
    try:
        return max(int(value), 0)
    except (TypeError, ValueError):
        raise malformed("after and limit are numbers") from None


def _problem(message: str) -> Refused:
    return error(400, "VALIDATION_ERROR", message)


def _rank(value: str) -> tuple[int, float, str]:
    """Return what a value is compared by: numbers and times before texts."""
    try:
        return (0, float(value), "")
    except ValueError:
        pass
    try:
        return (0, seconds(instants.parse_instant(value)) * 1000, "")
    except ValueError:
        return (1, 0.0, value.casefold())


def _is_in(value: str, values: tuple[str, ...]) -> bool:
    return any(_rank(value) == _rank(each) for each in values)


def _has_token(value: str, values: tuple[str, ...]) -> bool:
    tokens = _TOKENS.findall(value.casefold())
    pattern = re.escape(values[0].casefold()).replace(r"\*", ".*")
    return any(re.fullmatch(pattern, token) for token in tokens)


_OPERATORS: Final[dict[str, Callable[[str, tuple[str, ...]], bool]]] = {
    "EQ": _is_in,
    "IN": _is_in,
    "NEQ": lambda value, values: not _is_in(value, values),
    "NOT_IN": lambda value, values: not _is_in(value, values),
    "LT": lambda value, values: _rank(value) < _rank(values[0]),
    "LTE": lambda value, values: _rank(value) <= _rank(values[0]),
    "GT": lambda value, values: _rank(value) > _rank(values[0]),
    "GTE": lambda value, values: _rank(value) >= _rank(values[0]),
    "BETWEEN": lambda value, values: _rank(values[0]) <= _rank(value) <= _rank(values[1]),
    "CONTAINS_TOKEN": _has_token,
    "NOT_CONTAINS_TOKEN": lambda value, values: not _has_token(value, values),
}

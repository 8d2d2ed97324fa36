"""What a commit needs before it has the writer: its limits judged, its columns made.

To measure every item to the byte would be a third of the cost of a commit, and nearly every commit
is far within every limit. So what is surely small is found by lengths alone; only what is not is
measured exactly (`adapters.actions`), with the same answer as on DynamoDB.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from eventsourcing.persistence import StoredEvent

from adapters.actions import actions_of
from adapters.sqlite.forms import EVENT_ID_AT, values_of_event, values_of_head, values_of_row
from domain import limits
from domain.records import Attributes, Commit, Identity, PutHead, Receipt

_SURELY_SHORT: Final = 200
"""Characters. Any two texts of this length fit a key together, even of four bytes a character."""

_SURELY_SMALL: Final = limits.MAX_ITEM_BYTES // 2
"""Bytes of all payloads and attributes of a commit. What else an item holds are names, numbers and
some twenty short texts: far less than the other half, and than 4 MB in a hundred items."""


class Prepared(NamedTuple):
    """A commit, and the columns of what it writes."""

    stored_events: Sequence[StoredEvent]
    commit: Commit
    events: list[tuple[Any, ...]]
    head: tuple[Any, ...]
    rows: list[tuple[Any, ...]]


def measured(stored_events: Sequence[StoredEvent], commit: Commit) -> Prepared:
    """Return a commit that DynamoDB would take too.

    Raises:
        LimitExceeded: it would not.
    """
    if not _is_plain(commit):
        # Before columns are made: it may hold what has no form in them.
        actions_of(stored_events, commit)
    prepared = unmeasured(stored_events, commit)
    if not _surely_fits(prepared):
        actions_of(stored_events, commit)
    return prepared


def unmeasured(stored_events: Sequence[StoredEvent], commit: Commit) -> Prepared:
    """Return a commit of any size."""
    return Prepared(
        stored_events,
        commit,
        [values_of_event(event) for event in stored_events],
        values_of_head(commit.head.head) if isinstance(commit.head, PutHead) else (),
        [values_of_row(row) for row in commit.puts],
    )


def _is_plain(commit: Commit) -> bool:
    """Tell whether all attributes are of the kinds that are stored, and no number is too long."""
    if isinstance(commit.head, PutHead) and not _are_plain(commit.head.head.unknown):
        return False
    return all(
        _are_plain(row.attributes) and (row.ttl is None or type(row.ttl) is int)
        for row in commit.puts
    )


def _are_plain(attributes: Attributes) -> bool:
    for value in attributes.values():
        if type(value) is str or type(value) is bytes:
            continue
        if type(value) is not int or abs(value) > limits.MAX_INTEGER:
            return False
    return True


def _surely_fits(prepared: Prepared) -> bool:
    """Tell whether a commit is far from every limit; False says nothing."""
    _, commit, events, head, rows = prepared
    named = [*(row.key for row in commit.puts), *commit.deletes, *(c.key for c in commit.checks)]
    claims: list[Receipt | Identity] = [*commit.receipts, *commit.identities]
    size = 0
    for columns in (*events, head, *rows, *claims, *named):
        for value in columns:
            if type(value) is str:
                if not 0 < len(value) <= _SURELY_SHORT:
                    return False
            elif type(value) is bytes:
                size += len(value)
    return (
        size < _SURELY_SMALL
        and len(named) + len(claims) + len(events) < limits.MAX_ACTIONS
        and len(set(named)) == len(named)
        and len({claim.key for claim in claims}) == len(claims)
        and len({columns[EVENT_ID_AT] for columns in events}) == len(events)
    )

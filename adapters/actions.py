"""The actions of one transaction, measured before anything is sent: the same for every recorder.

What SQLite takes, DynamoDB takes: at most a hundred actions, one an item, all within the limits of
`domain.limits`, keys of indexes included.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from eventsourcing.persistence import StoredEvent

from adapters.tables import LOG, STATE, Table, check_keys
from domain import items, keys, limits
from domain.limits import Item
from domain.records import Check, CheckHead, Commit, Identity, LeadRecord, PutHead, Receipt, Row

Subject = Receipt | Identity | StoredEvent | PutHead | CheckHead | Row | keys.Key | Check


class Action(NamedTuple):
    """One action: what it is about, and the whole item (of a delete or check, its key)."""

    verb: Literal["put", "delete", "check"]
    table: Table
    item: Item
    subject: Subject


def actions_of(stored_events: Sequence[StoredEvent], commit: Commit) -> list[Action]:
    """Return what one transaction does: guards, events, head, rows, checks, in that order.

    Raises:
        LimitExceeded: DynamoDB would refuse it.
    """
    limits.check_actions(
        len(stored_events)
        + len(commit.receipts)
        + len(commit.identities)
        + len(commit.puts)
        + len(commit.deletes)
        + len(commit.checks)
        + 1
    )
    actions = [*_log_actions(stored_events, commit), *_state_actions(commit)]
    sizes = []
    for action in actions:
        check_keys(action.table, action.item)
        if action.verb == "put":
            sizes.append(limits.check_item(action.item))
    targets = [
        (table.pk.name, item[table.pk.name], item[table.sk.name]) for _, table, item, _ in actions
    ]
    limits.check_transaction(len(actions), sizes, targets)
    return actions


def check_row(row: Row) -> Item:
    """Return the item of a row that is written by itself.

    Raises:
        LimitExceeded: DynamoDB would refuse it.
    """
    item = items.row_item(row)
    check_keys(STATE, item)
    limits.check_item(item)
    return item


def check_rows(rows: Sequence[Row]) -> list[Item]:
    """Return the items of rows that are written in one transaction.

    Raises:
        LimitExceeded: DynamoDB would refuse one of them, or all of them together.
    """
    limits.check_actions(len(rows))
    found = [check_row(row) for row in rows]
    limits.check_transaction(
        len(rows), [limits.item_size(item) for item in found], [row.key for row in rows]
    )
    return found


def row_key(key: keys.Key) -> dict[str, str | int | bytes]:
    """Return the key of a row of the state table as an item."""
    return {STATE.pk.name: key.pk, STATE.sk.name: key.sk}


def head_key(lead: str) -> dict[str, str | int | bytes]:
    """Return the key of a head as an item."""
    return {LOG.pk.name: keys.head(lead), LOG.sk.name: "HEAD"}


def _log_actions(stored_events: Sequence[StoredEvent], commit: Commit) -> Iterator[Action]:
    for receipt in commit.receipts:
        yield Action("put", LOG, items.receipt_item(receipt), receipt)
    for identity in commit.identities:
        yield Action("put", LOG, items.identity_item(identity), identity)
    for event in stored_events:
        yield Action("put", LOG, event_item(event), event)
    if isinstance(commit.head, PutHead):
        yield Action("put", LOG, items.head_item(commit.head.head), commit.head)
    else:
        yield Action("check", LOG, head_key(commit.head.lead), commit.head)


def _state_actions(commit: Commit) -> Iterator[Action]:
    for row in commit.puts:
        yield Action("put", STATE, items.row_item(row), row)
    for key in commit.deletes:
        yield Action("delete", STATE, row_key(key), key)
    for check in commit.checks:
        yield Action("check", STATE, row_key(check.key), check)


def event_item(event: StoredEvent) -> dict[str, str | int | bytes]:
    """Return the item of an event; of one without an envelope, its position and its bytes.

    The sort key of a bare event stands outside every span of time, so no list by time shows it.
    """
    if isinstance(event, LeadRecord):
        return items.event_item(event)
    return {
        LOG.pk.name: str(event.originator_id),
        LOG.sk.name: f"BARE#{event.originator_version:012d}",
        "sequence": event.originator_version,
        "eventType": event.topic,
        "payload": event.state,
    }

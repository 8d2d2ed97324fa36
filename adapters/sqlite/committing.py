"""One commit inside a transaction of the writer: everything of it, or nothing and every reason why.

The happy path asks nothing that the writes themselves tell. Only a commit that failed is taken
back and looked at condition by condition, in the same transaction, as DynamoDB reports it.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final

from eventsourcing.persistence import StoredEvent

from adapters.sqlite.forms import EVENT, HEAD, RECEIPT, ROW
from adapters.sqlite.preparing import Prepared
from adapters.sqlite.reading import head_at, identity_at, receipt_at, row_at
from domain import items
from domain.records import (
    Absent,
    AbsentOrBelow,
    Check,
    CheckHead,
    Commit,
    Condition,
    Equal,
    Identity,
    LeadRecord,
    PutHead,
    Refused,
    Row,
    Value,
)

_PUT_EVENT: Final = (
    f"INSERT INTO events (lead, {EVENT}, raw_payload)"
    f" VALUES ({', '.join('?' * (EVENT.count(',') + 3))})"
)
_PUT_RECEIPT: Final = f"INSERT INTO receipts ({RECEIPT}) VALUES (?, ?, ?, ?, ?, ?)"
_PUT_IDENTITY: Final = "INSERT INTO identities (key, lead) VALUES (?, ?)"
_PUT_FIRST_HEAD: Final = f"INSERT INTO heads ({HEAD}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_PUT_HEAD: Final = (
    "UPDATE heads SET organization_id = ?2, version = ?3, projected = ?4, fold_version = ?5,"
    " rev = ?6, goal = ?7, unknown = ?8 WHERE lead = ?1 AND rev = ?9"
)
PUT_ROW: Final = (
    f"INSERT INTO rows ({ROW}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (pk, sk) DO UPDATE SET"
    " gsi1pk = excluded.gsi1pk, gsi1sk = excluded.gsi1sk, ttl = excluded.ttl,"
    " attributes = excluded.attributes"
)
DELETE_ROW: Final = "DELETE FROM rows WHERE pk = ? AND sk = ?"
_HAS_EVENT: Final = (
    "SELECT 1 FROM events WHERE lead = ?1 AND sequence = ?2"
    " UNION ALL SELECT 1 FROM events WHERE lead = ?1 AND occurred_at = ?3 AND event_id = ?4"
)


def put_commit(connection: sqlite3.Connection, prepared: Prepared) -> list[int]:
    """Write one commit inside the transaction that runs, and return the ids of its events.

    Raises:
        Refused: with every condition that does not hold; nothing of the commit was written.
    """
    connection.execute("SAVEPOINT one_commit")
    try:
        if _conditions_hold(connection, prepared.commit) and _put_head(connection, prepared):
            ids = _put_everything_else(connection, prepared)
            connection.execute("RELEASE one_commit")
            return ids
    except sqlite3.IntegrityError:
        _take_back(connection)
    except BaseException:
        _take_back(connection)
        raise
    else:
        _take_back(connection)
    raise _refused(connection, prepared.stored_events, prepared.commit)


def holds(condition: Condition, row: Row | None) -> bool:
    """Tell whether a condition holds for a row as it stands, None if there is none."""
    item = None if row is None else items.row_item(row)
    match condition:
        case Absent():
            return item is None
        case Equal(attribute, value):
            return item is not None and item.get(attribute) == value
        case AbsentOrBelow(attribute, value):
            return item is None or _is_below(item.get(attribute), value)


def _is_below(value: Value | None, bound: Value) -> bool:
    """Compare as DynamoDB does: values of two types have no order; text by code points."""
    if isinstance(value, str) and isinstance(bound, str):
        return value < bound
    if isinstance(value, bytes) and isinstance(bound, bytes):
        return value < bound
    if isinstance(value, int) and isinstance(bound, int):
        return value < bound
    return False


def _conditions_hold(connection: sqlite3.Connection, commit: Commit) -> bool:
    """Judge the conditions on what the commit does not write."""
    if isinstance(commit.head, CheckHead) and not _stands(connection, commit.head):
        return False
    return all(_check_holds(connection, check) for check in commit.checks)


def _stands(connection: sqlite3.Connection, check: CheckHead) -> bool:
    head = head_at(connection, check.lead)
    return head is not None and all(
        wanted is None or wanted == actual
        for wanted, actual in (
            (check.rev, head.rev),
            (check.projected, head.projected),
            (check.fold_version, head.fold_version),
            (check.goal, head.goal),
        )
    )


def _check_holds(connection: sqlite3.Connection, check: Check) -> bool:
    return holds(check.condition, row_at(connection, check.key))


def _put_head(connection: sqlite3.Connection, prepared: Prepared) -> bool:
    """Write the head if it is still what was read; a head that is only checked is left."""
    condition = prepared.commit.head
    if isinstance(condition, CheckHead):
        return True
    if condition.expected_rev == 0:
        connection.execute(_PUT_FIRST_HEAD, prepared.head)
        return True
    values = (*prepared.head, condition.expected_rev)
    return connection.execute(_PUT_HEAD, values).rowcount == 1


def _put_everything_else(connection: sqlite3.Connection, prepared: Prepared) -> list[int]:
    commit = prepared.commit
    for statement, values in (
        (_PUT_IDENTITY, commit.identities),
        (_PUT_RECEIPT, commit.receipts),
        (PUT_ROW, prepared.rows),
        (DELETE_ROW, commit.deletes),
    ):
        if values:
            connection.executemany(statement, values)
    ids = [connection.execute(_PUT_EVENT, columns).lastrowid for columns in prepared.events]
    return [number for number in ids if number is not None]


def _take_back(connection: sqlite3.Connection) -> None:
    # Some errors of the file end the whole transaction, and the savepoint with it.
    if connection.in_transaction:
        connection.execute("ROLLBACK TO one_commit")
        connection.execute("RELEASE one_commit")


def _refused(
    connection: sqlite3.Connection, events: Sequence[StoredEvent], commit: Commit
) -> Refused:
    owners = {each.key: identity_at(connection, each.key) for each in commit.identities}
    receipts = [receipt_at(connection, each.key) for each in commit.receipts]
    return Refused(
        identities=[Identity(key, lead) for key, lead in owners.items() if lead is not None],
        receipts=[receipt for receipt in receipts if receipt is not None],
        head=_head_moved(connection, commit.head),
        checks=[check.key for check in commit.checks if not _check_holds(connection, check)],
        event=_event_stands(connection, events),
    )


def _head_moved(connection: sqlite3.Connection, condition: PutHead | CheckHead) -> bool:
    if isinstance(condition, CheckHead):
        return not _stands(connection, condition)
    head = head_at(connection, condition.head.lead)
    return condition.expected_rev != (0 if head is None else head.rev)


def _event_stands(connection: sqlite3.Connection, events: Sequence[StoredEvent]) -> bool:
    """Tell whether one of the events has a position or a key that is taken, by another of them too."""
    if len({event.originator_version for event in events}) < len(events):
        return True
    for event in events:
        envelope = event.envelope if isinstance(event, LeadRecord) else None
        key = (envelope.occurred_at, envelope.event_id) if envelope else (None, None)
        where = (str(event.originator_id), event.originator_version, *key)
        if connection.execute(_HAS_EVENT, where).fetchone():
            return True
    return False

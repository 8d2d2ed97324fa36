"""What is read, on whatever connection is given: single things, streams and pages.

A page is one range of one index: bounds and cursor are made into one pair of bounds beforehand,
since SQLite uses one lower and one upper bound of an index and tests the others row by row.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from eventsourcing.persistence import Notification, StoredEvent

from adapters import cursor as cursors
from adapters.sqlite.forms import EVENT, HEAD, RECEIPT, ROW, event_of, head_of, record_of, row_of
from domain.keys import Key
from domain.records import Head, LeadRecord, Page, Receipt, Row

Bound = tuple[str | bytes, ...]

_BEFORE_ALL: Final = ""
_AFTER_ALL: Final = b""
"""SQLite sorts every text before any bytes."""
_LAST_SEQUENCE: Final = 2**63 - 1
_NO_LIMIT: Final = -1

_HEAD_AT: Final = f"SELECT {HEAD} FROM heads WHERE lead = ?"
_ROW_AT: Final = f"SELECT {ROW} FROM rows WHERE pk = ? AND sk = ?"
_RECEIPT_AT: Final = f"SELECT {RECEIPT} FROM receipts WHERE key = ?"
_IDENTITY_AT: Final = "SELECT lead FROM identities WHERE key = ?"
_RAW_PAYLOAD_AT: Final = "SELECT raw_payload FROM events WHERE lead = ? AND sequence = ?"
_LAST_ID: Final = "SELECT max(id) FROM events"
_LEADS: Final = (
    "SELECT lead FROM heads WHERE organization_id = ? AND lead > ? ORDER BY lead LIMIT ?"
)
_STREAMS: Final = (
    "SELECT lead FROM (SELECT lead FROM heads UNION SELECT DISTINCT lead FROM events)"
    " WHERE lead > ? ORDER BY lead LIMIT ?"
)
_STREAMS_A_PAGE: Final = 500


def _in_order(query: str) -> dict[bool, str]:
    """Return the query by whether it runs backwards."""
    return {desc: query.replace("{order}", "DESC" if desc else "ASC") for desc in (False, True)}


_EVENTS: Final = _in_order(
    f"SELECT {EVENT} FROM events WHERE lead = ? AND sequence > ? AND sequence <= ?"
    " ORDER BY sequence {order} LIMIT ?"
)
_IN_TIME: Final = (
    " AND (occurred_at, event_id) > (?, ?) AND (occurred_at, event_id) < (?, ?)"
    " ORDER BY occurred_at {order}, event_id {order} LIMIT ?"
)
_EVENTS_BY_TIME: Final = _in_order(f"SELECT {EVENT} FROM events WHERE lead = ?" + _IN_TIME)
_EVENTS_OF_TYPE: Final = _in_order(
    f"SELECT {EVENT} FROM events WHERE lead = ? AND event_type = ?" + _IN_TIME
)
_ROWS: Final = _in_order(
    f"SELECT {ROW} FROM rows WHERE pk = ? AND sk >= ? AND sk < ? ORDER BY sk {{order}} LIMIT ?"
)
_INDEXED_ROWS: Final = _in_order(
    f"SELECT {ROW} FROM rows WHERE gsi1pk = ?"
    " AND (gsi1sk, pk, sk) > (?, ?, ?) AND (gsi1sk, pk, sk) < (?, ?, ?)"
    " ORDER BY gsi1sk {order}, pk {order}, sk {order} LIMIT ?"
)


def head_at(connection: sqlite3.Connection, lead: str) -> Head | None:
    """Return the head of a lead."""
    columns = connection.execute(_HEAD_AT, (lead,)).fetchone()
    return None if columns is None else head_of(columns)


def row_at(connection: sqlite3.Connection, key: Key) -> Row | None:
    """Return one row."""
    columns = connection.execute(_ROW_AT, key).fetchone()
    return None if columns is None else row_of(columns)


def receipt_at(connection: sqlite3.Connection, key: str) -> Receipt | None:
    """Return one receipt."""
    columns = connection.execute(_RECEIPT_AT, (key,)).fetchone()
    return None if columns is None else Receipt._make(columns)


def identity_at(connection: sqlite3.Connection, key: str) -> str | None:
    """Return the lead that claimed an identity."""
    columns = connection.execute(_IDENTITY_AT, (key,)).fetchone()
    return None if columns is None else str(columns[0])


def raw_payload_at(connection: sqlite3.Connection, lead: str, sequence: int) -> bytes | None:
    """Return the raw payload of one event."""
    columns: tuple[bytes | None] | None = connection.execute(
        _RAW_PAYLOAD_AT, (lead, sequence)
    ).fetchone()
    return None if columns is None else columns[0]


def events_of(
    connection: sqlite3.Connection,
    lead: Any,
    *,
    gt: int | None,
    lte: int | None,
    desc: bool,
    limit: int | None,
) -> list[StoredEvent]:
    """Return events of a lead by sequence. They carry `lead` as it is given."""
    after = -1 if gt is None else gt
    last = _LAST_SEQUENCE if lte is None else lte
    most = _NO_LIMIT if limit is None else limit
    found = connection.execute(_EVENTS[desc], (str(lead), after, last, most)).fetchall()
    return [event_of(lead, columns) for columns in found]


def events_by_time(  # noqa: PLR0913 - one query, all of its clauses
    connection: sqlite3.Connection,
    lead: str,
    *,
    event_type: str | None,
    since: str | None,
    until: str | None,
    desc: bool,
    limit: int,
    cursor: str | None,
) -> Page[LeadRecord]:
    """Return a page of events by (occurredAt, eventId), of one type or of all."""
    listing = ("events", lead, event_type or "", _direction(desc=desc))
    # No event has an empty id, so `since` is inclusive and `until` is not.
    low = (since or _BEFORE_ALL, "")
    high = None if until is None else (until, "")
    if cursor is not None:
        occurred_at, event_id = cursors.decode(cursor, listing, 2)
        position = (occurred_at, event_id)
        if desc:
            high = position if high is None else min(high, position)
        else:
            low = max(low, position)
    queries, names = (_EVENTS_BY_TIME, [lead])
    if event_type is not None:
        queries, names = (_EVENTS_OF_TYPE, [lead, event_type])
    bounds = (*names, *low, *(high or (_AFTER_ALL, _AFTER_ALL)))
    found = connection.execute(queries[desc], (*bounds, limit + 1)).fetchall()
    page = [record_of(lead, columns) for columns in found[:limit]]
    if len(found) <= limit:
        return Page(page, None)
    envelope = page[-1].envelope
    return Page(page, cursors.encode(listing, [envelope.occurred_at, envelope.event_id]))


def leads_of(
    connection: sqlite3.Connection, organization_id: str, *, limit: int, cursor: str | None
) -> Page[str]:
    """Return a page of an organization's leads."""
    listing = ("leads", organization_id)
    after = _BEFORE_ALL
    if cursor is not None:
        (after,) = cursors.decode(cursor, listing, 1)
    found = connection.execute(_LEADS, (organization_id, after, limit + 1)).fetchall()
    page = [lead for (lead,) in found[:limit]]
    return Page(page, cursors.encode(listing, [page[-1]]) if len(found) > limit else None)


def streams(connection: sqlite3.Connection, *, cursor: str | None) -> Page[str]:
    """Return a page of everything that has a head or an event."""
    after = _BEFORE_ALL
    if cursor is not None:
        (after,) = cursors.decode(cursor, ("streams",), 1)
    found = connection.execute(_STREAMS, (after, _STREAMS_A_PAGE + 1)).fetchall()
    page = [lead for (lead,) in found[:_STREAMS_A_PAGE]]
    more = len(found) > _STREAMS_A_PAGE
    return Page(page, cursors.encode(("streams",), [page[-1]]) if more else None)


def rows_of(
    connection: sqlite3.Connection,
    pk: str,
    *,
    prefix: str,
    desc: bool,
    limit: int,
    cursor: str | None,
) -> Page[Row]:
    """Return a page of the rows of one partition whose sort key begins with `prefix`."""
    listing = ("rows", pk, prefix, _direction(desc=desc))
    low, high = prefix, _after_prefix(prefix)
    if cursor is not None:
        (position,) = cursors.decode(cursor, listing, 1)
        if desc:
            high = position if isinstance(high, bytes) else min(high, position)
        else:
            # The least text after it.
            low = max(low, position + "\0")
    found = connection.execute(_ROWS[desc], (pk, low, high, limit + 1)).fetchall()
    page = [row_of(columns) for columns in found[:limit]]
    more = len(found) > limit
    return Page(page, cursors.encode(listing, [page[-1].key.sk]) if more else None)


def indexed_rows_of(
    connection: sqlite3.Connection, pk: str, *, desc: bool, limit: int, cursor: str | None
) -> Page[Row]:
    """Return a page of the rows of one partition of the index, ties by their own keys."""
    listing = ("index", pk, _direction(desc=desc))
    low: Bound = (_BEFORE_ALL,) * 3
    high: Bound = (_AFTER_ALL,) * 3
    if cursor is not None:
        position = tuple(cursors.decode(cursor, listing, 3))
        low, high = (low, position) if desc else (position, high)
    bounds = (pk, *low, *high, limit + 1)
    found = connection.execute(_INDEXED_ROWS[desc], bounds).fetchall()
    page = [row_of(columns) for columns in found[:limit]]
    if len(found) <= limit:
        return Page(page, None)
    key, (_, gsi1sk) = page[-1].key, page[-1].gsi1 or ("", "")
    return Page(page, cursors.encode(listing, [gsi1sk, *key]))


def notifications(
    connection: sqlite3.Connection, *, first: int, last: int, topics: Sequence[str], limit: int
) -> list[Notification]:
    """Return events of all leads by id, from `first` to `last`, of some topics or of all."""
    of_topics = f" AND event_type IN ({', '.join('?' * len(topics))})" if topics else ""
    found = connection.execute(
        "SELECT lead, sequence, event_type, payload, id FROM events WHERE id >= ? AND id <= ?"
        f"{of_topics} ORDER BY id LIMIT ?",
        (first, last, *topics, limit),
    )
    return [Notification(*columns) for columns in found]


def last_notification_id(connection: sqlite3.Connection) -> int | None:
    """Return the id of the last event of all, None if there is none."""
    (last,) = connection.execute(_LAST_ID).fetchone()
    return None if last is None else int(last)


def _after_prefix(prefix: str) -> str | bytes:
    """Return the least text after everything that begins with the prefix."""
    shortened = prefix.rstrip("\U0010ffff")
    if not shortened:
        return _AFTER_ALL
    following = ord(shortened[-1]) + 1
    # Surrogates are not characters of their own.
    return shortened[:-1] + chr(0xE000 if following == 0xD800 else following)


def _direction(*, desc: bool) -> str:
    return "desc" if desc else "asc"

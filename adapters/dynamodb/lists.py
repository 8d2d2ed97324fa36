"""Every list: one Query a page, no filter, and a cursor that is the position after its last item."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from adapters import cursor as cursors
from adapters.dynamodb import codec
from adapters.dynamodb.requests import Request, Span, query_of
from adapters.dynamodb.wire import Wire
from adapters.tables import (
    EVENT_TYPE_INDEX,
    GSI1,
    LEAD_INDEX,
    LOG,
    SEQUENCE_INDEX,
    STATE,
    Index,
    Table,
)
from domain import items, keys
from domain.records import Page, Row

FlatItem = dict[str, str | int | bytes]

_FIRST_INSTANT: Final = "0"
_AFTER_ANY_INSTANT: Final = ":"
"""Instants begin with a digit, and `:` follows the digits: what else stands in a lead's partition
is in no list by time."""
_AFTER_ANY_TEXT: Final = "\U0010ffff"

_WITHOUT_RAW: Final = (
    *items.ENVELOPE_ATTRIBUTES,
    items.PK,
    items.SK,
    "sequence",
    "eventType",
    "payload",
)


@dataclass(frozen=True, slots=True)
class _Listed:
    table: Table
    span: Span
    desc: bool
    index: Index | None = None
    attributes: tuple[str, ...] = ()
    """What to read of each item; all of it if empty."""


def events_by_sequence(
    wire: Wire, lead: str, *, first: int, last: int, desc: bool, limit: int | None
) -> Iterator[FlatItem]:
    """Yield events of a lead by sequence, consistently and without rawPayload."""
    if first > last or (limit is not None and limit < 1):
        return
    listed = _Listed(LOG, Span(lead, first, last), desc, SEQUENCE_INDEX, _WITHOUT_RAW)
    request = _request(wire, listed)
    while True:
        if limit is not None:
            request["Limit"] = limit
        answer = wire.query(request)
        yield from map(codec.decode, answer["Items"])
        if limit is not None:
            limit -= len(answer["Items"])
        if "LastEvaluatedKey" not in answer or limit == 0:
            return
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def raw_payload(wire: Wire, lead: str, sequence: int) -> bytes | None:
    """Return rawPayload of one event, None if it has none or there is no such event."""
    span = Span(lead, sequence, sequence)
    listed = _Listed(LOG, span, desc=False, index=SEQUENCE_INDEX, attributes=("rawPayload",))
    for item in wire.query(_request(wire, listed))["Items"]:
        raw = codec.decode(item).get("rawPayload")
        return raw if isinstance(raw, bytes) else None
    return None


def events_by_time(  # noqa: PLR0913 - one query, all of its clauses
    wire: Wire,
    lead: str,
    *,
    event_type: str | None,
    since: str | None,
    until: str | None,
    desc: bool,
    limit: int,
    cursor: str | None,
) -> Page[FlatItem]:
    """List events of a lead as they happened, of one type or of all, without rawPayload."""
    listing = ("events", lead, event_type or "", _direction(desc=desc))
    # No event's key equals `until`, an event's id follows in each: so it is exclusive.
    low, high = since or _FIRST_INSTANT, until or _AFTER_ANY_INSTANT
    start: FlatItem = {}
    if cursor is not None:
        (position,) = cursors.decode(cursor, listing, 1)
        start = {items.PK: lead, items.SK: position}
    index = None
    if event_type is not None:
        index = EVENT_TYPE_INDEX
        low, high = (keys.event_type_at(event_type, each) for each in (low, high))
        if cursor is not None:
            start[index.sk.name] = keys.event_type_at(event_type, str(start[items.SK]))
    listed = _Listed(LOG, Span(lead, low, high), desc, index, _WITHOUT_RAW)
    found, more = _page(wire, listed, start, limit)
    following = cursors.encode(listing, [str(found[-1][items.SK])]) if more else None
    return Page(found, following)


def leads(wire: Wire, organization_id: str, *, limit: int, cursor: str | None) -> Page[str]:
    """List an organization's leads, shard after shard."""
    listing = ("leads", organization_id)
    shards = keys.lead_shards(organization_id)
    start: FlatItem = {}
    if cursor is not None:
        shard, lead = cursors.decode(cursor, listing, 2)
        shards = shards[shards.index(shard) :] if shard in shards else []
        start = {LEAD_INDEX.pk.name: shard, items.PK: keys.head(lead), items.SK: "HEAD"}
    found: list[tuple[str, str]] = []
    more = False
    for shard in shards:
        listed = _Listed(LOG, Span(shard), desc=False, index=LEAD_INDEX)
        heads, more = _page(wire, listed, start, limit + 1 - len(found))
        found += [(shard, str(head[items.PK]).removeprefix(keys.head(""))) for head in heads]
        start = {}
        if more or len(found) > limit:
            break
    page = found[:limit]
    following = cursors.encode(listing, page[-1]) if more or len(found) > limit else None
    return Page([lead for _, lead in page], following)


def rows(
    wire: Wire, pk: str, *, prefix: str, desc: bool, limit: int, cursor: str | None
) -> Page[Row]:
    """List rows of one partition of the state table."""
    listing = ("rows", pk, prefix, _direction(desc=desc))
    span = Span(pk, prefix, prefix + _AFTER_ANY_TEXT) if prefix else Span(pk)
    start: FlatItem = {}
    if cursor is not None:
        (position,) = cursors.decode(cursor, listing, 1)
        start = {STATE.pk.name: pk, STATE.sk.name: position}
    found, more = _page(wire, _Listed(STATE, span, desc), start, limit)
    page = [items.row_of(item) for item in found]
    return Page(page, cursors.encode(listing, [page[-1].key.sk]) if more else None)


def indexed_rows(wire: Wire, pk: str, *, desc: bool, limit: int, cursor: str | None) -> Page[Row]:
    """List rows of one partition of GSI1."""
    listing = ("index", pk, _direction(desc=desc))
    names = (GSI1.sk.name, STATE.pk.name, STATE.sk.name)
    start: FlatItem = {}
    if cursor is not None:
        position = cursors.decode(cursor, listing, len(names))
        start = {GSI1.pk.name: pk, **dict(zip(names, position, strict=True))}
    found, more = _page(wire, _Listed(STATE, Span(pk), desc, GSI1), start, limit)
    following = cursors.encode(listing, [str(found[-1][name]) for name in names]) if more else None
    return Page([items.row_of(item) for item in found], following)


def _page(wire: Wire, listed: _Listed, start: FlatItem, limit: int) -> tuple[list[FlatItem], bool]:
    """Return up to `limit` items after `start`, and whether there are more.

    One item more than asked for is read: DynamoDB names a place to go on from even at the end.
    Less than `limit` comes back when DynamoDB's own limit of 1 MB a page is met.
    """
    low, high = str(listed.span.low or ""), str(listed.span.high or _AFTER_ANY_TEXT)
    position = str(start.get((listed.index or listed.table).sk.name, ""))
    before, after = position < low, position > high
    if low > high or (start and (before if listed.desc else after)):
        return [], False
    request = _request(wire, listed) | {"Limit": limit + 1}
    if start and not (after if listed.desc else before):
        request["ExclusiveStartKey"] = codec.encode(start)
    answer = wire.query(request)
    found = [codec.decode(item) for item in answer["Items"]]
    return found[:limit], len(found) > limit or "LastEvaluatedKey" in answer


def _request(wire: Wire, listed: _Listed) -> Request:
    request = query_of(listed.table, wire.names, listed.span, index=listed.index, desc=listed.desc)
    if listed.attributes:
        placeholders = {f"#p{number}": name for number, name in enumerate(listed.attributes)}
        request["ExpressionAttributeNames"] |= placeholders
        request["ProjectionExpression"] = ", ".join(placeholders)
    return request


def _direction(*, desc: bool) -> str:
    return "desc" if desc else "asc"

"""Events, heads and rows between their objects and the columns they are kept in.

Attributes are one column of canonical JSON. Bytes have no form in JSON: they are an object with
one member, which no attribute is otherwise, since attributes are flat.
"""

import base64
from collections.abc import Sequence
from typing import Any, Final

from eventsourcing.persistence import StoredEvent

from domain import canonical
from domain.event import Envelope
from domain.keys import Key
from domain.records import Attributes, Head, LeadRecord, Row, Value

_BYTES: Final = "base64"

EVENT: Final = f"sequence, event_type, payload, {', '.join(Envelope._fields)}"
"""The columns of an event that reads need, in the order of `event_of`; the envelope's are NULL of
an event that came without one."""

_ENVELOPE_AT: Final = 3
_NO_ENVELOPE: Final = (None,) * len(Envelope._fields)

EVENT_ID_AT: Final = 1 + _ENVELOPE_AT + Envelope._fields.index("event_id")
"""Where `values_of_event` has the event's id."""

ROW: Final = "pk, sk, gsi1pk, gsi1sk, ttl, attributes"
"""The columns of a row, in the order of `row_of` and `values_of_row`."""

HEAD: Final = "lead, organization_id, version, projected, fold_version, rev, goal, unknown"
"""The columns of a head, in the order of `head_of` and `values_of_head`."""

RECEIPT: Final = "key, lead, event_id, sequence, nonce, fingerprint"
"""The columns of a receipt, in the order of its fields."""


def values_of_event(event: StoredEvent) -> tuple[Any, ...]:
    """Return what is kept of an event: its lead, the columns of `EVENT`, its raw payload."""
    position = (str(event.originator_id), event.originator_version, event.topic, event.state)
    if isinstance(event, LeadRecord):
        return (*position, *event.envelope, event.raw_payload)
    return (*position, *_NO_ENVELOPE, None)


def event_of(lead: Any, columns: Sequence[Any]) -> StoredEvent:
    """Return the event that columns hold, a plain one if it came without an envelope."""
    if columns[_ENVELOPE_AT] is None:
        return StoredEvent(lead, *columns[:_ENVELOPE_AT])
    return record_of(lead, columns)


def record_of(lead: str, columns: Sequence[Any]) -> LeadRecord:
    """Return the event that columns hold, which came with an envelope."""
    sequence, event_type, payload = columns[:_ENVELOPE_AT]
    return LeadRecord(lead, sequence, event_type, payload, Envelope._make(columns[_ENVELOPE_AT:]))


def values_of_row(row: Row) -> tuple[Any, ...]:
    """Return what is kept of a row."""
    gsi1pk, gsi1sk = row.gsi1 or (None, None)
    return (*row.key, gsi1pk, gsi1sk, row.ttl, _dumped(row.attributes))


def row_of(columns: Sequence[Any]) -> Row:
    """Return the row that columns hold."""
    pk, sk, gsi1pk, gsi1sk, ttl, attributes = columns
    gsi1 = None if gsi1pk is None else (gsi1pk, gsi1sk)
    return Row(Key(pk, sk), _loaded(attributes), gsi1, ttl)


def values_of_head(head: Head) -> tuple[Any, ...]:
    """Return what is kept of a head, what is unknown included."""
    return (
        head.lead,
        head.organization_id,
        head.version,
        head.projected,
        head.fold_version,
        head.rev,
        head.goal,
        _dumped(head.unknown),
    )


def head_of(columns: Sequence[Any]) -> Head:
    """Return the head that columns hold."""
    lead, organization_id, version, projected, fold_version, rev, goal, unknown = columns
    return Head(
        lead=lead,
        organization_id=organization_id,
        version=version,
        projected=projected,
        fold_version=fold_version,
        rev=rev,
        goal=goal,
        unknown=_loaded(unknown),
    )


def _dumped(attributes: Attributes) -> bytes:
    if bytes not in map(type, attributes.values()):
        return canonical.dumps(attributes)
    return canonical.dumps(
        {
            name: {_BYTES: base64.b64encode(value).decode()} if isinstance(value, bytes) else value
            for name, value in attributes.items()
        }
    )


def _loaded(text: bytes) -> dict[str, Value]:
    attributes: dict[str, Any] = canonical.loads(text)
    if dict in map(type, attributes.values()):
        for name, value in attributes.items():
            if isinstance(value, dict):
                attributes[name] = base64.b64decode(value[_BYTES])
    return attributes

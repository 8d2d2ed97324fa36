"""Small builders of what the storage ports carry: valid by default, each field open to a test.

Everything derives from (lead, sequence), so two calls with equal arguments build equal things.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from domain import canonical, items, keys
from domain.event import Envelope
from domain.instants import format_instant
from domain.records import CheckHead, Commit, Head, LeadRecord, PutHead, Receipt, Row, Value, Write

ORGANIZATION = "org-one"
LEAD = "lead-one"
SOURCE = "hotmart"
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAYLOAD = {"amount": "497.00", "currency": "BRL", "productId": "curso-de-costura"}


def instant(seconds: int = 0) -> str:
    """A moment after the start of all made-up histories."""
    return format_instant(START + timedelta(seconds=seconds))


def event_id(lead: str = LEAD, sequence: int = 1) -> str:
    """A UUIDv7 in form; later sequences sort later."""
    mark = canonical.digest(lead)[:12]
    return f"0195{sequence:04x}-0000-7000-8000-{mark}"


def record(
    sequence: int = 1,
    *,
    lead: str = LEAD,
    event_type: str = "purchase_completed",
    payload: object = None,
    raw_payload: bytes | None = None,
    **envelope: str | int | None,
) -> LeadRecord:
    """A stored event as it is written; keywords replace fields of its envelope."""
    made = Envelope(
        event_id=event_id(lead, sequence),
        organization_id=ORGANIZATION,
        occurred_at=instant(sequence),
        received_at=instant(sequence + 60),
        source_type="EXTERNAL",
        source=SOURCE,
        schema_version=1,
        external_event_id=f"{lead}:{sequence}",
    )
    return LeadRecord(
        originator_id=lead,
        originator_version=sequence,
        topic=event_type,
        state=canonical.dumps(PAYLOAD if payload is None else payload),
        envelope=Envelope(**{**made._asdict(), **envelope}),
        raw_payload=raw_payload,
    )


def receipt(of: LeadRecord, *, nonce: str = "nonce-one") -> Receipt:
    """The receipt that proves a record."""
    envelope = of.envelope
    return Receipt(
        key=keys.receipt(envelope.organization_id, envelope.source, envelope.external_event_id),
        lead=str(of.originator_id),
        event_id=envelope.event_id,
        sequence=of.originator_version,
        nonce=nonce,
        fingerprint=canonical.digest(of.topic, of.state),
    )


def head(lead: str = LEAD, **fields: Any) -> Head:
    """The head of a lead as its first commit writes it; keywords replace fields."""
    made = Head(
        lead=lead,
        organization_id=ORGANIZATION,
        version=1,
        projected=1,
        fold_version=1,
        rev=1,
    )
    return replace(made, **fields)


def row(key: keys.Key | None = None, **attributes: Value) -> Row:
    """A view row of the first lead unless told otherwise."""
    return Row(key=key or keys.memory(LEAD, "purchase", "totals"), attributes=attributes)


def commit(
    records: Sequence[LeadRecord] = (), *, after: Head | None = None, **parts: Any
) -> Commit:
    """The commit of records on a head as it was read (None: a new lead); keywords replace parts."""
    lead = str(records[0].originator_id) if records else (after or head()).lead
    base = after or head(lead, version=0, projected=0, rev=0)
    last = max((each.originator_version for each in records), default=base.version)
    made = Commit(
        head=PutHead(replace(base, version=last, projected=last, rev=base.rev + 1), base.rev),
        receipts=tuple(receipt(each) for each in records),
    )
    return replace(made, **parts)


def write(sequence: int = 1, *, lead: str = LEAD, after: Head | None = None) -> Write:
    """One event of a lead and its commit."""
    records = [record(sequence, lead=lead)]
    return Write(records, commit(records, after=after))


def written(by: Commit) -> Head:
    """The head that a commit writes."""
    assert isinstance(by.head, PutHead)
    return by.head.head


def checked(of: Head) -> CheckHead:
    """The condition that a head still stands exactly as it was read."""
    return CheckHead(
        of.lead, rev=of.rev, projected=of.projected, fold_version=of.fold_version, goal=of.goal
    )


def padding(of: Row, size: int) -> Row:
    """The row with one attribute more, so that its item has exactly `size` bytes."""
    used = sum(
        len(name) + (len(value) if isinstance(value, str | bytes) else len(str(value)) // 2 + 2)
        for name, value in items.row_item(of).items()
    )
    return replace(of, attributes={**of.attributes, "pad": "x" * (size - used - len("pad"))})

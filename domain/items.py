"""The flat form of everything the log holds: camelCase names to text, integers and bytes.

Both recorders measure these items against `domain.limits`; DynamoDB stores them as they are.
"""

from typing import Final

from domain import keys
from domain.limits import Item
from domain.records import Head, Identity, LeadRecord, Receipt, Row

PK: Final = "leadOrganizationId"
SK: Final = "occurredAtId"
"""Key attributes of the log table (seed 003); all of its items have them."""

ENVELOPE_ATTRIBUTES: Final = (
    "eventId",
    "organizationId",
    "occurredAt",
    "receivedAt",
    "sourceType",
    "source",
    "schemaVersion",
    "externalEventId",
    "objectId",
    "objectIdRef",
    "correlationId",
    "causationId",
    "keyId",
)
"""Names of the fields of `Envelope`, in its order."""

_HEAD_ATTRIBUTES: Final = frozenset(
    {
        PK,
        SK,
        "lead",
        "organizationId",
        "version",
        "projected",
        "foldVersion",
        "rev",
        "goal",
        "leadShard",
    }
)


def event_item(record: LeadRecord) -> dict[str, str | int | bytes]:
    """Return the item of an event."""
    envelope = record.envelope
    lead = str(record.originator_id)
    item: dict[str, str | int | bytes] = {
        name: value
        for name, value in zip(ENVELOPE_ATTRIBUTES, envelope, strict=True)
        if value is not None
    }
    item[PK] = lead
    item[SK] = occurred_at_id = f"{envelope.occurred_at}#{envelope.event_id}"
    item["sequence"] = record.originator_version
    item["eventType"] = record.topic
    item["eventTypeOccurredAt"] = keys.event_type_at(record.topic, occurred_at_id)
    item["organizationSource"] = keys.source_of(envelope.organization_id, envelope.source)
    item["payload"] = record.state.decode() if envelope.key_id is None else record.state
    if record.raw_payload is not None:
        item["rawPayload"] = record.raw_payload
    return item


def receipt_item(receipt: Receipt) -> dict[str, str | int | bytes]:
    """Return the item of a receipt.

    None of its names is a key of an index: what is in one is written, and paid for, once more.
    """
    return {
        PK: receipt.key,
        SK: "KEY",
        "lead": receipt.lead,
        "eventId": receipt.event_id,
        "eventSequence": receipt.sequence,
        "nonce": receipt.nonce,
        "fingerprint": receipt.fingerprint,
    }


def receipt_of(item: Item) -> Receipt:
    """Return the receipt an item holds."""
    return Receipt(
        key=str(item[PK]),
        lead=str(item["lead"]),
        event_id=str(item["eventId"]),
        sequence=int(item["eventSequence"]),
        nonce=str(item["nonce"]),
        fingerprint=str(item["fingerprint"]),
    )


def identity_item(identity: Identity) -> dict[str, str | int | bytes]:
    """Return the item of an identity."""
    return {PK: identity.key, SK: "LEAD", "lead": identity.lead}


def head_item(head: Head) -> dict[str, str | int | bytes]:
    """Return the item of a head, with what a newer edition wrote carried over.

    `leadShard` puts heads, and heads only, into `lead-index`. It never changes, so the index costs
    one write a lead.
    """
    item: dict[str, str | int | bytes] = {
        **head.unknown,
        PK: keys.head(head.lead),
        SK: "HEAD",
        "lead": head.lead,
        "organizationId": head.organization_id,
        "version": head.version,
        "projected": head.projected,
        "foldVersion": head.fold_version,
        "rev": head.rev,
        "leadShard": keys.lead_shard(head.organization_id, head.lead),
    }
    if head.goal is not None:
        item["goal"] = head.goal
    return item


def head_of(item: Item) -> Head:
    """Return the head an item holds."""
    goal = item.get("goal")
    return Head(
        lead=str(item["lead"]),
        organization_id=str(item["organizationId"]),
        version=int(item["version"]),
        projected=int(item["projected"]),
        fold_version=int(item["foldVersion"]),
        rev=int(item["rev"]),
        goal=None if goal is None else int(goal),
        unknown={name: value for name, value in item.items() if name not in _HEAD_ATTRIBUTES},
    )


def row_item(row: Row) -> dict[str, str | int | bytes]:
    """Return the item of a row of the state table."""
    item: dict[str, str | int | bytes] = {
        **row.attributes,
        "PK": row.key.pk,
        "SK": row.key.sk,
    }
    if row.gsi1 is not None:
        item["GSI1PK"], item["GSI1SK"] = row.gsi1
    if row.ttl is not None:
        item["ttl"] = row.ttl
    return item


def row_of(item: Item) -> Row:
    """Return the row an item holds."""
    attributes = dict(item)
    key = keys.Key(str(attributes.pop("PK")), str(attributes.pop("SK")))
    gsi1_pk, gsi1_sk = attributes.pop("GSI1PK", None), attributes.pop("GSI1SK", None)
    ttl = attributes.pop("ttl", None)
    return Row(
        key=key,
        attributes=attributes,
        gsi1=(str(gsi1_pk), str(gsi1_sk)) if gsi1_pk is not None else None,
        ttl=None if ttl is None else int(ttl),
    )

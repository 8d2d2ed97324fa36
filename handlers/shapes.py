"""How things look to readers, over HTTP and on the command line alike: plain JSON values."""

import json
import zlib
from dataclasses import asdict
from typing import Any

from pydantic.alias_generators import to_camel

from domain.catalog import EventType
from domain.errors import LeadError
from domain.event import LeadEvent
from handlers.ingest import Item
from projections.features import FeatureVector
from projections.memories.context import Context
from projections.memories.explain import Explanation
from projections.memories.render import Memory

JsonObject = dict[str, Any]


def event_json(event: LeadEvent) -> JsonObject:
    """Return an event as its reader sees it; optional fields that are absent stay away."""
    shown: JsonObject = {
        "id": event.event_id,
        "leadOrganizationId": event.lead,
        "sequence": event.sequence,
        "sourceType": event.source_type,
        "source": event.source,
        "eventType": event.event_type,
        "schemaVersion": event.schema_version,
        "externalEventId": event.external_event_id,
        "occurredAt": event.occurred_at,
        "receivedAt": event.received_at,
        "objectId": event.object_id,
        "objectIdRef": event.object_id_ref,
        "correlationId": event.correlation_id,
        "causationId": event.causation_id,
        "payload": event.payload,
    }
    if event.raw_payload is not None:
        shown["rawPayload"] = raw_json(event.raw_payload)
    return {name: value for name, value in shown.items() if value is not None}


def raw_json(raw: bytes) -> Any:
    """Return a stored rawPayload as the JSON value it was, or as text if it was not JSON."""
    text = zlib.decompress(raw).decode("utf-8", "replace")
    try:
        return json.loads(text)
    except ValueError:
        return text


def memory_json(memory: Memory) -> JsonObject:
    """Return a memory as its reader sees it."""
    return {
        "memoryType": memory.memory_type,
        "key": memory.key,
        "value": memory.value,
        "confidence": memory.confidence,
        "source": memory.source,
        "sourceEventIds": list(memory.source_event_ids),
        "sourceEventCount": memory.source_event_count,
        "createdAt": memory.created_at,
        "updatedAt": memory.updated_at,
        "expiresAt": memory.expires_at,
        "digest": memory.digest,
    }


def problem_json(error: LeadError, status: int) -> JsonObject:
    """Return an error as a problem (RFC 9457). It holds no value that anybody sent."""
    problem: JsonObject = {
        "type": f"/problems/{error.code}",
        "title": error.title,
        "status": status,
        "detail": " ".join(part for part in (error.detail, error.hint) if part),
    }
    if error.fields:
        problem["errors"] = [each._asdict() for each in error.fields]
    return problem


def item_json(item: Item, status: int) -> JsonObject:
    """Return what became of one event of a batch; `status` is for its problem, if it has one."""
    shown: JsonObject = {"index": item.index, "status": item.status}
    if item.event_id is not None:
        shown |= {
            "id": item.event_id,
            "leadOrganizationId": item.lead,
            "sequence": item.sequence,
        }
    if item.external_event_id is not None:
        shown["externalEventId"] = item.external_event_id
    if item.error is None:
        shown["mapped"] = item.mapped
    else:
        shown["problem"] = problem_json(item.error, status)
        shown["retryable"] = item.status == "retry"
    if item.warnings:
        shown["warnings"] = list(item.warnings)
    if item.quarantine_id is not None:
        shown["quarantineId"] = item.quarantine_id
    return shown


def context_json(found: Context) -> JsonObject:
    """Return a context as its reader sees it."""
    return {
        "text": found.text,
        "tokens": found.tokens,
        "included": list(found.included),
        "omitted": list(found.omitted),
        "digest": found.digest,
    }


def explanation_json(found: Explanation) -> JsonObject:
    """Return the history of a memory as its reader sees it: contributions oldest first."""
    return {
        "memoryType": found.memory_type,
        "key": found.key,
        "status": found.status,
        "reason": found.reason,
        "memory": None if found.memory is None else memory_json(found.memory),
        "events": [_camel(asdict(each)) for each in found.steps],
        "notCounted": [_camel(asdict(each)) for each in found.passed],
        "foldVersion": found.fold_version,
    }


def features_json(lead: str, vector: FeatureVector) -> JsonObject:
    """Return a feature vector as its reader sees it."""
    return {
        "leadOrganizationId": lead,
        "features": vector.features,
        "currency": vector.currency,
        "computedAt": vector.computed_at,
        "version": vector.version,
    }


def schema_json(declared: EventType) -> JsonObject:
    """Return an event type as the list of schemas shows it."""
    return {
        "eventType": declared.name,
        "category": declared.category,
        "version": declared.version,
        "summary": declared.summary,
        "href": f"/v1/schemas/{declared.name}",
    }


def _camel(values: JsonObject) -> JsonObject:
    return {to_camel(name): value for name, value in values.items()}

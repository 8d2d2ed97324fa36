"""EventNormalized: what other domains publish, read as an event of ours.

Source of the form and of the mapping: research/domain.md §5.
"""

from collections.abc import Mapping
from typing import Any, Final

from adapters.sources.lead_object import read_lead
from adapters.sources.spelling import Part
from domain.draft import Draft
from domain.errors import FieldError
from domain.event import KNOWN_SOURCES

_ENVELOPE_FIELDS: Final = ("lead", "externalEventId", "occurredAt")
"""Of `event.data`: these belong to the envelope, all others are the payload."""


class EventNormalized:
    """See `domain.draft.Translator`.

    The body is kept whole as rawPayload, and with it what has no place in the envelope: the
    category in `source.sourceType`, the rest of `event.data.lead`, `metadata.organizationId`.
    So nothing unknown is refused here, and nothing that is not read deserves a warning.
    """

    name = "normalized"
    keeps_raw = True

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """See `Translator.recognises`."""
        return "event" in document and "eventType" not in document

    def translate(self, document: Mapping[str, Any]) -> Draft:
        """See `Translator.translate`."""
        body = Part(document, "")
        metadata, source, event = body.part("metadata"), body.part("source"), body.part("event")
        data = event.part("data")
        lead = read_lead(data)
        key = event.get("key")
        identified_by = _first(data, "externalEventId", metadata, "eventId")
        timed_by = _first(data, "occurredAt", metadata, "timestamp")
        return Draft(
            address=lead.address,
            source=source.get("source"),
            source_type=_source_type(source.get("source")),
            event_type=key.lower() if isinstance(key, str) else key,
            external_event_id=identified_by[1],
            occurred_at=timed_by[1],
            # The time of the message is another one when the fact is published again.
            occurred_at_stated=data.get("occurredAt") is not None,
            correlation_id=metadata.get("correlationId"),
            payload=data.others(_ENVELOPE_FIELDS) if data.is_object else event.get("data"),
            raw_payload=dict(document),
            pointers={
                **lead.pointers,
                "/source": source.place("source"),
                "/eventType": event.place("key"),
                "/externalEventId": identified_by[0],
                "/occurredAt": timed_by[0],
                "/correlationId": metadata.place("correlationId"),
                "/payload": data.at,
                "/rawPayload": "",
            },
            problems=(*_not_objects(metadata, source, event), *lead.problems),
        )


def _first(data: Part, name: str, metadata: Part, fallback: str) -> tuple[str, Any]:
    """Return where the fact's own field stands and its value, else those of its message."""
    if data.get(name) is not None:
        return data.place(name), data.get(name)
    return metadata.place(fallback), metadata.get(fallback)


def _source_type(source: Any) -> str:
    return KNOWN_SOURCES.get(source.lower() if isinstance(source, str) else "", "EXTERNAL")


def _not_objects(*parts: Part) -> tuple[FieldError, ...]:
    return tuple(FieldError(part.at, "must be an object") for part in parts if not part.is_object)

"""The event store library's mapper, closed: a stored topic is looked up, never resolved as code."""

from collections.abc import Callable, Mapping
from typing import Any

from eventsourcing.persistence import JSONTranscoder, Mapper, StoredEvent

from domain import canonical
from domain.errors import CorruptEvent, Unavailable
from domain.event import Envelope, LeadEvent
from domain.records import LeadRecord

Upcast = Callable[[str, int, dict[str, Any]], dict[str, Any]]
"""(eventType, schemaVersion, payload) → the payload at the type's current version."""


class LeadMapper(Mapper[str]):
    """Between `LeadEvent` and `LeadRecord`: topic = eventType, state = canonical payload.

    Stored bytes stay as they are; older schema versions climb to the current one on reading. A
    type nobody declared keeps its payload as it is.
    """

    def __init__(self, versions: Mapping[str, int], upcast: Upcast) -> None:
        super().__init__(transcoder=JSONTranscoder())
        self._versions = versions
        self._upcast = upcast

    def to_stored_event(self, domain_event: Any) -> LeadRecord:
        """Return the record of a `LeadEvent`."""
        event: LeadEvent = domain_event
        return LeadRecord(
            originator_id=event.lead,
            originator_version=event.sequence,
            topic=event.event_type,
            state=canonical.dumps(event.payload),
            envelope=Envelope._make(event[3:16]),
            raw_payload=event.raw_payload,
        )

    def to_domain_event(self, stored_event: StoredEvent) -> LeadEvent:
        """Return the event of a record, at the current schema version of its type.

        Raises:
            CorruptEvent: the bytes are not what this service writes.
            Unavailable: the payload is sealed under a data key that is not at hand.
        """
        lead, sequence = str(stored_event.originator_id), stored_event.originator_version
        if not isinstance(stored_event, LeadRecord):
            raise CorruptEvent(lead, sequence, "it has no envelope")
        envelope = stored_event.envelope
        if envelope.key_id is not None:
            message = f"Event {sequence} is sealed and its data key is not at hand."
            raise Unavailable(message, hint="Configure the key store, then read again.")
        event_type = stored_event.topic
        try:
            payload = canonical.loads(stored_event.state)
            if self._versions.get(event_type, 0) > envelope.schema_version:
                payload = self._upcast(event_type, envelope.schema_version, payload)
        except (ValueError, TypeError, KeyError):
            raise CorruptEvent(lead, sequence, "its payload is not canonical JSON") from None
        if type(payload) is not dict:
            raise CorruptEvent(lead, sequence, "its payload is not an object")
        return LeadEvent(lead, sequence, event_type, *envelope, payload)

"""The recorded fact: `LeadEvent`, and `NewEvent`, what it is before the log has numbered it."""

from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, get_args

from domain import canonical, keys

SourceType = Literal["EXTERNAL", "INTERNAL", "DIRECT"]
SOURCE_TYPES: Final[tuple[SourceType, ...]] = get_args(SourceType)

KNOWN_SOURCES: Final[dict[str, SourceType]] = {
    **dict.fromkeys(("stripe", "hotmart", "shopify", "typeform"), "EXTERNAL"),
    **dict.fromkeys(
        (
            "messaging_service",
            "dispatch_service",
            "ai_agents_service",
            "billing_service",
            "ticketing_service",
        ),
        "INTERNAL",
    ),
    **dict.fromkeys(("whatsapp", "web", "instagram"), "DIRECT"),
}
"""The type of each source of the event schema (seed 003)."""

MAX_ID_CHARACTERS: Final = 255
"""Of externalEventId, objectId, objectIdRef and leadOrganizationId (seed 003)."""

OUR_SOURCE: Final = "lead_service"
"""Names the service itself as the reporter of a fact; nobody else may."""


class Envelope(NamedTuple):
    """Everything a stored event says about its payload, in the order both recorders keep it.

    Instants are fixed-width UTC (`domain.instants`). `key_id` absent means clear text; present
    means that payload and rawPayload are ciphertext under that data key.
    """

    event_id: str
    organization_id: str
    occurred_at: str
    received_at: str
    source_type: str
    source: str
    schema_version: int
    external_event_id: str
    object_id: str | None = None
    object_id_ref: str | None = None
    correlation_id: str | None = None
    causation_id: str | None = None
    key_id: str | None = None


class LeadEvent(NamedTuple):
    """One fact of one lead, as the log holds it.

    `sequence` is the order of arrival and of replay: 1, 2, 3 … without gaps. (`occurred_at`,
    `event_id`) is the order of meaning. `payload` has camelCase keys and the current schema
    version of its type; it must not be changed.
    """

    lead: str
    sequence: int
    event_type: str
    event_id: str
    organization_id: str
    occurred_at: str
    received_at: str
    source_type: str
    source: str
    schema_version: int
    external_event_id: str
    object_id: str | None
    object_id_ref: str | None
    correlation_id: str | None
    causation_id: str | None
    key_id: str | None
    payload: dict[str, Any]
    raw_payload: bytes | None = None

    @property
    def originator_id(self) -> str:
        """The lead, under the event store library's name."""
        return self.lead

    @property
    def originator_version(self) -> int:
        """The sequence, under the event store library's name."""
        return self.sequence

    @property
    def occurred_at_id(self) -> str:
        """The sort key of the event: unique, in the order of meaning."""
        return f"{self.occurred_at}#{self.event_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a lead was met: an identifier on a channel, in its normal form.

    `aliases` are other normal forms of the same address (a Brazilian number without its ninth
    digit); each of them finds the lead, and all of them are claimed for it.
    """

    channel: str
    identifier: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """A fact that is not recorded yet: validated, normalised, without a sequence.

    Exactly one of `lead` and `address` is given by the sender. `occurred_at_stated` says whether
    the sender stated `occurred_at`; what we filled in ourselves does not count as content.
    `receipt_key` is what makes the fact unique, `fingerprint` what tells its content.
    """

    event_id: str
    organization_id: str
    event_type: str
    source_type: SourceType
    source: str
    external_event_id: str
    occurred_at: str
    received_at: str
    payload: dict[str, Any]
    schema_version: int = 1
    lead: str | None = None
    address: Address | None = None
    occurred_at_stated: bool = True
    object_id: str | None = None
    object_id_ref: str | None = None
    correlation_id: str | None = None
    causation_id: str | None = None
    raw_payload: bytes | None = None
    fingerprint: str = field(init=False)
    receipt_key: str = field(init=False)

    def __post_init__(self) -> None:
        key = keys.receipt(self.organization_id, self.source, self.external_event_id)
        object.__setattr__(self, "receipt_key", key)
        fingerprint = canonical.digest(
            self.lead or "",
            self.occurred_at if self.occurred_at_stated else "",
            self.event_type,
            canonical.dumps(self.payload),
        )
        object.__setattr__(self, "fingerprint", fingerprint)

    def numbered(self, lead: str, sequence: int) -> LeadEvent:
        """Return the event as the log will hold it at this position of this lead."""
        return LeadEvent(
            lead=lead,
            sequence=sequence,
            event_type=self.event_type,
            event_id=self.event_id,
            organization_id=self.organization_id,
            occurred_at=self.occurred_at,
            received_at=self.received_at,
            source_type=self.source_type,
            source=self.source,
            schema_version=self.schema_version,
            external_event_id=self.external_event_id,
            object_id=self.object_id,
            object_id_ref=self.object_id_ref,
            correlation_id=self.correlation_id,
            causation_id=self.causation_id,
            key_id=None,
            payload=self.payload,
            raw_payload=self.raw_payload,
        )

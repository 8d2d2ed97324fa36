"""Who a lead is: the addresses that were found to be its own. Reported by `lead_service`."""

from typing import Annotated

from pydantic import Field

from domain.catalog._declare import Payload, event
from domain.catalog._fields import Channel, Id, describe

Identifier = Annotated[Id, describe("The address there, in its normal form.", "5511955550142")]
Aliases = Annotated[
    list[Id],
    Field(max_length=20),
    describe("Other normal forms of the same address.", ["551155550142"]),
]


@event("identity_linked", category="Identity")
class IdentityLinked(Payload):
    """An address, with its other forms, belongs to this lead from now on."""

    channel: Channel
    identifier: Identifier
    aliases: Aliases | None = None


@event("identity_conflict_detected", category="Identity")
class IdentityConflictDetected(Payload):
    """An address came with this lead although another one has it. It stays where it was."""

    channel: Channel
    identifier: Identifier
    aliases: Aliases | None = None
    other_lead_organization_id: Annotated[
        Id, describe("The lead that has it.", "019d0c4e-7a10-7c3f-9b1a-2f6f0f4f0a11")
    ]

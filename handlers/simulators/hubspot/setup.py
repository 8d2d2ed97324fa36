"""What a HubSpot on this machine is told to be like."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from handlers.simulators.hubspot.answers import Shapes
from handlers.simulators.hubspot.chaos import Chaos
from handlers.simulators.hubspot.portal import STAGES

READ_SCOPES: Final = frozenset(
    {
        *("crm.objects.contacts.read", "crm.objects.deals.read"),
        *("crm.schemas.contacts.read", "crm.schemas.deals.read"),
    }
)
WRITE_SCOPES: Final = frozenset({"crm.objects.contacts.write", "crm.objects.deals.write"})
SCHEMA_SCOPES: Final = frozenset({"crm.schemas.contacts.write", "crm.schemas.deals.write"})
SCOPES: Final = READ_SCOPES | WRITE_SCOPES | SCHEMA_SCOPES


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A token, what it may do, and since when it has expired."""

    token: str = "token-de-acesso"  # noqa: S105 - made up
    scopes: frozenset[str] = SCOPES
    expired_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What the account is like. What nobody knows of the real one can be told either way.

    Args:
        access: the tokens it accepts.
        port: where to listen; 0 takes a free one.
        stages: the ids of the stages of the pipeline `default`, by the name of what they stand for.
        keys: whether it has our unique properties already; `leads crm bootstrap` makes them.
        shapes: which shapes its refusals have.
        required: properties an administrator requires of contacts and deals; only versions since
            2026-09 enforce it.
        named_contacts: these versions also want a first name, last name or e-mail of a contact
            (HubSpot's guide to contacts).
        gone: versions past their end of life (`v3`, `2026-03`).
        reserved: an archived record keeps its unique values; else they are free again.
        archived_by_key: an archived record can be read by a unique value.
        preserve_id: a merge keeps the first record's id; else both are forwarded to a new one.
        drop_associations: a create answers 201 and leaves its associations out.
        ignored: properties (`deals.dealstage`) that are silently not written.
        lag_s: how long a search does not see a write, least and most.
        burst: requests of one token in 10 s. Source of the three limits: research/crm.md §1.2.
        daily: requests of the account on one of its days.
        searches: of the account in one second.
        utc_offset_hours: where its days begin.
        country: the code that its phones may leave out.
        faults: what goes wrong by chance.
        journal: how many requests are kept.
    """

    access: tuple[Access, ...] = (Access(),)
    port: int = 0
    stages: Mapping[str, str] = field(default_factory=lambda: dict(STAGES))
    keys: bool = True
    shapes: Shapes = field(default_factory=Shapes)
    required: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    named_contacts: bool = True
    gone: frozenset[str] = frozenset()
    reserved: bool = True
    archived_by_key: bool = True
    preserve_id: bool = False
    drop_associations: bool = False
    ignored: frozenset[str] = frozenset()
    lag_s: tuple[float, float] = (2.0, 6.0)
    burst: int = 190
    daily: int = 650_000
    searches: int = 5
    utc_offset_hours: int = -3
    country: str = "55"
    faults: Chaos = field(default_factory=Chaos)
    journal: int = 10_000

"""Both tables, declared once: keys, indexes, and what must never happen to them by accident.

`adapters.dynamodb` creates and queries what is declared here, `infra/template.yaml` says the same
to CloudFormation (a test compares them), and SQLite refuses what these keys would not take.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, NamedTuple

from domain.limits import Item, check_key

AttributeType = Literal["S", "N"]


class KeyAttribute(NamedTuple):
    """An attribute that is part of a key."""

    name: str
    type: AttributeType = "S"


class Index(NamedTuple):
    """An index. Sparse: an item without both attributes is not in it."""

    name: str
    pk: KeyAttribute
    sk: KeyAttribute
    projection: Literal["ALL", "KEYS_ONLY"] = "ALL"
    local: bool = False
    """Part of the table's own partition: consistent, and made with the table or never."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table: its keys, its indexes, and what must never happen to it by accident."""

    pk: KeyAttribute
    sk: KeyAttribute
    indexes: tuple[Index, ...]
    ttl: str | None = None
    deletion_protection: bool = False


_LEAD: Final = KeyAttribute("leadOrganizationId")

SEQUENCE_INDEX: Final = Index("sequence-index", _LEAD, KeyAttribute("sequence", "N"), local=True)
EVENT_TYPE_INDEX: Final = Index("event-type-index", _LEAD, KeyAttribute("eventTypeOccurredAt"))
IDEMPOTENCY_INDEX: Final = Index(
    "idempotency-index",
    KeyAttribute("organizationSource"),
    KeyAttribute("externalEventId"),
    "KEYS_ONLY",
)
"""For people. No promise rests on it, so a busy deployment may go without (DESIGN §4)."""
LEAD_INDEX: Final = Index("lead-index", KeyAttribute("leadShard"), _LEAD, "KEYS_ONLY")
GSI1: Final = Index("GSI1", KeyAttribute("GSI1PK"), KeyAttribute("GSI1SK"))

LOG: Final = Table(
    pk=_LEAD,
    sk=KeyAttribute("occurredAtId"),
    indexes=(SEQUENCE_INDEX, EVENT_TYPE_INDEX, IDEMPOTENCY_INDEX, LEAD_INDEX),
    deletion_protection=True,
)
"""Events, receipts, heads, identities. Without TTL: nothing in it may ever expire."""

STATE: Final = Table(pk=KeyAttribute("PK"), sk=KeyAttribute("SK"), indexes=(GSI1,), ttl="ttl")
"""View rows, records, locks."""


def check_keys(table: Table, item: Item) -> None:
    """Refuse an item whose keys the table or one of its indexes would refuse.

    Raises:
        LimitExceeded: a key is empty or too long.
    """
    for pk, sk, index in _key_names(table):
        if pk in item and sk in item:
            check_key(str(item[pk]), str(item[sk]), index=index)


@cache
def _key_names(table: Table) -> list[tuple[str, str, str]]:
    """Return (partition, sort, whose) for the keys of a table and of its indexes."""
    indexes = [(index.pk.name, index.sk.name, index.name) for index in table.indexes]
    return [(table.pk.name, table.sk.name, "the table"), *indexes]

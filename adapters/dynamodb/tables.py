"""Both tables, declared once: what `leads tables create` makes and every query relies on.

`infra/template.yaml` says the same to CloudFormation; a test compares the two.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from domain.limits import Item, check_key

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

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


class Names(NamedTuple):
    """What the two tables of one deployment are called."""

    log: str
    state: str


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


def create_tables(
    client: "DynamoDBClient", names: Names, *, idempotency_index: bool = True
) -> list[str]:
    """Create what is missing of both tables and wait until they can be used.

    A table that exists is left as it is, apart from point-in-time recovery and TTL, which are
    switched on where they should be and are not.

    Returns:
        The names of the tables that were created.
    """
    created = []
    for name, table in zip(names, (LOG, STATE), strict=True):
        request = request_for(name, table, idempotency_index=idempotency_index)
        try:
            status = client.create_table(**request)["TableDescription"]["TableStatus"]
            created.append(name)
        except client.exceptions.ResourceInUseException:
            status = "CREATING"
        if status != "ACTIVE":
            client.get_waiter("table_exists").wait(
                TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 120}
            )
        _protect(client, name, table)
    return created


def request_for(name: str, table: Table, *, idempotency_index: bool = True) -> dict[str, Any]:
    """Return the parameters of CreateTable."""
    indexes = [
        index for index in table.indexes if idempotency_index or index is not IDEMPOTENCY_INDEX
    ]
    keyed = [table.pk, table.sk, *(key for index in indexes for key in (index.pk, index.sk))]
    request: dict[str, Any] = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": key.name, "AttributeType": key.type} for key in dict.fromkeys(keyed)
        ],
        "KeySchema": _schema(table.pk, table.sk),
        "DeletionProtectionEnabled": table.deletion_protection,
    }
    for kind, local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
        described = [_index(index) for index in indexes if index.local is local]
        if described:
            request[kind] = described
    return request


@cache
def _key_names(table: Table) -> list[tuple[str, str, str]]:
    """Return (partition, sort, whose) for the keys of a table and of its indexes."""
    indexes = [(index.pk.name, index.sk.name, index.name) for index in table.indexes]
    return [(table.pk.name, table.sk.name, "the table"), *indexes]


def _index(index: Index) -> Mapping[str, Any]:
    return {
        "IndexName": index.name,
        "KeySchema": _schema(index.pk, index.sk),
        "Projection": {"ProjectionType": index.projection},
    }


def _schema(pk: KeyAttribute, sk: KeyAttribute) -> list[dict[str, str]]:
    return [
        {"AttributeName": pk.name, "KeyType": "HASH"},
        {"AttributeName": sk.name, "KeyType": "RANGE"},
    ]


def _protect(client: "DynamoDBClient", name: str, table: Table) -> None:
    """Switch on what CreateTable cannot; asking first, since saying it twice is an error."""
    backups = client.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    recovery = backups.get("PointInTimeRecoveryDescription", {})
    if recovery.get("PointInTimeRecoveryStatus") != "ENABLED":
        client.update_continuous_backups(
            TableName=name,
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
        )
    if table.ttl is None:
        return
    ttl = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    if ttl.get("TimeToLiveStatus") not in {"ENABLED", "ENABLING"}:
        client.update_time_to_live(
            TableName=name,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": table.ttl},
        )

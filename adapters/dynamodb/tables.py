"""Creating the two tables: what `leads tables create` does."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from adapters.tables import IDEMPOTENCY_INDEX, LOG, STATE, Index, KeyAttribute, Table
from domain.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


_RECOVERY_TRIES: Final = 60
_RECOVERY_PAUSE_S: Final = 2


class Names(NamedTuple):
    """What the two tables of one deployment are called."""

    log: str
    state: str


def create_tables(
    client: "DynamoDBClient", names: Names, *, idempotency_index: bool = True
) -> list[str]:
    """Create what is missing of both tables and wait until they can be used.

    A table that exists is left as it is, apart from point-in-time recovery and TTL, which are
    switched on where they should be and are not.

    Returns:
        The names of the tables that were created.

    Raises:
        errors.Unavailable: a table is there, and cannot be made recoverable yet.
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
        _make_recoverable(client, name)
    if table.ttl is None:
        return
    ttl = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    if ttl.get("TimeToLiveStatus") not in {"ENABLED", "ENABLING"}:
        client.update_time_to_live(
            TableName=name,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": table.ttl},
        )


def _make_recoverable(client: "DynamoDBClient", name: str) -> None:
    """Switch point-in-time recovery on, which DynamoDB refuses for a while after a table is made."""
    for _ in range(_RECOVERY_TRIES):
        try:
            client.update_continuous_backups(
                TableName=name,
                PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
            )
        except client.exceptions.ContinuousBackupsUnavailableException:
            time.sleep(_RECOVERY_PAUSE_S)
        else:
            return
    message = f"Point-in-time recovery of {name} cannot be switched on yet."
    raise Unavailable(message, hint="Run the command again in some minutes.", retry_after_s=60)

"""The requests of every write and of every list, each attribute behind a placeholder.

There is no UpdateItem here, and of the log no DeleteItem: the role that runs this has neither.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from adapters.actions import Action
from adapters.dynamodb import codec
from adapters.dynamodb.tables import Names
from adapters.tables import LOG, Index, KeyAttribute, Table
from domain.keys import Key
from domain.records import (
    Absent,
    AbsentOrBelow,
    Check,
    CheckHead,
    Condition,
    Equal,
    PutHead,
    Row,
    Value,
)

Request = dict[str, Any]

_OLD: Final = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}


class Span(NamedTuple):
    """One partition of a table or index, and which of its sort keys, both ends included.

    Without ends it is the whole partition: DynamoDB takes no empty text as an end.
    """

    pk: str
    low: Value | None = None
    high: Value | None = None


def write_of(action: Action, names: Names) -> Request:
    """Return one action of a TransactWriteItems."""
    guard = _guard(action)
    target = {"TableName": table_name(action.table, names), **guard}
    if action.verb == "put":
        return {"Put": {**target, "Item": codec.encode(action.item)}}
    verb = "Delete" if action.verb == "delete" else "ConditionCheck"
    return {verb: {**target, "Key": codec.encode(action.item)}}


def table_name(table: Table, names: Names) -> str:
    """Return what a table of this deployment is called."""
    return names.log if table is LOG else names.state


def condition_of(condition: Condition, pk: KeyAttribute) -> Request:
    """Return the parameters of a condition on the row that is written or checked."""
    match condition:
        case Absent():
            return absent(pk)
        case Equal(attribute, value):
            return _equal({attribute: value}, pk)
        case AbsentOrBelow(attribute, value):
            return {
                "ConditionExpression": "attribute_not_exists(#pk) OR #a < :a",
                "ExpressionAttributeNames": {"#pk": pk.name, "#a": attribute},
                "ExpressionAttributeValues": {":a": codec.encode_value(value)},
            }


def absent(pk: KeyAttribute) -> Request:
    """Return the parameters of the condition that nothing stands under the key."""
    return {
        "ConditionExpression": "attribute_not_exists(#pk)",
        "ExpressionAttributeNames": {"#pk": pk.name},
    }


def query_of(
    table: Table, names: Names, span: Span, *, index: Index | None = None, desc: bool
) -> Request:
    """Return a Query of one partition: no filter, so that every item read is one asked for.

    The table itself and its local index are read consistently.
    """
    pk, sk = (index.pk, index.sk) if index else (table.pk, table.sk)
    request: Request = {
        "TableName": table_name(table, names),
        "KeyConditionExpression": "#pk = :pk",
        "ExpressionAttributeNames": {"#pk": pk.name},
        "ExpressionAttributeValues": {":pk": codec.encode_value(span.pk)},
        "ScanIndexForward": not desc,
        "ConsistentRead": index is None or index.local,
    }
    if span.low is not None and span.high is not None:
        request["KeyConditionExpression"] += " AND #sk BETWEEN :low AND :high"
        request["ExpressionAttributeNames"]["#sk"] = sk.name
        request["ExpressionAttributeValues"] |= codec.encode({":low": span.low, ":high": span.high})
    if index:
        request["IndexName"] = index.name
    return request


def _guard(action: Action) -> Request:
    match action.subject:
        case Row() | Key():
            return {}
        case PutHead(expected_rev=rev):
            guard = absent(LOG.pk) if rev == 0 else _equal({"rev": rev}, LOG.pk)
        case CheckHead() as check:
            guard = _equal(
                {
                    "rev": check.rev,
                    "projected": check.projected,
                    "foldVersion": check.fold_version,
                    "goal": check.goal,
                },
                LOG.pk,
            )
        case Check(condition=condition):
            guard = condition_of(condition, action.table.pk)
        case _:
            guard = absent(LOG.pk)
    return {**guard, **_OLD}


def _equal(expected: Mapping[str, Value | None], pk: KeyAttribute) -> Request:
    """Return the condition that the item exists with these values; None is not compared."""
    compared = {name: value for name, value in expected.items() if value is not None}
    names = {f"#a{number}": name for number, name in enumerate(compared)}
    values = {f":a{number}": value for number, value in enumerate(compared.values())}
    terms = [f"{name} = {value}" for name, value in zip(names, values, strict=True)]
    guard: Request = {
        "ConditionExpression": " AND ".join(["attribute_exists(#pk)", *terms]),
        "ExpressionAttributeNames": {"#pk": pk.name, **names},
    }
    if values:
        guard["ExpressionAttributeValues"] = codec.encode(values)
    return guard

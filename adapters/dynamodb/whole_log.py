"""The one Scan there is: everything that stands in the log, for a restore, while nobody writes.

A restore may leave out the head of a lead that was new, and no index names such a lead. The role of
the functions may not scan: this is run by a person, with rights of his own.
"""

from adapters import cursor as cursors
from adapters.dynamodb import codec
from adapters.dynamodb.requests import Request
from adapters.dynamodb.wire import Wire
from adapters.tables import LOG
from domain import items, keys
from domain.records import Page


def streams(wire: Wire, *, cursor: str | None) -> Page[str]:
    """List what has a head or an event: events sort by their instant, which begins with a digit."""
    names = (LOG.pk.name, LOG.sk.name)
    request: Request = {
        "TableName": wire.names.log,
        "ConsistentRead": True,
        "ProjectionExpression": "#pk, #sk",
        "ExpressionAttributeNames": dict(zip(("#pk", "#sk"), names, strict=True)),
    }
    if cursor is not None:
        place = cursors.decode(cursor, ("streams",), len(names))
        request["ExclusiveStartKey"] = codec.encode(dict(zip(names, place, strict=True)))
    answer = wire.read(wire.client.scan, request)
    found: dict[str, None] = {}
    for item in map(codec.decode, answer["Items"]):
        pk, sk = str(item[items.PK]), str(item[items.SK])
        if sk == "HEAD":
            found[pk.removeprefix(keys.head(""))] = None
        elif sk[:1].isdigit():
            found[pk] = None
    last = answer.get("LastEvaluatedKey")
    following = None
    if last:
        following = cursors.encode(("streams",), [str(codec.decode(last)[name]) for name in names])
    return Page(list(found), following)

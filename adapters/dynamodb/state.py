"""The state table on DynamoDB."""

from collections.abc import Sequence

from adapters.actions import Action, check_row, check_rows, row_key
from adapters.dynamodb import codec, lists
from adapters.dynamodb.requests import Request, condition_of
from adapters.dynamodb.wire import Wire
from adapters.tables import STATE
from domain import items, limits
from domain.keys import Key
from domain.records import Condition, Page, Refused, Row


class DynamoStateTable:
    """View rows, records and locks, each read and written by itself."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def get(self, key: Key) -> Row | None:
        """Read one row with a consistent GetItem.

        Raises:
            errors.LimitExceeded: the key is none; nothing was sent.
        """
        limits.check_key(*key)
        answer = self._wire.get({**self._key(key), "ConsistentRead": True})
        return items.row_of(codec.decode(answer["Item"])) if "Item" in answer else None

    def query(
        self,
        pk: str,
        *,
        prefix: str = "",
        desc: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Row]:
        """List rows with one consistent Query a page."""
        return lists.rows(self._wire, pk, prefix=prefix, desc=desc, limit=limit, cursor=cursor)

    def query_index(
        self, pk: str, *, desc: bool = False, limit: int = 100, cursor: str | None = None
    ) -> Page[Row]:
        """List rows with one Query of GSI1 a page; the index may lag."""
        return lists.indexed_rows(self._wire, pk, desc=desc, limit=limit, cursor=cursor)

    def put(self, row: Row, condition: Condition | None = None) -> bool:
        """Write a row with PutItem.

        Raises:
            errors.LimitExceeded: DynamoDB would refuse the row; nothing was sent.
            errors.Uncertain: it may have been written.
        """
        item = codec.encode(check_row(row))
        return self._wire.put(
            {"TableName": self._wire.names.state, "Item": item, **_guard(condition)}
        )

    def write(self, puts: Sequence[tuple[Row, Condition | None]]) -> bool:
        """Write rows with one TransactWriteItems."""
        if not puts:
            return True
        items_of_rows = check_rows([row for row, _ in puts])
        actions: list[Action] = []
        requests: list[Request] = []
        for (row, condition), item in zip(puts, items_of_rows, strict=True):
            target = {"TableName": self._wire.names.state, "Item": codec.encode(item)}
            actions.append(Action("put", STATE, item, row))
            requests.append({"Put": {**target, **_guard(condition)}})
        try:
            self._wire.transact(actions, requests)
        except Refused:
            return False
        return True

    def delete(self, key: Key, condition: Condition | None = None) -> bool:
        """Delete a row with DeleteItem.

        Raises:
            errors.Uncertain: it may have been deleted.
        """
        return self._wire.delete({**self._key(key), **_guard(condition)})

    def _key(self, key: Key) -> Request:
        return {"TableName": self._wire.names.state, "Key": codec.encode(row_key(key))}


def _guard(condition: Condition | None) -> Request:
    return condition_of(condition, STATE.pk) if condition else {}

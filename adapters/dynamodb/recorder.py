"""The log on DynamoDB: one transaction a commit, and its reads."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NoReturn, TypeVar, cast

from eventsourcing.persistence import (
    ApplicationRecorder,
    NotSupportedError,
    PersistenceError,
    StoredEvent,
)

from adapters.actions import actions_of, head_key, row_key
from adapters.bare import bare_commit, lead_of
from adapters.dynamodb import codec, lists, whole_log
from adapters.dynamodb.requests import Request, write_of
from adapters.dynamodb.wire import Wire
from domain import items, limits
from domain.errors import LeadError, Rejected, Unavailable
from domain.event import Envelope
from domain.keys import Key
from domain.limits import Item
from domain.ports.storage import LeadRecorder
from domain.records import Commit, Head, LeadRecord, Page, Receipt, Snapshot, Write

_READS_BESIDE_THE_HEAD: Final = limits.MAX_ACTIONS - 1
_BATCH_ROUNDS: Final = 5
_NO_GLOBAL_ORDER: Final = (
    "The log on DynamoDB has no order across leads: one counter for all would be a hot item."
    " Follow a lead by its sequence instead."
)

T = TypeVar("T")
R = TypeVar("R")


class DynamoRecorder(LeadRecorder, ApplicationRecorder):
    """The log and the rows of its commits in two DynamoDB tables.

    Nothing here tries again, beyond what botocore does: who decides also decides that anew.
    """

    def __init__(self, wire: Wire, *, settle_s: float, workers: int) -> None:
        self.settle_s = settle_s
        self._wire = wire
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="commit")

    def close(self) -> None:
        """End the threads of `side_by_side`, after what they are doing."""
        self._pool.shutdown()

    def insert_events(
        self, stored_events: Sequence[StoredEvent], *, commit: Commit | None = None, **kwargs: Any
    ) -> Sequence[int] | None:
        """Write events and everything of the commit in one TransactWriteItems."""
        del kwargs
        if commit is None:
            if not stored_events:
                return None
            head = self.snapshot(lead_of(stored_events)).head
            commit = bare_commit(stored_events, head)
        actions = actions_of(stored_events, commit)
        names = self._wire.names
        self._wire.transact(actions, [write_of(action, names) for action in actions])
        return None

    def side_by_side(self, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Work on as many items at once as there are workers."""
        if len(items) <= 1:
            return [work(item) for item in items]
        return list(self._pool.map(work, items))

    def insert_many(self, writes: Sequence[Write]) -> list[Exception | None]:
        """Write several commits at once, a few beside each other."""
        return self.side_by_side(self._attempt, writes)

    def snapshot(
        self, lead: str, keys: Iterable[Key] = (), receipts: Iterable[str] = ()
    ) -> Snapshot:
        """Read all of it with TransactGetItems, the head in each, which `rev` ties together."""
        names = self._wire.names
        rows = [_get(names.state, row_key(key)) for key in dict.fromkeys(keys)]
        proofs = [_get(names.log, _receipt_key(key)) for key in dict.fromkeys(receipts)]
        found: list[Item | None] = []
        heads: list[Head | None] = []
        for first, *others in self._parts(_get(names.log, head_key(lead)), [*rows, *proofs]):
            heads.append(items.head_of(first) if first else None)
            found += others
        if len({head.rev if head else 0 for head in heads}) != 1:
            raise Unavailable("The lead was written to while it was read.")
        stored = [items.row_of(item) for item in found[: len(rows)] if item]
        taken = [items.receipt_of(item) for item in found[len(rows) :] if item]
        return Snapshot(
            heads[0], {row.key: row for row in stored}, {proof.key: proof for proof in taken}
        )

    def select_events(
        self,
        originator_id: Any,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        """Read a stream by sequence: consistent queries of the local index."""
        found = lists.events_by_sequence(
            self._wire,
            str(originator_id),
            first=0 if gt is None else gt + 1,
            last=limits.MAX_INTEGER if lte is None else lte,
            desc=desc,
            limit=limit,
        )
        return [_stored_event(item, originator_id) for item in found]

    def select_by_time(  # noqa: PLR0913 - one query, all of its clauses
        self,
        lead: str,
        *,
        event_type: str | None = None,
        since: str | None = None,
        until: str | None = None,
        desc: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[LeadRecord]:
        """Read a page with one Query: of the table, or of `event-type-index` for one type."""
        page = lists.events_by_time(
            self._wire,
            lead,
            event_type=event_type,
            since=since,
            until=until,
            desc=desc,
            limit=limit,
            cursor=cursor,
        )
        return Page([_lead_record(item, lead) for item in page.items], page.cursor)

    def raw_payload(self, lead: str, sequence: int) -> bytes | None:
        """Read rawPayload with one consistent Query."""
        return lists.raw_payload(self._wire, lead, sequence)

    def resolve(self, identities: Sequence[str]) -> dict[str, str]:
        """Read all identities in as few consistent BatchGetItems as possible."""
        wanted = [codec.encode({items.PK: key, items.SK: "LEAD"}) for key in set(identities)]
        found: dict[str, str] = {}
        for start in range(0, len(wanted), limits.MAX_ACTIONS):
            for item in self._read_each(wanted[start : start + limits.MAX_ACTIONS]):
                found[str(item[items.PK])] = str(item["lead"])
        return found

    def receipt(self, key: str) -> Receipt | None:
        """Read one receipt with a consistent GetItem."""
        answer = self._wire.get(
            {
                "TableName": self._wire.names.log,
                "Key": codec.encode(_receipt_key(key)),
                "ConsistentRead": True,
            }
        )
        return items.receipt_of(codec.decode(answer["Item"])) if "Item" in answer else None

    def leads(self, organization_id: str, *, limit: int, cursor: str | None = None) -> Page[str]:
        """List an organization's leads from `lead-index`, shard after shard."""
        return lists.leads(self._wire, organization_id, limit=limit, cursor=cursor)

    def streams(self, *, cursor: str | None = None) -> Page[str]:
        """Scan the log, a page of 1 MB at a time."""
        return whole_log.streams(self._wire, cursor=cursor)

    def settle(self) -> None:
        """Wait; DynamoDB does not tell when a commit is visible to every read."""
        time.sleep(self.settle_s)

    def select_notifications(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: there is no global order on DynamoDB."""
        raise NotSupportedError(_NO_GLOBAL_ORDER)

    def max_notification_id(self) -> NoReturn:
        """Refuse: there is no global order on DynamoDB."""
        raise NotSupportedError(_NO_GLOBAL_ORDER)

    def subscribe(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: there is no global order on DynamoDB."""
        raise NotSupportedError(_NO_GLOBAL_ORDER)

    def _attempt(self, write: Write) -> Exception | None:
        try:
            self.insert_events(write.events, commit=write.commit)
        except (LeadError, PersistenceError) as error:
            return error
        return None

    def _parts(self, head: Request, wanted: list[Request]) -> Iterator[list[Item | None]]:
        """Yield what is wanted in order, in parts of one moment each, the head first in each.

        A part whose items are larger than 4 MB together is refused, and read in halves.
        """
        size = _READS_BESIDE_THE_HEAD
        waiting = [wanted[start : start + size] for start in range(0, len(wanted) or 1, size)]
        while waiting:
            part = waiting.pop(0)
            gets = [{"Get": get} for get in (head, *part)]
            try:
                answer = self._wire.transact_get({"TransactItems": gets})
            except Rejected:
                if len(part) < 2:
                    raise
                half = len(part) // 2
                waiting[:0] = [part[:half], part[half:]]
                continue
            yield [
                codec.decode(response["Item"]) if response.get("Item") else None
                for response in answer["Responses"]
            ]

    def _read_each(self, wanted: list[codec.Wire]) -> list[Item]:
        """Read items of the log; what DynamoDB leaves unread is asked for again, a few times."""
        log = self._wire.names.log
        found: list[Item] = []
        for _ in range(_BATCH_ROUNDS):
            answer = self._wire.batch_get(
                {"RequestItems": {log: {"Keys": wanted, "ConsistentRead": True}}}
            )
            found += [codec.decode(item) for item in answer["Responses"].get(log, [])]
            wanted = answer.get("UnprocessedKeys", {}).get(log, {}).get("Keys", [])
            if not wanted:
                return found
        raise Unavailable("DynamoDB is beyond its capacity.")


def _get(table: str, key: Item) -> Request:
    return {"TableName": table, "Key": codec.encode(key)}


def _receipt_key(key: str) -> Item:
    return {items.PK: key, items.SK: "KEY"}


def _stored_event(item: Item, originator_id: Any) -> StoredEvent:
    """Return the record of an event, a plain one of an event that came without an envelope."""
    if "eventId" in item:
        return _lead_record(item, originator_id)
    return StoredEvent(
        originator_id=originator_id,
        originator_version=cast("int", item["sequence"]),
        topic=cast("str", item["eventType"]),
        state=cast("bytes", item["payload"]),
    )


def _lead_record(item: Item, originator_id: Any) -> LeadRecord:
    payload = item["payload"]
    fields: list[Any] = [item.get(name) for name in items.ENVELOPE_ATTRIBUTES]
    return LeadRecord(
        originator_id=originator_id,
        originator_version=cast("int", item["sequence"]),
        topic=cast("str", item["eventType"]),
        state=payload.encode() if isinstance(payload, str) else cast("bytes", payload),
        envelope=Envelope._make(fields),
    )

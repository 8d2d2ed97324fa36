"""What no engine does by itself, done to one client; and what one client was asked to do.

Everything hooks into botocore's events of a client, so it works on any engine, except for the
network faults, which need an engine behind a network (ministack).
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError

from adapters.dynamodb import codec
from adapters.tables import LOG, SEQUENCE_INDEX, STATE
from domain import limits

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

WRITE = "TransactWriteItems"
READ = "TransactGetItems"
OPERATIONS = (WRITE, READ, "Query", "GetItem", "BatchGetItem", "PutItem", "DeleteItem")


class Faults:
    """Faults of one client. botocore's own retries are off, so each fault is one answer.

    Each method makes the next `times` requests of an operation fail; after those all is well.
    """

    def __init__(self, client: "DynamoDBClient", *, retries: bool = False) -> None:
        self._client = client
        if not retries:
            # The first answer of a needs-retry handler counts, and more specific ones are asked
            # first.
            for operation in OPERATIONS:
                client.meta.events.register(f"needs-retry.dynamodb.{operation}", _never)

    def cancel(self, codes: Sequence[str], *, operation: str = WRITE, times: int = 1) -> None:
        """Cancel a transaction with these codes, one an action."""
        reasons = [{"Code": code} for code in codes]
        self.answer(
            "TransactionCanceledException", operation, times=times, CancellationReasons=reasons
        )

    def conflict(self, operation: str = WRITE, *, times: int = 1) -> None:
        """Have another transaction at work on one of the items."""
        self.cancel(["TransactionConflict"], operation=operation, times=times)

    def throttle(self, operation: str = WRITE, *, times: int = 1) -> None:
        """Be beyond the capacity of the table."""
        self.answer("ProvisionedThroughputExceededException", operation, times=times)

    def answer(
        self, code: str, operation: str = WRITE, *, status: int = 400, times: int = 1, **more: Any
    ) -> None:
        """Answer with an error instead of doing anything."""
        body = json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{code}", **more}).encode()

        def answered(request: Any) -> AWSResponse:
            return AWSResponse(request.url, status, HTTPHeaders(), _Raw(body))

        self._next(operation, times, answered)

    def lose_reply(self, operation: str = WRITE, *, times: int = 1) -> None:
        """Do what is asked and lose the answer."""
        session = cast("Any", self._client)._endpoint.http_session

        def lost(request: Any) -> None:
            session.send(request)
            raise ReadTimeoutError(endpoint_url="the engine")

        self._next(operation, times, lost)

    def lose_request(self, operation: str = WRITE, *, times: int = 1) -> None:
        """Do nothing and answer nothing."""

        def lost(request: Any) -> None:
            raise ReadTimeoutError(endpoint_url="the engine")

        self._next(operation, times, lost)

    def be_down(self, operation: str = WRITE, *, times: int = 1) -> None:
        """Accept no connection."""

        def refused(request: Any) -> None:
            raise EndpointConnectionError(endpoint_url="the engine")

        self._next(operation, times, refused)

    def delay(self, seconds: float, operation: str = WRITE, *, times: int = 1) -> None:
        """Send the request, but later."""

        def delayed(request: Any) -> None:
            time.sleep(seconds)

        self._next(operation, times, delayed)

    def meet(self, barrier: threading.Barrier, operation: str = WRITE) -> None:
        """Send as many requests as the barrier has parties only once all of them are there."""

        def met(request: Any) -> None:
            barrier.wait()

        self._next(operation, barrier.parties, met)

    def before(self, act: Callable[[], None], operation: str = WRITE) -> None:
        """Run something between the caller's decision and the arrival of its next request."""

        def acted(request: Any) -> None:
            act()

        self._next(operation, 1, acted)

    def _next(self, operation: str, times: int, fault: Callable[[Any], Any]) -> None:
        event = f"before-send.dynamodb.{operation}"
        left = [times]

        def handle(request: Any, **_: Any) -> Any:
            if left[0] <= 0:
                return None
            left[0] -= 1
            return fault(request)

        self._client.meta.events.register_first(event, handle)


@dataclass(frozen=True)
class Call:
    """One request as the service made it; botocore's retries of it are not counted."""

    operation: str
    request: dict[str, Any]

    @property
    def write_units(self) -> int:
        """Units of what is written, index entries aside; deletes and checks as of a small item."""
        if self.operation == WRITE:
            return sum(map(_action_units, self.request["TransactItems"]))
        if self.operation == "PutItem":
            size = limits.item_size(codec.decode(self.request["Item"]))
            return limits.write_units(size, transactional=False)
        return 1 if self.operation == "DeleteItem" else 0


class Calls(list[Call]):
    """The requests of a client, in order."""

    @property
    def operations(self) -> list[str]:
        """What was asked for, in order."""
        return [call.operation for call in self]

    @property
    def write_units(self) -> int:
        """Units of all writes."""
        return sum(call.write_units for call in self)


@contextmanager
def counted(client: "DynamoDBClient") -> Iterator[Calls]:
    """Lend the list of the requests that are made meanwhile."""
    calls = Calls()

    def note(params: dict[str, Any], model: Any, **_: Any) -> None:
        calls.append(Call(model.name, dict(params)))

    client.meta.events.register("before-parameter-build.dynamodb", note)
    try:
        yield calls
    finally:
        client.meta.events.unregister("before-parameter-build.dynamodb", note)


class LaggingIndexes:
    """Global indexes that do not show what was written since `lag`, until `catch_up`.

    Entries of items that were overwritten are left out too, which is not how a real index lags.
    """

    def __init__(self, client: "DynamoDBClient") -> None:
        self._unseen: set[tuple[str, str]] = set()
        self._lagging = False
        events = client.meta.events
        events.register("before-parameter-build.dynamodb.TransactWriteItems", self._note_all)
        events.register("before-parameter-build.dynamodb.PutItem", self._note_one)
        events.register("before-parameter-build.dynamodb.Query", self._note_query)
        events.register("after-call.dynamodb.Query", self._hide)

    def lag(self) -> None:
        """From now on show nothing that is written."""
        self._lagging = True

    def catch_up(self) -> None:
        """Show everything again."""
        self._lagging = False
        self._unseen.clear()

    def _note_all(self, params: dict[str, Any], **_: Any) -> None:
        for action in params["TransactItems"]:
            if "Put" in action:
                self._note_one(action["Put"])

    def _note_one(self, params: dict[str, Any], **_: Any) -> None:
        if self._lagging:
            self._unseen.add(_key_of(params["Item"]))

    def _note_query(self, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["tests.index"] = params.get("IndexName")

    def _hide(self, parsed: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        if context["tests.index"] in {None, SEQUENCE_INDEX.name}:
            return
        parsed["Items"] = [item for item in parsed["Items"] if _key_of(item) not in self._unseen]


class _Raw(BytesIO):
    """A body in the form that botocore reads one."""

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self.read()


def _never(**_: Any) -> Any:
    return False


def _action_units(action: dict[str, Any]) -> int:
    item = codec.decode(action["Put"]["Item"]) if "Put" in action else {}
    return limits.write_units(limits.item_size(item))


def _key_of(item: dict[str, Any]) -> tuple[str, str]:
    table = LOG if LOG.pk.name in item and LOG.sk.name in item else STATE
    return item[table.pk.name]["S"], item[table.sk.name]["S"]

"""A recorder and a state table that a test can stop at any call, and a log that runs on them.

An interleaving is a stack: inside one actor's call, before or after it, another actor runs. What a
stack cannot do, a late request can: `hold` keeps a commit as the network may, its sender dies, and
`deliver` lets it arrive. Only counts and callbacks: no threads, no time.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from eventsourcing.persistence import InfrastructureFactory, StoredEvent

from domain.errors import LimitExceeded, Unavailable, Uncertain
from domain.keys import Key
from domain.ports.storage import LeadRecorder, StateTable
from domain.records import Commit, Condition, LeadRecord, Page, Receipt, Row, Snapshot, Write
from projections.committing import Edition
from projections.lead_log import LeadLog

T = TypeVar("T")
Act = Callable[[], Any]
Call = Callable[[], Any]


class Died(BaseException):
    """The process is gone. Not an Exception, so nothing on the way up survives it."""


class Steps:
    """Callbacks around the calls of one actor, by operation and number."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self._held: Call | None = None
        self._acts: dict[tuple[str, str, int], list[Act]] = defaultdict(list)
        self._instead: dict[tuple[str, int], Callable[[Call], Any]] = {}
        self._changes: dict[str, Callable[[Any], Any]] = {}

    def before(self, operation: str, act: Act, *, n: int = 1) -> None:
        """Run something before the n-th call from now."""
        self._acts["before", operation, self.calls[operation] + n].append(act)

    def after(self, operation: str, act: Act, *, n: int = 1) -> None:
        """Run something after the n-th call from now, before its caller has the answer."""
        self._acts["after", operation, self.calls[operation] + n].append(act)

    def instead(self, operation: str, act: Callable[[Call], Any], *, n: int = 1) -> None:
        """Answer the n-th call from now otherwise; the real call is at hand."""
        self._instead[operation, self.calls[operation] + n] = act

    def change(self, operation: str, act: Callable[[Any], Any]) -> None:
        """Change every answer of an operation from now on."""
        self._changes[operation] = act

    def die(self, operation: str = "insert_events", *, n: int = 1) -> None:
        """Crash before the n-th call from now."""
        self.instead(operation, _die, n=n)

    def hold(self, operation: str = "insert_events", *, n: int = 1) -> None:
        """Send the n-th call from now into a slow network, and crash."""

        def keep(call: Call) -> Any:
            self._held = call
            raise Died

        self.instead(operation, keep, n=n)

    def deliver(self) -> Exception | None:
        """Let the held request arrive, once more each time; return what nobody hears."""
        assert self._held is not None, "nothing was held"
        try:
            self._held()
        except Exception as error:  # noqa: BLE001 - the answer of a dead sender's request
            return error
        return None

    def lose_reply(self, *, n: int = 1) -> None:
        """Do the n-th commit from now, and lose the answer."""

        def lose(call: Call) -> Any:
            call()
            raise Uncertain("no answer")

        self.instead("insert_events", lose, n=n)

    def lose_request(self, *, n: int = 1) -> None:
        """Lose the n-th commit from now on its way."""

        def lose(_: Call) -> Any:
            raise Uncertain("no answer")

        self.instead("insert_events", lose, n=n)

    def be_down(self, operation: str = "insert_events", *, n: int = 1) -> None:
        """Answer the n-th call from now with Unavailable."""

        def down(_: Call) -> Any:
            raise Unavailable("down")

        self.instead(operation, down, n=n)

    def run(self, operation: str, call: Callable[[], T]) -> T:
        """Make one call, with everything that was planned around it."""
        self.calls[operation] += 1
        n = self.calls[operation]
        for act in self._acts.pop(("before", operation, n), []):
            act()
        instead = self._instead.pop((operation, n), None)
        answer: T = call() if instead is None else instead(call)
        if operation in self._changes:
            answer = self._changes[operation](answer)
        for act in self._acts.pop(("after", operation, n), []):
            act()
        return answer


def insert_each(recorder: LeadRecorder, writes: Iterable[Write]) -> list[Exception | None]:
    """Commit one after the other; each has an answer of its own."""
    answers: list[Exception | None] = []
    for write in writes:
        try:
            recorder.insert_events(write.events, commit=write.commit)
        except Exception as error:  # noqa: BLE001 - the answer of this write, whatever it is
            answers.append(error)
        else:
            answers.append(None)
    return answers


class Stepping(LeadRecorder):
    """One actor's recorder. `send` is how a commit reaches the store, for tests to tamper with."""

    def __init__(
        self,
        recorder: LeadRecorder,
        steps: Steps,
        send: Callable[[Sequence[StoredEvent], Commit], Any],
        most_rows: int | None = None,
    ) -> None:
        self.settle_s = recorder.settle_s
        self._recorder = recorder
        self._steps = steps
        self._send = send
        self._most_rows = most_rows

    def insert_events(
        self, stored_events: Sequence[StoredEvent], *, commit: Commit | None = None, **kwargs: Any
    ) -> Sequence[int] | None:
        assert commit is not None
        self._measure(commit)
        answer: Sequence[int] | None = self._steps.run(
            "insert_events", lambda: self._send(stored_events, commit)
        )
        return answer

    def insert_many(self, writes: Sequence[Write]) -> list[Exception | None]:
        leads = [write.events[0].originator_id for write in writes]
        assert len(set(leads)) == len(leads), "the commits of one call are of different leads"
        return insert_each(self, writes)

    def snapshot(
        self, lead: str, keys: Iterable[Key] = (), receipts: Iterable[str] = ()
    ) -> Snapshot:
        wanted, proofs = list(keys), list(receipts)
        return self._steps.run("snapshot", lambda: self._recorder.snapshot(lead, wanted, proofs))

    def select_events(self, originator_id: Any, **span: Any) -> Sequence[StoredEvent]:
        return self._steps.run(
            "select_events", lambda: self._recorder.select_events(originator_id, **span)
        )

    def select_by_time(self, lead: str, **clauses: Any) -> Page[LeadRecord]:
        return self._steps.run(
            "select_by_time", lambda: self._recorder.select_by_time(lead, **clauses)
        )

    def raw_payload(self, lead: str, sequence: int) -> bytes | None:
        return self._steps.run("raw_payload", lambda: self._recorder.raw_payload(lead, sequence))

    def resolve(self, identities: Sequence[str]) -> dict[str, str]:
        return self._steps.run("resolve", lambda: self._recorder.resolve(identities))

    def receipt(self, key: str) -> Receipt | None:
        return self._steps.run("receipt", lambda: self._recorder.receipt(key))

    def leads(self, organization_id: str, *, limit: int, cursor: str | None = None) -> Page[str]:
        return self._steps.run(
            "leads", lambda: self._recorder.leads(organization_id, limit=limit, cursor=cursor)
        )

    def streams(self, *, cursor: str | None = None) -> Page[str]:
        return self._steps.run("streams", lambda: self._recorder.streams(cursor=cursor))

    def settle(self) -> None:
        self._steps.run("settle", self._recorder.settle)

    def _measure(self, commit: Commit) -> None:
        """Refuse more view rows than a test allows, so that small leads need several commits."""
        rows = [
            key for key in (*(row.key for row in commit.puts), *commit.deletes) if _is_view(key)
        ]
        if self._most_rows is not None and len(rows) > self._most_rows:
            message = "A transaction would hold more rows than this test allows."
            raise LimitExceeded(message)


class SteppingTable:
    """One actor's state table."""

    def __init__(self, table: StateTable, steps: Steps) -> None:
        self._table = table
        self._steps = steps

    def get(self, key: Key) -> Row | None:
        return self._steps.run("get", lambda: self._table.get(key))

    def query(self, pk: str, **clauses: Any) -> Page[Row]:
        return self._steps.run("query", lambda: self._table.query(pk, **clauses))

    def query_index(self, pk: str, **clauses: Any) -> Page[Row]:
        return self._steps.run("query_index", lambda: self._table.query_index(pk, **clauses))

    def put(self, row: Row, condition: Condition | None = None) -> bool:
        return self._steps.run("put", lambda: self._table.put(row, condition))

    def write(self, puts: Sequence[tuple[Row, Condition | None]]) -> bool:
        return self._steps.run("write", lambda: self._table.write(puts))

    def delete(self, key: Key, condition: Condition | None = None) -> bool:
        return self._steps.run("delete", lambda: self._table.delete(key, condition))


class SteppedLog(LeadLog):
    """One actor: a log of one edition on a store that it shares with others."""

    def __init__(
        self,
        factory: InfrastructureFactory[Any],
        recorder: LeadRecorder,
        table: StateTable,
        *,
        edition: Edition,
        new_id: Callable[[], str],
        send: Callable[[Sequence[StoredEvent], Commit], Any],
        most_rows: int | None = None,
    ) -> None:
        self.steps = Steps()
        self._shared = factory
        self._stepping = Stepping(recorder, self.steps, send, most_rows)
        self.pauses: list[int] = []
        super().__init__({}, new_id=new_id, pause=self.pauses.append, edition=edition)
        self.table = self.reader.table = SteppingTable(table, self.steps)

    def construct_factory(self, env: Any) -> InfrastructureFactory[Any]:
        return self._shared

    def construct_recorder(self) -> Any:
        return self._stepping

    def close(self) -> None:
        """Leave the store open: the library closes it with the first actor that is gone."""


def _is_view(key: Key) -> bool:
    return not key.pk.startswith("LAG#")


def _die(_: Call) -> Any:
    raise Died

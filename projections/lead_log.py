"""`LeadLog`: the one way into a lead's stream, on the event store library."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, cast

from eventsourcing.application import Application
from eventsourcing.utils import EnvType

from domain import catalog
from domain.errors import LeadError, Outage
from domain.event import LeadEvent, NewEvent
from domain.outcomes import Outcome
from domain.ports.storage import LeadRecorder, StateTable
from domain.records import Commit, Write
from projections import ALL, FOLD_VERSION
from projections.addressing import Addressee, KnownIdentities
from projections.appending import Group, Planned, grouped
from projections.committing import Edition
from projections.deciding import Decision, Recorded, Recording
from projections.mapper import LeadMapper
from projections.reading import ROUNDS, Reader
from projections.repairing import Repairer
from projections.restoring import Restorer
from projections.verifying import Verifier


class Stores(Protocol):
    """What a persistence module's factory offers beside the library's recorders."""

    def state_table(self) -> StateTable:
        """Return the state table of the same deployment."""
        ...


class LeadLog(Application[str]):
    """A deployment's log, and the views its commits keep.

    Args:
        env: PERSISTENCE_MODULE (`adapters.sqlite` or `adapters.dynamodb`) and that module's own.
        new_id: makes identifiers: of leads, of attempts, of our own events.
        pause: waits before the next try, told how many there were; with jitter.
        edition: the projections to keep, the shipped ones unless said otherwise.
    """

    name = "leads"

    def __init__(
        self,
        env: EnvType,
        *,
        new_id: Callable[[], str],
        pause: Callable[[int], None],
        edition: Edition | None = None,
    ) -> None:
        super().__init__(env)
        self.new_id = new_id
        self.pause = pause
        self._known = KnownIdentities()
        self.edition = edition or Edition(ALL, FOLD_VERSION)
        self.store = cast("LeadRecorder", self.recorder)
        self.table = cast("Stores", self.factory).state_table()
        self.reader = Reader(self.store, self.table, self.events, self.edition, pause)
        self.verifier = Verifier(self.reader)
        self.repairer = Repairer(self.reader, self._commit, pause)
        self.restorer = Restorer(self.reader, self.repairer, self._put, new_id)

    def construct_mapper(self) -> LeadMapper:
        """Return the closed mapper: stored topics are never resolved as code."""
        versions = {name: each.version for name, each in catalog.TYPES.items()}
        return LeadMapper(versions, catalog.upcast)

    def append(self, facts: Sequence[NewEvent]) -> list[Outcome]:
        """Record independent facts, each answered for itself, in the order given.

        Facts of one lead are committed together, at most 40 at once; a lead's failure is its own.
        When this returns, every `Appended` is durable and in every read that starts now.
        """
        groups = [
            Group(members, nonce=self.new_id(), new_id=self.new_id, known=self._known)
            for members in grouped(facts)
        ]
        waiting, attempt = groups, 0
        while waiting and attempt < ROUNDS:
            planned = self._plans(waiting)
            answers = self._send([plan for _, plan in planned])
            forward = [
                group.settle(answer) for (group, _), answer in zip(planned, answers, strict=True)
            ]
            waiting = [group for group in waiting if group.pending]
            if not any(forward):
                attempt += 1
                if waiting:
                    self.pause(attempt)
        for group in waiting:
            group.give_up()
        answers_by_index = {
            index: each for group in groups for index, each in group.answers.items()
        }
        return [answers_by_index[index] for index in range(len(facts))]

    def record(self, decision: Decision) -> Recorded:
        """Decide on one moment of a lead and record what is decided, all of it or nothing.

        Raises:
            Rejected, NotFound, Unavailable: see `Recording.run`.
        """
        addressee = None
        if decision.address is not None:
            addressee = Addressee(
                decision.organization_id, decision.address, self.new_id, self._known
            )
        recording = Recording(decision, self.reader, self._put, self.new_id(), addressee)
        return recording.run(self.pause)

    def knows(self, identities: Sequence[str]) -> bool:
        """Tell whether any of these identities is some lead's.

        Raises:
            Unavailable: the store cannot answer.
        """
        return bool(self._known.resolve(self.store, identities))

    def _plans(self, groups: Sequence[Group]) -> list[tuple[Group, Planned]]:
        """Plan a commit of each group, one a lead: two addresses may turn out to be one lead's."""
        outages: list[Outage] = []
        plans = self.store.side_by_side(partial(self._plan, outages), groups)
        if outages:
            for group in groups:
                group.fail(outages[0])
            return []
        planned: dict[str, tuple[Group, Planned]] = {}
        for group, plan in zip(groups, plans, strict=True):
            if plan is not None:
                planned.setdefault(plan[0][0].lead, (group, plan))
        return list(planned.values())

    def _plan(self, outages: list[Outage], group: Group) -> Planned | None:
        """Plan a commit of one group; after an outage nobody looks again, to wait as long."""
        if outages:
            return None
        try:
            with self.store.planning():
                return group.prepare(self.store, self.edition)
        except Outage as error:
            outages.append(error)
        except LeadError as error:
            group.fail(error)
        return None

    def _send(self, planned: Sequence[Planned]) -> list[Exception | None]:
        if len(planned) == 1:
            try:
                self._put(*planned[0])
            except Exception as error:  # noqa: BLE001 - the group sorts answers, and raises others
                return [error]
            return [None]
        store = self.mapper.to_stored_event
        return self.store.insert_many(
            [Write([store(event) for event in events], commit) for events, commit in planned]
        )

    def _commit(self, commit: Commit) -> None:
        self.events.put([], commit=commit)

    def _put(self, events: Sequence[LeadEvent], commit: Commit) -> None:
        self.events.put(events, commit=commit)

"""Recording what a decision yields: decided on one moment, committed whole or not at all."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from domain.errors import (
    LimitExceeded,
    NotFound,
    Outage,
    Rejected,
    Unavailable,
    Uncertain,
    ViewBroken,
)
from domain.event import LeadEvent, NewEvent
from domain.keys import Key
from domain.records import Commit, Head, Receipt, Refused
from projections.committing import (
    commit_alone,
    commit_with_rows,
    first_head,
    rows_follow,
)
from projections.committing import ground as rows_of
from projections.folding import current, touched
from projections.projection import NeedRow, Projection
from projections.reading import ROUNDS, Ground, Reader

Put = Callable[[Sequence[LeadEvent], Commit], None]


class Command(NamedTuple):
    """What a decision answers to: the receipt key of its first fact, and what was asked.

    The fingerprint is of the request, not of the fact: what is decided may differ between tries.
    """

    key: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision to make about one lead.

    Args:
        decide: from one moment's states, the facts to record; pure, may be called several times.
        stands_on: the projections whose states it reads; a bug in another must not silence it.
        keys: rows it reads. Reading another one asks for it and decides again.
    """

    organization_id: str
    lead: str
    decide: Callable[[Ground], Sequence[NewEvent]]
    stands_on: Sequence[Projection]
    keys: Sequence[Key] = ()
    command: Command | None = None


class Recorded(NamedTuple):
    """What became of a decision.

    `events` were recorded by this call. `receipt` is that of the command, also when an earlier
    call recorded it (then `events` is empty); None if nothing was ever recorded for it.
    """

    events: tuple[LeadEvent, ...]
    receipt: Receipt | None


class Recording:
    """One run of a decision: look, decide, commit; after a conflict look and decide again."""

    def __init__(self, decision: Decision, reader: Reader, put: Put, nonce: str) -> None:
        self._decision = decision
        self._reader = reader
        self._put = put
        self._nonce = nonce
        self._wanted = list(decision.keys)
        self._taken: set[str] = set()
        self._tries: dict[tuple[str, int], Recorded] = {}

    def run(self, pause: Callable[[int], None]) -> Recorded:
        """Return what was recorded.

        Raises:
            Rejected: a fact it insists on was recorded before by something else.
            ViewBroken: a projection it stands on cannot read an event.
            Unavailable: other writers were faster every time, or the store cannot answer.
            Uncertain: the store never told; it may have been recorded.
        """
        faster = Unavailable("Other writers of this lead were faster.")
        error: Unavailable | Uncertain = faster
        for attempt in range(1, ROUNDS + 1):
            try:
                recorded = self._once()
            except Refused as refused:
                self._taken.update(receipt.key for receipt in refused.receipts)
                recorded = self._own(refused.receipts)
                error = faster
            except (Unavailable, Uncertain) as failure:
                # What may have been written stays in doubt until the store refuses a later try.
                error = error if isinstance(error, Uncertain) else failure
                if isinstance(failure, Outage | ViewBroken):
                    raise error from failure
                recorded = None
            if recorded is not None:
                return recorded
            pause(attempt)
        raise error

    def _once(self) -> Recorded | None:
        decision = self._decision
        command = decision.command
        receipts = [command.key] if command else []
        receipts += [recorded.receipt.key for recorded in self._tries.values() if recorded.receipt]
        try:
            ground = self._reader.ground(decision.lead, decision.stands_on, self._wanted, receipts)
            self._check_owner(ground)
            own = self._own(ground.receipts.values())
            if own is not None:
                return own
            known = ground.receipts.get(command.key) if command else None
            if known is not None:
                return self._answer_known(known)
            facts = decision.decide(ground)
        except NeedRow as need:
            self._wanted.append(need.key)
            return self._once()
        if not facts:
            return Recorded((), None)
        self._refuse_taken(facts)
        return self._commit(ground, facts)

    def _commit(self, ground: Ground, facts: Sequence[NewEvent]) -> Recorded | None:
        """Commit the facts on the head that was decided on, with all rows they touch."""
        decision, edition = self._decision, self._reader.edition
        head = ground.head or first_head(decision.lead, decision.organization_id, edition)
        events = [
            fact.numbered(decision.lead, head.version + offset)
            for offset, fact in enumerate(facts, start=1)
        ]
        receipts = tuple(
            self._receipt(fact, event) for fact, event in zip(facts, events, strict=True)
        )
        recorded = Recorded(tuple(events), receipts[0])
        self._tries.update(((event.event_id, event.sequence), recorded) for event in events)
        commit = self._with_rows(head, events, receipts) if rows_follow(head, edition) else None
        alone = commit_alone(head, events, (receipts, ()))
        try:
            self._put(events, commit or alone)
        except LimitExceeded:
            if commit is None:
                raise
            self._put(events, alone)
        return recorded

    def _own(self, receipts: Iterable[Receipt]) -> Recorded | None:
        """Recognise what this run recorded without hearing of it."""
        for receipt in receipts:
            if receipt.nonce == self._nonce:
                return self._tries.get((receipt.event_id, receipt.sequence))
        return None

    def _with_rows(
        self, head: Head, events: Sequence[LeadEvent], receipts: tuple[Receipt, ...]
    ) -> Commit | None:
        """Return the commit with every row the events touch, None if they must go alone.

        The rows come in a second snapshot, which counts only while the head has not moved.
        """
        edition = self._reader.edition
        try:
            wanted = touched(edition.projections, map(current, events))
        except LimitExceeded:
            return None
        while True:
            snapshot = self._reader.recorder.snapshot(head.lead, wanted)
            if (snapshot.head.rev if snapshot.head else 0) != head.rev:
                raise Refused(head=True)
            loaded = rows_of(snapshot, wanted)
            try:
                return commit_with_rows(edition, head, loaded, events, (receipts, ()))
            except NeedRow as need:
                wanted.append(need.key)
            except LimitExceeded:
                return None

    def _check_owner(self, ground: Ground) -> None:
        owner = ground.head.organization_id if ground.head else self._decision.organization_id
        if owner != self._decision.organization_id:
            message = "There is no such lead."
            raise NotFound(message, hint="Check the lead's id.")

    def _answer_known(self, receipt: Receipt) -> Recorded:
        """Answer a redelivery from the receipt."""
        command = self._decision.command
        if command is not None and receipt.fingerprint != command.fingerprint:
            message = "This command's key is taken by another command."
            raise Rejected(message, hint="Send another command under a key of its own.")
        return Recorded((), receipt)

    def _refuse_taken(self, facts: Sequence[NewEvent]) -> None:
        command = self._decision.command
        own = command.key if command else None
        for fact in facts:
            key = fact.receipt_key
            if key in self._taken and key != own:
                message = "A fact this decision yields was recorded before."
                raise Rejected(message, hint="Look at what stands; nothing was recorded.")

    def _receipt(self, fact: NewEvent, event: LeadEvent) -> Receipt:
        key, command = fact.receipt_key, self._decision.command
        stated = command.fingerprint if command and command.key == key else fact.fingerprint
        return Receipt(key, event.lead, event.event_id, event.sequence, self._nonce, stated)

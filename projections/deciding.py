"""Recording what a decision yields: decided on one moment, committed whole or not at all."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

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
from domain.records import Commit, Head, Identity, Receipt, Refused
from projections.addressing import Addressee, Found
from projections.committing import (
    commit_alone,
    commit_with_rows,
    first_head,
    rows_follow,
)
from projections.committing import ground as rows_of
from projections.decision import CheckFailed, ClaimTaken, Command, Decision, Recorded
from projections.folding import current, touched
from projections.projection import NeedRow
from projections.reading import ROUNDS, Ground, Reader

Put = Callable[[Sequence[LeadEvent], Commit], None]
Claims = tuple[tuple[Receipt, ...], tuple[Identity, ...]]


__all__ = ["CheckFailed", "ClaimTaken", "Command", "Decision", "Recorded", "Recording"]


class Recording:
    """One run of a decision: look, decide, commit; after a conflict look and decide again."""

    def __init__(
        self, decision: Decision, reader: Reader, put: Put, nonce: str, addressee: Addressee | None
    ) -> None:
        self._decision = decision
        self._reader = reader
        self._put = put
        self._nonce = nonce
        self._addressee = addressee
        self._found = Found(decision.lead)
        self._claims: tuple[Identity, ...] = ()
        self._asked: list[Key] = []
        self._taken: set[str] = set()
        self._tries: dict[tuple[str, int], Recorded] = {}

    def run(self, pause: Callable[[int], None]) -> Recorded:
        """Return what was recorded.

        Raises:
            CheckFailed: one of its checks does not hold.
            ClaimTaken: a name it claims is somebody else's.
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
                if recorded is None and refused.checks:
                    raise CheckFailed.of_a_check() from None
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
        if self._addressee is not None:
            self._found = self._addressee.find(self._reader.recorder)
        try:
            ground = self._ground()
            self._check_owner(ground)
            own = self._own(ground.receipts.values())
            if own is not None:
                return own
            known = ground.receipts.get(command.key) if command else None
            if known is not None:
                return self._answer_known(known)
            facts = [*decision.decide(ground)]
        except NeedRow as need:
            self._asked.append(need.key)
            return self._once()
        if not facts:
            return Recorded((), None, self._found.lead)
        self._refuse_taken(facts)
        self._claims = self._still_to_claim()
        return self._commit(ground, [*facts, *self._of_the_address(ground, facts[0])])

    def _still_to_claim(self) -> tuple[Identity, ...]:
        """Return the claims of the decision that nobody made yet."""
        wanted = self._decision.claims
        if not wanted:
            return ()
        claimed = self._reader.recorder.resolve([each.key for each in wanted])
        if any(claimed.get(each.key, each.lead) != each.lead for each in wanted):
            raise ClaimTaken.by_another()
        return tuple(each for each in wanted if each.key not in claimed)

    def _ground(self) -> Ground:
        """Look once, at everything the decision reads and everything it is likely to write."""
        decision, found = self._decision, self._found
        command = decision.command
        receipts = [command.key] if command else []
        receipts += [recorded.receipt.key for recorded in self._tries.values() if recorded.receipt]
        if found.elsewhere and self._addressee is not None and decision.foreseen:
            about = self._addressee.facts(decision.foreseen[0], found)
            receipts += [fact.receipt_key for fact in about]
        keys = decision.keys(found.lead) if callable(decision.keys) else decision.keys
        foreseen = [current(fact.numbered(found.lead, 0)) for fact in decision.foreseen]
        likely = touched(self._reader.edition.projections, foreseen)
        wanted = list(dict.fromkeys((*keys, *likely, *self._asked)))
        return self._reader.ground(found.lead, decision.stands_on, wanted, receipts)

    def _of_the_address(self, ground: Ground, fact: NewEvent) -> list[NewEvent]:
        """Return what is still to be recorded of the address; each conflict once."""
        if self._addressee is None:
            return []
        facts = self._addressee.facts(fact, self._found)
        known = self._taken | ground.receipts.keys()
        return [each for each in facts if each.receipt_key not in known]

    def _commit(self, ground: Ground, facts: Sequence[NewEvent]) -> Recorded | None:
        """Commit the facts on the head that was decided on, with all rows they touch."""
        decision, edition = self._decision, self._reader.edition
        head = ground.head or first_head(ground.lead, decision.organization_id, edition)
        events = [
            fact.numbered(ground.lead, head.version + offset)
            for offset, fact in enumerate(facts, start=1)
        ]
        receipts = tuple(
            self._receipt(fact, event) for fact, event in zip(facts, events, strict=True)
        )
        claims = (receipts, (*self._found.claims, *self._claims))
        commit = self._with_rows(ground, head, events, claims)
        alone = self._checked(commit_alone(head, events, claims))
        rows = tuple(commit.puts) if commit else ()
        recorded = Recorded(tuple(events), receipts[0], ground.lead, rows)
        self._tries.update(((event.event_id, event.sequence), recorded) for event in events)
        try:
            self._put(events, commit or alone)
        except LimitExceeded:
            if commit is None:
                raise
            recorded = recorded._replace(rows=())
            self._tries.update(((event.event_id, event.sequence), recorded) for event in events)
            self._put(events, alone)
        return recorded

    def _checked(self, commit: Commit) -> Commit:
        checks = tuple(self._decision.checks)
        return replace(commit, checks=checks) if checks else commit

    def _own(self, receipts: Iterable[Receipt]) -> Recorded | None:
        """Recognise what this run recorded without hearing of it."""
        for receipt in receipts:
            if receipt.nonce == self._nonce:
                return self._tries.get((receipt.event_id, receipt.sequence))
        return None

    def _with_rows(
        self, ground: Ground, head: Head, events: Sequence[LeadEvent], claims: Claims
    ) -> Commit | None:
        """Return the commit with every row the events touch, None if they must go alone.

        Rows that the decision did not read come in a second snapshot, which counts only while the
        head has not moved.
        """
        edition = self._reader.edition
        if not rows_follow(head, edition):
            return None
        try:
            wanted = touched(edition.projections, map(current, events))
            commit = self._planned(ground, head, events, claims, wanted)
        except LimitExceeded:
            return None
        return commit and self._checked(commit)

    def _planned(
        self,
        ground: Ground,
        head: Head,
        events: Sequence[LeadEvent],
        claims: Claims,
        wanted: list[Key],
    ) -> Commit | None:
        snapshot, known = ground.snapshot, list(ground.wanted)
        while True:
            if snapshot.head is not None and not set(known).issuperset(wanted):
                snapshot, known = self._reader.recorder.snapshot(head.lead, wanted), list(wanted)
                if (snapshot.head.rev if snapshot.head else 0) != head.rev:
                    raise Refused(head=True)
            loaded = rows_of(snapshot, known)
            try:
                return commit_with_rows(self._reader.edition, head, loaded, events, claims)
            except NeedRow as need:
                wanted.append(need.key)

    def _check_owner(self, ground: Ground) -> None:
        owner = ground.head.organization_id if ground.head else self._decision.organization_id
        if owner != self._decision.organization_id:
            message = "There is no such lead."
            raise NotFound(message, hint="Check the lead's id.")

    def _answer_known(self, receipt: Receipt) -> Recorded:
        """Answer a redelivery from the receipt."""
        command = self._decision.command
        if command is not None and receipt.is_of_other(command.fingerprint):
            message = "This command's key is taken by another command."
            raise Rejected(message, hint="Send another command under a key of its own.")
        return Recorded((), receipt, receipt.lead)

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

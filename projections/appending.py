"""Appending independent facts: one group a lead, tried until each fact has an answer of its own."""

from collections.abc import Callable, Iterable, Sequence

from domain import keys, limits
from domain.errors import LeadError, LimitExceeded, NotFound, Outage, Unavailable, Uncertain
from domain.event import LeadEvent, NewEvent
from domain.outcomes import Failed, Outcome, outcome_of
from domain.ports.storage import LeadRecorder
from domain.records import Commit, Identity, Receipt, Refused, Snapshot
from projections.addressing import Addressee, Found, KnownIdentities
from projections.committing import (
    Edition,
    commit_alone,
    commit_with_rows,
    first_head,
    ground,
    rows_follow,
)
from projections.folding import current, touched
from projections.projection import NeedRow

MAX_EVENTS_A_COMMIT = 40
_SPARE_ACTIONS = 6
"""Room in a transaction for the head, a lag row and the claims of an address."""

Fact = tuple[int, NewEvent]
Planned = tuple[list[LeadEvent], Commit]


class Group:
    """The facts of one lead, or of one address, in one append, and how far they have come.

    `prepare` and `settle` alternate until nothing is `pending`. Facts are numbered in the order
    they were given. `nonce` names the whole append: a write whose reply was lost is known by it.
    """

    def __init__(
        self,
        facts: Sequence[Fact],
        *,
        nonce: str,
        new_id: Callable[[], str],
        known: KnownIdentities | None = None,
    ) -> None:
        self.pending = list(facts)
        self.answers: dict[int, Outcome] = {}
        self._nonce = nonce
        self._organization_id = facts[0][1].organization_id
        address = facts[0][1].address
        self._addressee = None
        if address is not None:
            known = known or KnownIdentities()
            self._addressee = Addressee(self._organization_id, address, new_id, known)
        self._lead = facts[0][1].lead or ""
        self._extra_keys: list[keys.Key] = []
        self._most = MAX_EVENTS_A_COMMIT
        self._alone = False
        self._sent: tuple[Receipt, ...] = ()
        self._error: LeadError = Unavailable("The store did not answer in time.")

    def prepare(self, recorder: LeadRecorder, edition: Edition) -> Planned | None:
        """Look at the store once and plan the next commit; None when every fact is answered.

        Raises:
            LeadError: the store does not answer; `fail` knows whether to prepare again.
        """
        claims = self._find_lead(recorder)
        while self.pending:
            facts, rows = self._portion(edition)
            wanted = [*rows, *self._extra_keys]
            snapshot = recorder.snapshot(
                self._lead, wanted, [fact.receipt_key for _, fact in facts]
            )
            if snapshot.head and snapshot.head.organization_id != self._organization_id:
                self._answer_all(NotFound("There is no such lead.", hint="Check the lead's id."))
                return None
            self._learn(snapshot.receipts.values())
            facts = [each for each in facts if each[0] not in self.answers]
            if not facts:
                self._relax()
                continue
            planned = self._plan(edition, snapshot, wanted, (facts, claims))
            if planned is not None:
                return planned
        return None

    def settle(self, answer: Exception | None) -> bool:
        """Take the store's answer to the planned commit; tell whether that was a step forward."""
        if answer is None:
            self._learn(self._sent)
            self._relax()
            return True
        if isinstance(answer, Refused):
            self._learn(answer.receipts)
            self._error = Unavailable("Other writers of this lead were faster every time.")
            return False
        if isinstance(answer, LimitExceeded):
            self._shrink(len(self._sent), answer)
            return True
        if isinstance(answer, LeadError):
            self.fail(answer)
            return False
        raise answer

    def fail(self, error: LeadError) -> None:
        """Keep why the store did not do it, and end there if another try would hear the same.

        What may have been written stays in doubt until the store refuses a later try.
        """
        if not isinstance(self._error, Uncertain):
            self._error = error
        if isinstance(error, Outage) or not isinstance(error, Unavailable | Uncertain):
            self.give_up()

    def give_up(self) -> None:
        """Answer what is left with the last error; a retry by the sender is safe."""
        self._answer_all(self._error)

    def _find_lead(self, recorder: LeadRecorder) -> tuple[Identity, ...]:
        """Find the lead of the address; return the claims still to make."""
        if self._addressee is None:
            return ()
        found = self._addressee.find(recorder)
        self._lead = found.lead
        return found.claims

    def _portion(self, edition: Edition) -> tuple[list[Fact], list[keys.Key]]:
        """Return the next facts that should fit one transaction, and the rows they touch.

        At least one fact, and each key once.
        """
        portion: list[Fact] = []
        rows: dict[keys.Key, None] = {}
        seen: set[str] = set()
        for index, fact in self.pending[: self._most]:
            if fact.receipt_key in seen:
                continue
            more = self._touched(edition, fact)
            if more is None and not portion:
                self._alone, more = True, []
            if more is None:
                break
            new = sum(key not in rows for key in more)
            actions = len(rows) + new + 2 * (len(portion) + 1) + _SPARE_ACTIONS
            if portion and actions > limits.MAX_ACTIONS:
                break
            rows.update(dict.fromkeys(more))
            seen.add(fact.receipt_key)
            portion.append((index, fact))
        return portion, list(rows)

    def _plan(
        self,
        edition: Edition,
        snapshot: Snapshot,
        wanted: Sequence[keys.Key],
        content: tuple[list[Fact], tuple[Identity, ...]],
    ) -> Planned | None:
        """Return the commit of these facts, or None after changing what the next try asks for."""
        head = snapshot.head or first_head(self._lead, self._organization_id, edition)
        facts, claims = [fact for _, fact in content[0]], content[1]
        if claims and self._addressee is not None:
            facts += self._addressee.facts(facts[0], Found(self._lead, claims))
        events = [
            fact.numbered(self._lead, head.version + offset)
            for offset, fact in enumerate(facts, start=1)
        ]
        self._sent = tuple(
            self._receipt(fact, event) for fact, event in zip(facts, events, strict=True)
        )
        commit = None
        if rows_follow(head, edition) and not self._alone:
            loaded = ground(snapshot, wanted)
            try:
                commit = commit_with_rows(edition, head, loaded, events, (self._sent, claims))
            except NeedRow as need:
                self._extra_keys.append(need.key)
                return None
            except LimitExceeded as error:
                self._shrink(len(content[0]), error)
                return None
        return events, commit or commit_alone(head, events, (self._sent, claims))

    def _shrink(self, size: int, error: LimitExceeded) -> None:
        """Ask for less next time: fewer events, then one without its rows, then give it up."""
        if size > 1 and self._most > 1:
            self._most = max(1, min(size, self._most) // 2)
        elif not self._alone:
            self._alone = True
        else:
            index, _ = self.pending.pop(0)
            self.answers[index] = Failed(error)
            self._relax()

    def _relax(self) -> None:
        """Ask for as much as a commit holds again: what was too large is answered."""
        self._most, self._alone = MAX_EVENTS_A_COMMIT, False

    def _touched(self, edition: Edition, fact: NewEvent) -> list[keys.Key] | None:
        """Return the rows a fact touches, None if there is one that no store takes."""
        if self._alone:
            return []
        try:
            return touched(edition.projections, [current(fact.numbered(self._lead, 0))])
        except LimitExceeded:
            return None

    def _learn(self, receipts: Iterable[Receipt]) -> None:
        """Answer every pending fact whose key is now known to be taken."""
        known = {receipt.key: receipt for receipt in receipts}
        if not known:
            return
        waiting: list[Fact] = []
        for index, fact in self.pending:
            receipt = known.get(fact.receipt_key)
            if receipt is None:
                waiting.append((index, fact))
            else:
                self.answers[index] = outcome_of(receipt, fact, nonce=self._nonce)
        self.pending = waiting

    def _answer_all(self, error: LeadError) -> None:
        for index, _ in self.pending:
            self.answers[index] = Failed(error)
        self.pending = []

    def _receipt(self, fact: NewEvent, event: LeadEvent) -> Receipt:
        return Receipt(
            key=fact.receipt_key,
            lead=event.lead,
            event_id=event.event_id,
            sequence=event.sequence,
            nonce=self._nonce,
            fingerprint=fact.fingerprint,
        )


def grouped(facts: Sequence[NewEvent]) -> list[list[Fact]]:
    """Return the facts by lead or address, each group and each fact in the order given.

    Those of two organizations never share one: an address means another lead to each of them.
    """
    groups: dict[object, list[Fact]] = {}
    for index, fact in enumerate(facts):
        name = (fact.organization_id, fact.lead or fact.address)
        groups.setdefault(name, []).append((index, fact))
    return list(groups.values())

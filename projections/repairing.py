"""Repair: one procedure for rebuild, upgrade and catch-up, beside live writers, by anyone.

Names T3 to T8 are those of the head's rules. `projected` > 0: rows change only together with the
head, so its `rev` pins them. `projected` = 0 with a `goal`: rows change only by chunks that check
the phase (edition and goal), and all who pass write the same bytes, so helpers do no harm.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from domain import keys, limits
from domain.errors import (
    CorruptEvent,
    LimitExceeded,
    Outage,
    Unavailable,
    Uncertain,
    ViewBroken,
)
from domain.event import LeadEvent
from domain.items import row_item
from domain.keys import Key
from domain.records import CheckHead, Commit, Head, PutHead, Refused, Row
from projections.committing import lag_row, outranked, split
from projections.folding import Fold, evolve_all, touched
from projections.projection import NeedRow
from projections.reading import ROUNDS, Reader
from projections.verifying import Folds, Verified, Verifier, missing_identities, stored_rows

MAX_CHUNK_ROWS = 97
_CHUNK_BYTES = limits.MAX_TRANSACTION_BYTES - 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What a repair of one lead did.

    `state` is `current` (nothing was to do), `repaired`, `newer` (rows of a newer edition, left
    alone), `corrupt` or `broken` (nothing was changed). `written` counts rows put and deleted.
    """

    lead: str
    state: str
    events: int = 0
    written: int = 0
    detail: str = ""
    verified: Verified | None = None


class Repairer:
    """Brings a lead's rows to what its events say, in the edition of its reader."""

    def __init__(
        self,
        reader: Reader,
        commit: Callable[[Commit], None],
        pause: Callable[[int], None],
    ) -> None:
        self._reader = reader
        self._commit = commit
        self._pause = pause
        self._verifier = Verifier(reader)
        self._edition = reader.edition

    def repair(self, lead: str, *, force: bool = False) -> Repaired:
        """Repair one lead; `force` also compares rows that claim to be current.

        Resumable: an interrupted repair is continued by the next call of anyone. The last step is
        a verify.

        Raises:
            NotFound: there is no such lead.
            Unavailable: the store cannot answer; what was done so far stands.
        """
        written, events, failures, compared = 0, 0, 0, not force
        folds = Folds(self._reader, lead)
        if force and (found := self._verifier.verify(lead, folds)).state == "equal":
            head = self._reader.head(lead)
            return self._finish(head, head, (0, found.version), found)
        first: Head | None = None
        while failures < ROUNDS:
            head = self._reader.head(lead)
            first = first or head
            if outranked(head, self._edition):
                return Repaired(lead=lead, state="newer", detail="a newer edition owns the rows")
            if head.projected == head.version and self._mine(head) and compared:
                found = self._verifier.verify(lead, folds)
                return self._finish(head, first, (written, events), found)
            try:
                written += self._step(head, folds, compared=compared)
            except (CorruptEvent, LimitExceeded, ViewBroken) as error:
                state = "corrupt" if isinstance(error, CorruptEvent) else "broken"
                return Repaired(lead=lead, state=state, detail=str(error))
            except Outage:
                raise
            except (Refused, Unavailable, Uncertain):
                failures += 1
                self._pause(failures)
                continue
            failures, events, compared = 0, head.version, True
        message = "The lead moved faster than its repair, or the store did not answer."
        raise Unavailable(message, hint="Run the repair again; what was done so far stands.")

    def _finish(
        self, head: Head, first: Head, counts: tuple[int, int], verified: Verified
    ) -> Repaired:
        written, events = counts
        if self._reader.table.get(keys.lag(head.lead)) is not None:
            self._drop_lag(head)
        return Repaired(
            lead=head.lead,
            state="repaired" if written or head.rev != first.rev else "current",
            events=events,
            written=written,
            verified=verified,
        )

    def _mine(self, head: Head) -> bool:
        return head.fold_version == self._edition.fold_version

    def _step(self, head: Head, folds: Folds, *, compared: bool) -> int:
        """Do the next step this head calls for; return how many rows it wrote.

        Rows that are still to be compared are no ground to catch up on.
        """
        if head.projected == 0:
            if head.goal is None or not self._mine(head):
                return self._claim(head, folds)
            return self._build(head, head.goal, folds)
        if self._mine(head) and head.projected < head.version and compared:
            return self._catch_up(head, folds)
        return self._rewrite(head, folds)

    def _catch_up(self, head: Head, folds: Folds) -> int:
        """T3: as many tail events as fit, their rows and the head, in one transaction."""
        tail = self._reader.events(head.lead, gt=head.projected, lte=head.version)
        size = len(tail)
        while size:
            part = tail[:size]
            try:
                changed = self._fold_on(head, part)
                self._commit(self._moved(head, head.projected + size, changed))
            except LimitExceeded:
                size //= 2
                continue
            return len(changed)
        return self._claim(head, folds)

    def _fold_on(self, head: Head, events: Sequence[LeadEvent]) -> dict[Key, Row | None]:
        """Fold events on the stored rows, read in one snapshot with the same head."""
        projections = self._edition.projections
        wanted = touched(projections, events)
        while True:
            snapshot = self._reader.recorder.snapshot(head.lead, wanted)
            if snapshot.head is None or snapshot.head.rev != head.rev:
                raise Refused(head=True)
            fold = Fold(projections, head.lead, {key: snapshot.rows.get(key) for key in wanted})
            try:
                evolve_all(fold, events)
            except NeedRow as need:
                wanted.append(need.key)
                continue
            return fold.changes()

    def _rewrite(self, head: Head, folds: Folds) -> int:
        """T4: bring healthy or older rows to the fold in one transaction, else claim them (T5)."""
        events, expected = folds.events(head.version), folds.rows(head.version)
        self._reader.recorder.settle()
        changed = _changes(stored_rows(self._reader, head.lead, events), expected)
        claimed = self._claim_identities(head, events)
        if not changed and self._mine(head) and head.projected == head.version:
            return claimed
        try:
            self._commit(self._moved(head, head.version, changed))
        except LimitExceeded:
            return self._claim(head, folds)
        return len(changed) + claimed

    def _claim(self, head: Head, folds: Folds) -> int:
        """T5: give the rows up and name the sequence they are rebuilt to, after a full fold.

        Raises:
            LimitExceeded: one of the rows could not be written; those that stand are kept.
        """
        for key, row in folds.rows(head.version).items():
            limits.check_key(*key)
            limits.check_item(row_item(row))
        claimed = replace(
            head,
            projected=0,
            fold_version=self._edition.fold_version,
            goal=head.version,
            rev=head.rev + 1,
        )
        lag = lag_row(head.lead, head.organization_id)
        self._commit(Commit(head=PutHead(claimed, head.rev), puts=(lag,)))
        return 0

    def _build(self, head: Head, goal: int, folds: Folds) -> int:
        """T6 and T7: write what differs from the fold of 1…goal in chunks; the last moves the head."""
        events, expected = folds.events(goal), folds.rows(goal)
        self._reader.recorder.settle()
        changed = _changes(stored_rows(self._reader, head.lead, events), expected)
        phase = CheckHead(
            head.lead, projected=0, fold_version=self._edition.fold_version, goal=goal
        )
        *chunks, last = _chunks(changed)
        for chunk in chunks:
            puts, deletes = split(chunk)
            self._commit(Commit(head=phase, puts=puts, deletes=deletes))
        current = self._reader.head(head.lead)
        if (current.projected, current.fold_version, current.goal) != (
            0,
            head.fold_version,
            goal,
        ):
            raise Refused(head=True)
        claimed = self._claim_identities(current, events)
        self._commit(self._moved(current, goal, last))
        return len(changed) + claimed

    def _moved(
        self,
        head: Head,
        projected: int,
        changed: Mapping[Key, Row | None],
    ) -> Commit:
        """Return the commit that writes rows and moves the head's `projected` with them."""
        moved = replace(
            head,
            projected=projected,
            fold_version=self._edition.fold_version,
            goal=None,
            rev=head.rev + 1,
        )
        puts, deletes = split(changed)
        closes = projected == head.version and head.projected != head.version
        if closes:
            deletes = (*deletes, keys.lag(head.lead))
        return Commit(head=PutHead(moved, head.rev), puts=puts, deletes=deletes)

    def _claim_identities(self, head: Head, events: Sequence[LeadEvent]) -> int:
        """Add the address claims the events record and the log lost; none is ever taken away."""
        missing = missing_identities(self._reader, events)
        for start in range(0, len(missing), MAX_CHUNK_ROWS):
            part = missing[start : start + MAX_CHUNK_ROWS]
            self._commit(Commit(head=CheckHead(head.lead, rev=head.rev), identities=part))
        return len(missing)

    def _drop_lag(self, head: Head) -> None:
        """T8: take away a LAG row that names a lead without a gap."""
        try:
            self._commit(
                Commit(head=CheckHead(head.lead, rev=head.rev), deletes=(keys.lag(head.lead),))
            )
        except Refused:
            return


def _changes(stored: Mapping[Key, Row], expected: Mapping[Key, Row]) -> dict[Key, Row | None]:
    """Return only what differs: equal rows are left alone, so that listings never flicker."""
    changed: dict[Key, Row | None] = {
        key: row for key, row in expected.items() if stored.get(key) != row
    }
    changed.update((key, None) for key in stored if key not in expected)
    return changed


def _chunks(changed: Mapping[Key, Row | None]) -> Iterator[dict[Key, Row | None]]:
    """Split rows into what one transaction holds, by number and by bytes; at least one chunk."""
    chunk: dict[Key, Row | None] = {}
    size = 0
    for key in sorted(changed):
        row = changed[key]
        bytes_ = limits.item_size(row_item(row)) if row is not None else 0
        if chunk and (len(chunk) == MAX_CHUNK_ROWS or size + bytes_ > _CHUNK_BYTES):
            yield chunk
            chunk, size = {}, 0
        chunk[key] = row
        size += bytes_
    yield chunk

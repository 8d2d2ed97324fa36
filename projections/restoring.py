"""After a restore: a lead's stream is made whole and its rows are given up, before anybody writes.

A point-in-time restore brings each table back by itself, and may hold part of a commit
(research/head-protocol.md). A head behind the events would number the next one twice; a missing
receipt would take an event twice; rows may be of another moment than the events. Nothing of this
can be seen while others write.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from domain import canonical, catalog, keys
from domain.errors import CorruptEvent, Unavailable
from domain.event import OUR_SOURCE, LeadEvent, NewEvent
from domain.records import (
    UNKNOWN_CONTENT,
    CheckHead,
    Commit,
    Head,
    LeadRecord,
    PutHead,
    Receipt,
    Refused,
)
from projections.committing import first_head, lag_row
from projections.reading import Reader
from projections.repairing import Repairer
from projections.verifying import Verified

_LOST_A_COMMIT: Final = 45
_RECEIPTS_A_COMMIT: Final = 90

T = TypeVar("T")

Put = Callable[[Sequence[LeadEvent], Commit], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restore left of one lead, and what was done about it, or would be.

    `state` is `whole` (nothing was missing), `mended` (or is to be), or `torn`: two events stand at one
    position, nobody can tell which of them counts, and nothing was changed. `head_at` is where the
    head stood (0: there was none), `version` where the stream ends. `lost` are the positions whose
    events are gone, `receipts` is how many had to be made again.
    """

    lead: str
    state: str
    organization_id: str = ""
    head_at: int = 0
    version: int = 0
    lost: tuple[int, ...] = ()
    receipts: int = 0
    verified: Verified | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    head: Head
    version: int
    lost: tuple[int, ...]
    receipts: tuple[Receipt, ...]
    torn: bool


class Restorer:
    """Makes restored leads whole, one at a time; may be stopped and repeated."""

    def __init__(
        self, reader: Reader, repairer: Repairer, put: Put, new_id: Callable[[], str]
    ) -> None:
        self._reader = reader
        self._repairer = repairer
        self._put = put
        self._new_id = new_id

    def look(self, lead: str) -> Restored:
        """Tell what `restore` would do; nothing is written.

        Raises:
            Unavailable: the store cannot answer.
        """
        return _told(self._find(lead))

    def restore(self, lead: str, now: str) -> Restored:
        """Make a lead's stream whole, give its rows up and make them again from the events.

        A lost event's position is filled with `event_lost`, so that later ones keep theirs. The
        head goes first: from then on every number is given once, whatever happens to this call.

        Args:
            lead: one of `LeadRecorder.streams`.
            now: the instant of the restore, of the events that say what is lost.

        Raises:
            CorruptEvent: an event is not one of this service.
            Unavailable: the store cannot answer, or somebody writes already. What was done stands;
                stop all writers and do it again.
        """
        found = self._find(lead)
        if found.torn:
            return _told(found)
        try:
            self._mend(found, now)
        except Refused:
            message = "Somebody writes to the log while it is made whole."
            raise Unavailable(message, hint="Stop all writers, then do it again.") from None
        return replace(_told(found), verified=self._repairer.repair(lead).verified)

    def _mend(self, found: _Found, now: str) -> None:
        head = replace(
            found.head, version=found.version, projected=0, goal=None, rev=found.head.rev + 1
        )
        lag = lag_row(head.lead, head.organization_id)
        self._put([], Commit(head=PutHead(head, found.head.rev), puts=(lag,)))
        check = CheckHead(head.lead, rev=head.rev)
        for part in _parts(found.receipts, _RECEIPTS_A_COMMIT):
            self._put([], Commit(head=check, receipts=tuple(part)))
        for lost in _parts(found.lost, _LOST_A_COMMIT):
            marks = [self._mark(head, sequence, now) for sequence in lost]
            receipts = tuple(_receipt_of(mark) for mark in marks)
            self._put(marks, Commit(head=check, receipts=receipts))

    def _find(self, lead: str) -> _Found:
        recorder = self._reader.recorder
        head = recorder.snapshot(lead).head
        events: list[LeadRecord] = []
        for record in recorder.select_events(lead):
            if not isinstance(record, LeadRecord):
                raise CorruptEvent(lead, record.originator_version, "it has no envelope")
            events.append(record)
        if head is None:
            owner = events[0].envelope.organization_id if events else ""
            head = first_head(lead, owner, self._reader.edition)
        standing = [each.originator_version for each in events]
        version = max([head.version, *standing])
        return _Found(
            head=head,
            version=version,
            lost=tuple(sorted({*range(1, version + 1)} - {*standing})),
            receipts=self._missing_receipts(lead, events),
            torn=len(set(standing)) != len(standing),
        )

    def _missing_receipts(self, lead: str, events: Sequence[LeadRecord]) -> tuple[Receipt, ...]:
        """Return a receipt of each event that has none: its sender's next try must bounce."""
        missing: list[Receipt] = []
        for part in _parts(events, _RECEIPTS_A_COMMIT):
            wanted = {_key(each): each for each in part}
            found = self._reader.recorder.snapshot(lead, (), wanted).receipts
            missing += [
                _receipt(key, lead, each.envelope.event_id, each.originator_version)
                for key, each in wanted.items()
                if key not in found
            ]
        return tuple(missing)

    def _mark(self, head: Head, sequence: int, now: str) -> LeadEvent:
        """Return the event that says what stood here is lost."""
        payload, version = catalog.validate("event_lost", None, {"cause": "restore"})
        mark = NewEvent(
            event_id=self._new_id(),
            organization_id=head.organization_id,
            event_type="event_lost",
            source_type="INTERNAL",
            source=OUR_SOURCE,
            external_event_id=f"lost:{canonical.digest(head.lead)}:{sequence}",
            occurred_at=now,
            received_at=now,
            payload=payload,
            schema_version=version,
            lead=head.lead,
        )
        return mark.numbered(head.lead, sequence)


def _told(found: _Found) -> Restored:
    missing = found.lost or found.receipts or found.version != found.head.version
    state = "mended" if missing else "whole"
    return Restored(
        lead=found.head.lead,
        state="torn" if found.torn else state,
        organization_id=found.head.organization_id,
        head_at=found.head.version,
        version=found.version,
        lost=found.lost,
        receipts=len(found.receipts),
    )


def _key(record: LeadRecord) -> str:
    said = record.envelope
    return keys.receipt(said.organization_id, said.source, said.external_event_id)


def _receipt_of(mark: LeadEvent) -> Receipt:
    key = keys.receipt(mark.organization_id, mark.source, mark.external_event_id)
    return _receipt(key, mark.lead, mark.event_id, mark.sequence)


def _receipt(key: str, lead: str, event_id: str, sequence: int) -> Receipt:
    return Receipt(key, lead, event_id, sequence, nonce="", fingerprint=UNKNOWN_CONTENT)


def _parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]

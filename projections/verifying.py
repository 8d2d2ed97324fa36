"""Verify: fold a lead again and compare, field by field, with the rows that stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from domain.errors import CorruptEvent, Unavailable, ViewBroken
from domain.event import LeadEvent
from domain.keys import Key
from domain.records import Head, Identity, Row
from projections.committing import believed
from projections.folding import Difference, compare, digest, foreign, identities_of
from projections.reading import ROUNDS, Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What a verification of one lead found.

    `state` is `equal`, `drift` (rows differ from the fold, or a claim is missing), `lagging`
    (rows reflect less than the log, or another edition: legal, and closed by a repair), `corrupt`
    (an event cannot be read) or `broken` (a projection fails on an event). `digest` is of the
    rows the events make; it is empty where there was nothing to compare.
    """

    lead: str
    state: str
    version: int
    projected: int
    rows: int = 0
    digest: str = ""
    differences: tuple[Difference, ...] = ()
    missing_identities: int = 0
    detail: str = ""


class Folds:
    """A lead's events, and the rows they make up to some version, each worked out once.

    What was read stays right for good: events never change and none comes between two.
    """

    def __init__(self, reader: Reader, lead: str) -> None:
        self._reader = reader
        self._lead = lead
        self._events: list[LeadEvent] = []
        self._version = -1
        self._rows: dict[Key, Row] = {}

    def events(self, version: int) -> Sequence[LeadEvent]:
        """Return events 1 to `version`. Raises as `Reader.events` does."""
        known = len(self._events)
        if known < version:
            self._events += self._reader.events(self._lead, gt=known, lte=version)
        return self._events[:version] if known > version else self._events

    def rows(self, version: int) -> dict[Key, Row]:
        """Return the rows that events 1 to `version` make. Raises as `Reader.fold` does."""
        if self._version != version:
            events, projections = self.events(version), self._reader.edition.projections
            self._rows = self._reader.fold(self._lead, projections, events).rows()
            self._version = version
        return self._rows


class Verifier:
    """Compares leads with their events. Reads only."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def verify(self, lead: str, folds: Folds | None = None) -> Verified:
        """Return what a fold of the events says about the rows that stand.

        A difference is read again after commits in flight have settled, before it is reported.
        `folds` may bring what was folded already.

        Raises:
            NotFound: there is no such lead.
            Unavailable: the store cannot answer.
        """
        folds = folds or Folds(self._reader, lead)
        found = self._compare(lead, folds)
        if found.state != "drift":
            return found
        self._reader.recorder.settle()
        return self._compare(lead, folds)

    def _compare(self, lead: str, folds: Folds) -> Verified:
        for attempt in range(1, ROUNDS + 1):
            head = self._reader.head(lead)
            try:
                found = self._compare_at(head, folds)
            except (CorruptEvent, ViewBroken) as error:
                state = "corrupt" if isinstance(error, CorruptEvent) else "broken"
                return _verified(head, state, detail=str(error))
            if self._reader.head(lead).rev == head.rev:
                return found
            self._reader.pause(attempt)
        message = "The lead moved during every comparison."
        raise Unavailable(message, hint="Verify it again when it is quieter.")

    def _compare_at(self, head: Head, folds: Folds) -> Verified:
        reader = self._reader
        events = folds.events(head.version)
        if not believed(head, reader.edition):
            folds.rows(head.version)
            return _verified(head, "lagging")
        expected = folds.rows(head.projected)
        stored = stored_rows(reader, head.lead, events)
        differences = () if stored == expected else tuple(compare(stored, expected))
        missing = missing_identities(reader, events)
        state = "lagging" if head.projected < head.version else "equal"
        return _verified(
            head,
            "drift" if differences or missing else state,
            rows=len(expected),
            digest=digest(expected),
            differences=differences,
            missing_identities=len(missing),
        )


def stored_rows(reader: Reader, lead: str, events: Sequence[LeadEvent]) -> dict[Key, Row]:
    """Return every stored row the edition's projections own for a lead, foreign ones included."""
    found: dict[Key, Row] = {}
    for projection in reader.edition.projections:
        found.update((row.key, row) for row in reader.list_rows(lead, projection))
    for key in foreign(reader.edition.projections, events):
        row = reader.table.get(key)
        if row is not None and row.attributes.get("leadOrganizationId") == lead:
            found[key] = row
    return found


def missing_identities(reader: Reader, events: Sequence[LeadEvent]) -> tuple[Identity, ...]:
    """Return the address claims that events record and the log does not hold for any lead."""
    claims = {claim.key: claim for event in events for claim in identities_of(event)}
    if not claims:
        return ()
    claimed = reader.recorder.resolve(list(claims))
    return tuple(claim for key, claim in claims.items() if key not in claimed)


def _verified(head: Head, state: str, **found: Any) -> Verified:
    return Verified(
        lead=head.lead, state=state, version=head.version, projected=head.projected, **found
    )

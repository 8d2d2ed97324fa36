"""What one transaction writes when events are appended: with their rows, or alone.

Pure: a snapshot and events go in, a `Commit` comes out. T1 and T2 of the head's rules.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from domain import keys, limits
from domain.event import LeadEvent
from domain.keys import Key
from domain.records import Commit, Head, Identity, PutHead, Receipt, Row, Snapshot
from projections.folding import Fold, current
from projections.projection import NeedRow, Projection


@dataclass(frozen=True, slots=True)
class Edition:
    """The projections a process runs, and the number of their edition (`FOLD_VERSION`)."""

    projections: tuple[Projection, ...]
    fold_version: int


def first_head(lead: str, organization_id: str, edition: Edition) -> Head:
    """Return what stands for the head of a lead nobody has written yet."""
    return Head(
        lead=lead,
        organization_id=organization_id,
        version=0,
        projected=0,
        fold_version=edition.fold_version,
        rev=0,
    )


def believed(head: Head, edition: Edition) -> bool:
    """Tell whether rows may be read as what `head.projected` says (rule 4)."""
    return head.projected > 0 and head.fold_version == edition.fold_version


def rows_follow(head: Head, edition: Edition) -> bool:
    """Tell whether a commit may carry the rows of its events: rows are mine and complete."""
    return head.version == 0 or (believed(head, edition) and head.projected == head.version)


def outranked(head: Head, edition: Edition) -> bool:
    """Tell whether the rows are a newer edition's, which an older one leaves alone (rule 8)."""
    return head.fold_version > edition.fold_version


def ground(snapshot: Snapshot, wanted: Sequence[Key]) -> Mapping[Key, Row | None] | None:
    """Return the rows to fold on: those of the snapshot, or None (nothing) before event 1."""
    if snapshot.head is None or snapshot.head.version == 0:
        return None
    return {key: snapshot.rows.get(key) for key in wanted}


def commit_with_rows(
    edition: Edition,
    head: Head,
    loaded: Mapping[Key, Row | None] | None,
    events: Sequence[LeadEvent],
    claims: tuple[tuple[Receipt, ...], tuple[Identity, ...]],
) -> Commit | None:
    """T1: events, receipts, head and the rows the events change.

    Returns None if a projection raises: then the events go alone and the view lags.

    Raises:
        NeedRow: a row that was not loaded is needed; take a new snapshot with it.
        LimitExceeded: more than one transaction holds; commit fewer events, or one alone.
    """
    fold = Fold(edition.projections, head.lead, loaded)
    try:
        for event in events:
            fold.evolve(current(event))
        changed = fold.changes()
    except NeedRow:
        raise
    except Exception:  # noqa: BLE001 - a projection's bug must never lose an event
        return None
    receipts, identities = claims
    limits.check_actions(1 + len(changed) + len(events) + len(receipts) + len(identities))
    moved = replace(
        head,
        version=head.version + len(events),
        projected=head.version + len(events),
        fold_version=edition.fold_version,
        rev=head.rev + 1,
    )
    puts, deletes = split(changed)
    return Commit(
        head=PutHead(moved, head.rev),
        receipts=receipts,
        identities=identities,
        puts=puts,
        deletes=deletes,
    )


def commit_alone(
    head: Head,
    events: Sequence[LeadEvent],
    claims: tuple[tuple[Receipt, ...], tuple[Identity, ...]],
) -> Commit:
    """T2: events, receipts and head; `projected`, foldVersion and `goal` stay as they are.

    The LAG row is written by the commit that opens the gap.
    """
    receipts, identities = claims
    moved = replace(head, version=head.version + len(events), rev=head.rev + 1)
    opens = head.projected == head.version
    return Commit(
        head=PutHead(moved, head.rev),
        receipts=receipts,
        identities=identities,
        puts=(lag_row(head.lead, head.organization_id),) if opens else (),
    )


def lag_row(lead: str, organization_id: str) -> Row:
    """Return the row that names a lead to the sweeper."""
    return Row(keys.lag(lead), {"leadOrganizationId": lead, "organizationId": organization_id})


def split(changed: Mapping[Key, Row | None]) -> tuple[tuple[Row, ...], tuple[Key, ...]]:
    """Return what is to be put and what is to be deleted, each in key order."""
    ordered = sorted(changed.items(), key=_key)
    puts = tuple(row for _, row in ordered if row is not None)
    return puts, tuple(key for key, row in ordered if row is None)


def _key(item: tuple[Key, Row | None]) -> Key:
    return item[0]

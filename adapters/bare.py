"""The commit of events that come without one, the same for every recorder.

The event store library inserts events alone. They go down the one write path all the same: with a
receipt for each position, so that a position is taken once, and a head that follows.
"""

from collections.abc import Sequence
from typing import Final

from eventsourcing.persistence import StoredEvent

from domain import canonical, keys
from domain.errors import Rejected
from domain.records import Commit, Head, PutHead, Receipt, Refused

ORGANIZATION: Final = ""
"""Owner of a head that no commit has named one for. No organization has this id, so the receipts
of bare positions collide with nobody's and their leads are in nobody's list."""


def lead_of(stored_events: Sequence[StoredEvent]) -> str:
    """Return the one lead that all of the events belong to.

    Raises:
        Rejected: they belong to several, or there are none.
    """
    leads = {str(event.originator_id) for event in stored_events}
    if len(leads) != 1:
        message = "The events of one insert do not belong to one lead."
        raise Rejected(message, hint="Insert the events of each lead in a call of its own.")
    return leads.pop()


def bare_commit(stored_events: Sequence[StoredEvent], head: Head | None) -> Commit:
    """Return the commit of events of one lead whose head stands as given, None if it has none.

    Rows are not touched; `projected` stays, as after any append alone.

    Raises:
        Refused: two of the events claim one position.
        Rejected: the events belong to several leads.
    """
    lead = lead_of(stored_events)
    positions = {event.originator_version for event in stored_events}
    if len(positions) != len(stored_events):
        raise Refused(event=True)
    return Commit(
        head=PutHead(_following(lead, head, max(positions)), 0 if head is None else head.rev),
        receipts=tuple(_receipt(lead, event) for event in stored_events),
    )


def _following(lead: str, head: Head | None, last: int) -> Head:
    if head is None:
        return Head(
            lead=lead,
            organization_id=ORGANIZATION,
            version=last,
            projected=0,
            fold_version=0,
            rev=1,
        )
    return Head(
        lead=lead,
        organization_id=head.organization_id,
        version=max(head.version, last),
        projected=head.projected,
        fold_version=head.fold_version,
        rev=head.rev + 1,
        goal=head.goal,
        unknown=head.unknown,
    )


def _receipt(lead: str, event: StoredEvent) -> Receipt:
    return Receipt(
        key=keys.receipt(ORGANIZATION, lead, str(event.originator_version)),
        lead=lead,
        event_id="",
        sequence=event.originator_version,
        nonce="",
        fingerprint=canonical.digest(event.topic, event.state),
    )

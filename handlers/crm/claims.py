"""Reading which session a deal of the CRM is."""

from typing import Final

from domain import keys
from domain.crm.claims import Claimed
from domain.ports.storage import LeadRecorder

_AT_ONCE: Final = 2
"""Claims that are read in one round trip: a deal is seldom handed on even once."""


def claimed(recorder: LeadRecorder, organization_id: str, deal_id: str) -> Claimed:
    """Return what is claimed of a deal, consistently read.

    Others may claim or release it since: a claim that is made by what this says is refused then.

    Raises:
        Unavailable: the store cannot answer.
    """
    sessions: list[str] = []
    released = False
    while deal_id:
        first = len(sessions) + 1
        claims = [
            (
                keys.crm_deal(organization_id, deal_id, number),
                keys.crm_deal_release(organization_id, deal_id, number),
            )
            for number in range(first, first + _AT_ONCE)
        ]
        found = recorder.resolve([key for pair in claims for key in pair])
        for claim, release in claims:
            if claim not in found:
                return Claimed(deal_id, tuple(sessions), released)
            sessions.append(found[claim])
            # A release of another session's is of a claim that was lost: it frees nobody else's.
            released = found.get(release) == found[claim]
    return Claimed(deal_id)

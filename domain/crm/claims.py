"""Which session a deal of the CRM is: claims and their releases, by number. Pure.

A claim is put where nothing stands, and so is the row that releases it; neither is ever rewritten.
While a claim is not released nobody makes the next one. So rows only ever appear: what was read of
them may be old and is never wrong, and of two that make the same claim at once one does.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from domain import keys
from domain.records import Identity


class Claimed(NamedTuple):
    """What is claimed of a deal. `sessions` held it in this order, each but the last released it."""

    deal_id: str
    sessions: tuple[str, ...] = ()
    released: bool = False

    @property
    def number(self) -> int:
        """That of the claim under which a session is this deal, or may try to be."""
        return max(len(self.sessions) + self.released, 1)

    @property
    def said(self) -> int | None:
        """What an event says of the number: nothing of the first."""
        return self.number if self.number > 1 else None

    @property
    def holder(self) -> str | None:
        """The session that is this deal; None if none is."""
        return self.sessions[-1] if self.sessions and not self.released else None

    @property
    def former(self) -> tuple[str, ...]:
        """The sessions that were this deal, and are it no longer by these claims."""
        return self.sessions if self.released else self.sessions[:-1]

    def given_up_by(self, session_id: str) -> int | None:
        """Return the number of the claim that a session has and releases; None if it has none.

        A first claim that was lost is released all the same: a rebuild may make it again.
        """
        return self.number if self.holder == session_id or not self.sessions else None


def claim(organization_id: str, deal_id: str, session_id: str, number: int) -> Identity:
    """Return the claim of a deal by a session."""
    return Identity(keys.crm_deal(organization_id, deal_id, number), session_id)


def claims_of(organization_id: str, event_type: str, stated: Mapping[str, Any]) -> list[Identity]:
    """Return what an event claims and releases; `stated` is its payload."""
    if "sessionId" not in stated:
        return []
    session_id, found = stated["sessionId"], list[Identity]()
    act = stated["action"] if event_type == "crm_operator_action" else ""
    if "dealId" in stated and (event_type == "crm_deal_linked" or act == "adopt"):
        number = stated.get("claim", 1)
        found.append(claim(organization_id, stated["dealId"], session_id, number))
    if act and "releasedDealId" in stated:
        released = stated["releasedDealId"], stated["releasedClaim"]
        found.append(Identity(keys.crm_deal_release(organization_id, *released), session_id))
    return found

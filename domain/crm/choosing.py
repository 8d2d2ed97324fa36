"""Deals that a creation in doubt may have made, for the person who has to tell. Pure; nothing is decided here.

Where no key is unique nobody can tell for sure: a deal of the session's contact that no session is
may be the one, above all if it has the name that ours would have.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from domain.crm.replies import Remote
from domain.crm.sync import CrmSync
from domain.crm.visit import Visit

_MOST: Final = 8
"""Deals that are named to whoever has to choose."""


class Candidate(NamedTuple):
    """A deal of the session's contact, and whether it is called as the session's own would be."""

    deal_id: str
    named_alike: bool


def candidates(sync: CrmSync, deals: Sequence[Remote]) -> tuple[Candidate, ...]:
    """Return what a person may choose from, what is named alike first."""
    name = Visit.of(sync, "", frozenset()).name(sync)
    found = [
        Candidate(each.id, each.properties.get("name", "").split() == name.split())
        for each in deals
        if not each.archived
    ]
    return tuple(sorted(found, key=lambda each: (not each.named_alike, each.deal_id)))


def advice(found: Sequence[Candidate] | None) -> str:
    """Return what to do next, without a name; None are those that nobody looked for."""
    if found is None:
        return "Search the CRM, then `leads crm adopt` what you find, or `leads crm release`."
    if not found:
        return (
            "A search found no deal of its contact that is no session's. Look for it by hand, then"
            " `leads crm adopt` what you find, or `leads crm release`."
        )
    told = [f"{each.deal_id}{' (named alike)' if each.named_alike else ''}" for each in found]
    more = f" and {len(told) - _MOST} more" if len(told) > _MOST else ""
    return (
        f"Its contact has deals that are no session's: {', '.join(told[:_MOST])}{more}. Look at"
        " them, then `leads crm adopt` the one it is, or `leads crm release` if none is."
    )

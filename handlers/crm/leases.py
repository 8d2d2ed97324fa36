"""The lease of one row of the mirror: one worker is at a session, and what it sends is remembered.

A lease protects nothing by itself: every commit of its holder carries a condition on it, judged in the
commit's own transaction, and no request begins so late that it could still be under way when the
next holder begins. What a holder is about to write is noted before it goes out: who comes after a
crash must not take it for a person's edit.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from domain import keys
from domain.crm.visit import QUIET
from domain.instants import shift, to_datetime
from domain.ports.storage import StateTable
from domain.records import Absent, Check, Condition, Equal, Row

LEASE: Final = timedelta(minutes=5)
"""Source: seed 001. Longer than any run of a Lambda (120 s)."""

_FREE: Final = "0"
"""Until when a lease is held that nobody has: before every instant."""

_KEPT: Final = timedelta(days=30)
"""How long what was sent in doubt is remembered; a row is looked at again long before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A lease that was taken. `token` fences: whoever takes it next has another one.

    `sent` are marks of values (`domain.crm.content.mark`) that may have been written since the row
    last knew what stands there. `number` counts the writes of the row.
    """

    session_id: str
    token: str
    taken_at: str
    number: int = 0
    sent: frozenset[str] = frozenset()

    def permits(self, now: str) -> bool:
        """Tell whether a request may begin: it ends before the next holder begins, heard or not."""
        return self.taken_at <= now <= shift(self.taken_at, LEASE - QUIET)

    @property
    def version(self) -> str:
        """Names one state of the lease; no other one ever has the same."""
        return f"{self.token}.{self.number}"

    @property
    def held(self) -> Check:
        """The condition of the holder's own commits: nobody took the lease after it expired."""
        return Check(keys.crm_lease(self.session_id), Equal("token", self.token))


def take(table: StateTable, session_id: str, *, token: str, now: str) -> Lease | None:
    """Take the lease of a session for five minutes; None if somebody else has it."""
    row = table.get(keys.crm_lease(session_id))
    sent, condition = frozenset[str](), _absent()
    if row is not None:
        if str(row.attributes["until"]) >= now:
            return None
        sent = frozenset(str(row.attributes["sent"]).split())
        condition = Equal("version", row.attributes["version"])
    lease = Lease(session_id=session_id, token=token, taken_at=now, sent=sent)
    return lease if table.put(_row(lease, until=shift(now, LEASE)), condition) else None


def remember(table: StateTable, lease: Lease, sends: Iterable[str]) -> Lease | None:
    """Note what is about to be sent; None if the lease is somebody else's by now."""
    sent = lease.sent | frozenset(sends)
    if sent == lease.sent:
        return lease
    noted = replace(lease, sent=sent, number=lease.number + 1)
    row = _row(noted, until=shift(lease.taken_at, LEASE))
    return noted if table.put(row, Equal("version", lease.version)) else None


def give_back(table: StateTable, lease: Lease, *, settled: bool) -> bool:
    """Let others have it; False if they have it already.

    When all that was sent is `settled`, it is forgotten with the row.
    """
    if settled or not lease.sent:
        return table.delete(keys.crm_lease(lease.session_id), Equal("token", lease.token))
    free = replace(lease, token=f"{_FREE}.{lease.token}")
    return table.put(_row(free, until=_FREE), Equal("version", lease.version))


def _row(lease: Lease, *, until: str) -> Row:
    attributes = {
        "token": lease.token,
        "until": until,
        "taken_at": lease.taken_at,
        "version": lease.version,
        "sent": " ".join(sorted(lease.sent)),
    }
    expires = int(to_datetime(shift(lease.taken_at, _KEPT)).timestamp())
    return Row(keys.crm_lease(lease.session_id), attributes, ttl=expires)


def _absent() -> Condition:
    return Absent()

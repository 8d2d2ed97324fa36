"""The human send lock: while an operator's text is being recorded, nobody else writes or changes hands.

The lock is a row that expires. Holding it protects nothing by itself: every commit that could get in
its way carries a condition on the row, judged in the commit's own transaction.
"""

from domain import keys
from domain.instants import to_datetime
from domain.ports.storage import StateTable
from domain.records import AbsentOrBelow, Check, Equal, Row


def acquire_human_send_lock(  # noqa: PLR0913 - the lock's row, each part named by seed 000
    table: StateTable,
    lead: str,
    session_id: str,
    *,
    lock_id: str,
    operator: str,
    now: str,
    expires_at: str,
) -> bool:
    """Take the lock of a session; False if somebody else holds it.

    Whoever holds it under the same id has it again: a double click waits for nobody.
    """
    key = keys.human_send_lock(lead, session_id)
    attributes = {"lock_id": lock_id, "operator": operator, "expires_at": expires_at}
    row = Row(key, attributes, ttl=int(to_datetime(expires_at).timestamp()))
    free = AbsentOrBelow("expires_at", now)
    # Between the first two looks its holder may have given it back.
    return any(table.put(row, each) for each in (free, Equal("lock_id", lock_id), free))


def release_human_send_lock(table: StateTable, lead: str, session_id: str, lock_id: str) -> bool:
    """Give the lock back; False if it is not held under this id (any more)."""
    return table.delete(keys.human_send_lock(lead, session_id), Equal("lock_id", lock_id))


def sender(table: StateTable, lead: str, session_id: str, now: str) -> str | None:
    """Return the operator whose text is being sent now."""
    row = table.get(keys.human_send_lock(lead, session_id))
    if row is None or str(row.attributes["expires_at"]) < now:
        return None
    return str(row.attributes["operator"])


def nobody_sends(lead: str, session_id: str, now: str) -> Check:
    """Return the condition of a commit that must not come between an operator and a lead."""
    return Check(keys.human_send_lock(lead, session_id), AbsentOrBelow("expires_at", now))


def still_held(lead: str, session_id: str, lock_id: str) -> Check:
    """Return the condition of the holder's own commit: nobody took the lock after it expired."""
    return Check(keys.human_send_lock(lead, session_id), Equal("lock_id", lock_id))

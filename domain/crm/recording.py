"""What is recorded of answers that mean the same whatever was asked: later, never, not like this. Pure."""

from datetime import timedelta
from typing import Any, Final

from domain.crm.content import REQUIRED
from domain.crm.replies import Kind
from domain.crm.sync import CrmSync
from domain.crm.visit import QUIET, Answer, Ending, Fact, Note, Visit
from domain.instants import shift

BACKOFF: Final = tuple(timedelta(minutes=each) for each in (1, 2, 4, 8, 16, 32, 60))
"""Between tries; the last stays. Source: seed 001."""

UNKNOWN: Final = "creation_result_unknown"
"""Why a row is in doubt: a deal may exist, and nobody heard of it (seed 001)."""

_CHANGES: Final = frozenset(("create_contact", "update_contact", "update_deal", "associate"))


def blocked(
    visit: Visit, reason: str, *, marker: str = "kept", first: tuple[Fact, ...] = (), **said: Any
) -> Note:
    """Return what is recorded of a row that cannot go on until somebody changes something."""
    payload = {"revision": visit.revision, "reason": reason, "marker": marker, **said}
    return Note(facts=(*first, Fact("crm_sync_blocked", payload)), ending="blocked")


def uncertain(
    sync: CrmSync, visit: Visit, reason: str, *, by_itself: bool = True, **said: Any
) -> Note:
    """Return what is recorded of a creation nobody knows the end of.

    What is not resolved `by_itself` has no time of a next try: it waits for a person.
    """
    payload = {"revision": visit.revision, "reason": reason, **said}
    if by_itself:
        payload["retry_at"] = next_try(sync, visit.now, None)
    return Note(facts=(Fact("crm_sync_uncertain", payload),), ending="uncertain")


def next_try(sync: CrmSync, now: str, wait_s: int | None) -> str:
    """Return when to try again: after the backoff, or later if the CRM asks for it."""
    backoff = BACKOFF[min(sync.attempts, len(BACKOFF) - 1)]
    return shift(now, max(backoff, timedelta(seconds=wait_s or 0)))


def try_later(answer: Answer, *, marker: str = "kept") -> Note:
    """Return what is recorded of what did not work for now.

    A change that nobody heard of may be made as late as `QUIET`: until then nothing is believed
    that was read before, and a contact without a unique phone is not created again.
    """
    sync, visit, request, reply = answer.sync, answer.visit, answer.request, answer.reply
    said: dict[str, Any] = {
        "revision": visit.revision,
        "error_class": str(reply.kind),
        "retry_at": next_try(sync, visit.now, reply.wait_s),
        "counted": "yes",
        "marker": marker,
        **answer.told,
    }
    if request.verb in _CHANGES and reply.kind != Kind.NOT_SENT:
        said["verify_after"] = settled = shift(visit.now, QUIET)
        if request.verb == "create_contact" and "phone_key" not in request.sends:
            said["retry_at"] = max(said["retry_at"], settled)
    return Note(facts=(Fact("crm_sync_deferred", said),), ending="deferred")


def rests(answer: Answer) -> Note:
    """Return what is recorded where the account rests: no try is used up, no row is blocked.

    Only a creation that was refused leaves a word: its marker is no longer needed.
    """
    reply, visit = answer.reply, answer.visit
    ending: Ending = "paused" if reply.kind == Kind.PAUSED else "breaker"
    if answer.request.step != "deal_create" or visit.reposts:
        return Note(ending=ending, reply=reply)
    said = {
        "revision": visit.revision,
        "error_class": str(reply.kind),
        "retry_at": shift(visit.now, timedelta(seconds=reply.wait_s or 0)),
        "counted": "no",
        "marker": "cleared",
        **answer.told,
    }
    return Note(facts=(Fact("crm_sync_deferred", said),), ending=ending, reply=reply)


def refused(answer: Answer, *, marker: str = "kept", reason: str = "") -> Note | None:
    """Leave out what the CRM refuses and can do without; else return what blocks the row."""
    visit, request, reply = answer.visit, answer.request, answer.reply
    owner: Any = "contact" if "contact" in request.verb else "deal"
    paths = {f"{owner}.{name}" for name in reply.invalid}
    optional = bool(paths) and all(name in request.sends for name in reply.invalid)
    if reply.kind == Kind.INVALID and optional and paths.isdisjoint(REQUIRED):
        visit.quarantine(owner, answer.sync, reply.invalid)
        return None
    said = answer.told
    if reply.invalid:
        said["detail"] = f"{', '.join(reply.invalid)}: {said.get('detail', '')}"[:200]
    return blocked(visit, reason or reply.reason or "refused", marker=marker, **said)

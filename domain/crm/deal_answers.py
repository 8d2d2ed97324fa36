"""What answers about deals mean. Pure."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from domain.crm.contact_answers import forget_contact
from domain.crm.recording import UNKNOWN, blocked, refused, try_later, uncertain
from domain.crm.replies import Kind, Remote
from domain.crm.visit import QUIET, UNIQUE, Answer, Fact, Note, key_of
from domain.instants import shift

_NOT_DONE: Final = frozenset((Kind.NOT_SENT, Kind.TRANSIENT))


def _created(answer: Answer) -> Note | None:
    reply, visit = answer.reply, answer.visit
    if reply.kind == Kind.DONE and reply.record is not None:
        written = {**answer.request.sends, **reply.record.properties}
        visit.deal_done = True
        return _link(answer, replace(reply.record, properties=written), "created")
    if reply.kind in {Kind.AMBIGUOUS, Kind.DONE}:
        return _unheard(answer, UNKNOWN)
    return _taken(answer) if reply.kind == Kind.CONFLICT else _not_created(answer)


def _not_created(answer: Answer) -> Note | None:
    # One that began before this visit may still happen, whatever becomes of this request.
    marker = "kept" if answer.visit.reposts else "cleared"
    if answer.reply.kind in _NOT_DONE:
        return try_later(answer, marker=marker)
    if answer.reply.kind == Kind.ABSENT:
        return forget_contact(answer, marker=marker)
    return refused(answer, marker=marker)


def _taken(answer: Answer) -> Note | None:
    """Look for who has the key; without one a person has to."""
    reply, visit = answer.reply, answer.visit
    if answer.config.mode != UNIQUE or visit.deal_taken:
        return _unheard(answer, UNKNOWN)
    if reply.invalid and "key" not in reply.invalid:
        return _not_created(answer)
    visit.deal_taken = True
    visit.deal_holder = reply.holder_id or ""
    visit.absent -= {"deal_by_key", "deal_by_key_archived"}
    return None


def _unheard(answer: Answer, reason: str) -> Note:
    visit = answer.visit
    return uncertain(
        answer.sync,
        visit,
        reason,
        by_itself=answer.config.mode == UNIQUE,
        verify_after=shift(visit.now, QUIET),
        **answer.told,
    )


def _by_key(answer: Answer) -> Note | None:
    record = answer.reply.record
    if answer.reply.kind == Kind.DONE and record is not None:
        return _reconcile(answer, record)
    if answer.reply.kind == Kind.ABSENT:
        answer.visit.absent.add(answer.request.step)
        return None
    return refused(answer)


def _by_key_archived(answer: Answer) -> Note | None:
    """Take what was archived for what a person wants; an account that cannot tell tells nothing."""
    record = answer.reply.record
    if answer.reply.kind == Kind.DONE and record is not None:
        return _reconcile(answer, record)
    answer.visit.absent.add(answer.request.step)
    return None


def _by_holder(answer: Answer) -> Note | None:
    record = answer.reply.record
    ours = key_of(answer.sync, answer.config)
    if record is not None and record.properties.get("key") == ours:
        return _reconcile(answer, record)
    answer.visit.absent.add(answer.request.step)
    return None


def _reconcile(answer: Answer, record: Remote) -> Note:
    found = Fact("crm_sync_reconciled", {"how": "archived" if record.archived else "found"})
    if record.archived:
        return blocked(answer.visit, "deal_archived", first=(found,))
    answer.visit.deal = record
    how = "adopted" if answer.visit.deal_taken else "reconciled"
    linked = Fact("crm_deal_linked", {"deal_id": record.id, "how": how})
    return Note(facts=(found, linked))


def _read(answer: Answer) -> Note | None:
    record = answer.reply.record
    if answer.reply.kind == Kind.DONE and record is not None:
        if record.archived:
            return blocked(answer.visit, "deal_archived")
        return _link(answer, record, "merged")
    if answer.reply.kind == Kind.ABSENT:
        answer.visit.absent.add(answer.request.step)
        return None
    return refused(answer)


def _moved(answer: Answer) -> Note | None:
    """Follow a deal that was merged into another; one that only cannot be found is missing."""
    record = answer.reply.record
    moved = record is not None and record.id != answer.sync.deal_id and not record.archived
    if not moved or record is None:
        answer.visit.absent.add(answer.request.step)
        return None
    answer.visit.deal_moved = True
    answer.visit.absent -= {"deal_read", "deal_archived"}
    return _link(answer, record, "merged")


def _updated(answer: Answer) -> Note | None:
    reply, visit = answer.reply, answer.visit
    if reply.kind == Kind.ABSENT:
        visit.deal = None
        visit.absent.add("deal_read")
        return None
    if reply.kind == Kind.CONFLICT and "key" in answer.request.sends:
        return refused(answer, reason="key_conflict")
    if reply.kind != Kind.DONE or visit.deal is None:
        return refused(answer)
    visit.deal_done = True
    now = reply.record or visit.deal
    there = {**visit.deal.properties, **answer.request.sends, **now.properties}
    contacts = now.contact_ids or visit.deal.contact_ids
    return _link(answer, replace(now, properties=there, contact_ids=contacts), "merged")


def _associated(answer: Answer) -> Note | None:
    if answer.reply.kind == Kind.DONE:
        answer.visit.associated = True
        return None
    return forget_contact(answer) if answer.reply.kind == Kind.ABSENT else refused(answer)


def _link(answer: Answer, record: Remote, how: str) -> Note | None:
    """Take a deal as it stands; another one than is known is recorded, and claimed."""
    answer.visit.deal = record
    asked, stands = answer.request.sends.get("stage"), record.properties.get("stage")
    applied = asked is None or asked == stands
    facts: tuple[Fact, ...] = ()
    if record.id != answer.sync.deal_id:
        facts = (Fact("crm_deal_linked", {"deal_id": record.id, "how": how}),)
    if not applied:
        return blocked(answer.visit, "stage_not_applied", first=facts)
    return Note(facts=facts) if facts else None


MEANINGS: Final[dict[str, Callable[[Answer], Note | None]]] = {
    "deal_create": _created,
    "deal_by_key": _by_key,
    "deal_by_key_archived": _by_key_archived,
    "deal_holder": _by_holder,
    "deal_read": _read,
    "deal_archived": _read,
    "deal_moved": _moved,
    "deal_update": _updated,
    "associate": _associated,
}
"""By the step that asked."""

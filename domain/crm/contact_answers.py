"""What answers about contacts mean. Pure."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from domain.crm.identity import same_phone
from domain.crm.recording import blocked, refused, try_later
from domain.crm.replies import Kind, Remote
from domain.crm.visit import Answer, Fact, Note

_LAG_TRIES: Final = 3
"""Minutes apart: longer than a record that was just written may be unreadable (crm.md §1.3)."""

_MAX_LISTED: Final = 8
"""Contacts that are named to whoever has to choose."""


def forget_contact(answer: Answer, *, marker: str = "kept") -> Note | None:
    """Resolve the contact anew, once: the one that was known is gone."""
    visit = answer.visit
    if visit.contact_gone:
        return blocked(visit, "contact_missing", marker=marker, **answer.told)
    visit.contact_gone, visit.contact_done, visit.contact = True, False, None
    visit.absent = {step for step in visit.absent if not step.startswith("contact_")}
    return None


def _found(answer: Answer) -> Note | None:
    record = answer.reply.record
    if answer.reply.kind == Kind.DONE and record is not None and not record.archived:
        return _link(answer, record, "found")
    if answer.reply.kind in {Kind.DONE, Kind.ABSENT}:
        answer.visit.absent.add(answer.request.step)
        return None
    return refused(answer)


def _made(answer: Answer) -> Note | None:
    """Take what was made of this phone a while ago, unless somebody gave it another one since."""
    record, phone = answer.reply.record, answer.visit.desired["contact"].get("phone", "")
    if record is not None and not same_phone(phone, record):
        answer.visit.absent.add(answer.request.step)
        return None
    return _found(answer)


def _searched(answer: Answer) -> Note | None:
    if answer.reply.kind not in {Kind.DONE, Kind.ABSENT}:
        return refused(answer)
    phone = answer.visit.desired["contact"].get("phone", "")
    # One that is known and is searched for all the same is gone; the search may not know it yet.
    gone = answer.sync.contact_id
    found = {
        each.id: each
        for each in answer.reply.records
        if not each.archived and each.id != gone and same_phone(phone, each)
    }
    if len(found) > 1:
        named = f"contacts: {', '.join(sorted(found)[:_MAX_LISTED])}"
        return blocked(answer.visit, "contact_ambiguous", detail=named)
    if not found:
        answer.visit.absent.add(answer.request.step)
        return None
    return _link(answer, next(iter(found.values())), "found")


def _created(answer: Answer) -> Note | None:
    reply, visit = answer.reply, answer.visit
    if reply.kind == Kind.CONFLICT:
        return _taken(answer)
    if reply.kind != Kind.DONE or reply.record is None:
        return refused(answer)
    written = {**answer.request.sends, **reply.record.properties}
    visit.contact_done = True
    return _link(answer, replace(reply.record, properties=written), "created")


def _taken(answer: Answer) -> Note | None:
    """Look again who has the phone or the e-mail; what cannot be read yet is read later.

    What still cannot be read after some tries is held by a contact that people put away.
    """
    visit = answer.visit
    if visit.contact_taken:
        if answer.sync.attempts >= _LAG_TRIES:
            return blocked(visit, "contact_key_held", **answer.told)
        return try_later(answer)
    visit.contact_taken = True
    visit.contact_holder = answer.reply.holder_id or ""
    visit.absent -= {"contact_by_key", "contact_by_email"}
    return None


def _updated(answer: Answer) -> Note | None:
    reply, visit = answer.reply, answer.visit
    if reply.kind == Kind.ABSENT:
        return forget_contact(answer)
    if reply.kind == Kind.CONFLICT:
        return _held_by_another(answer)
    if reply.kind != Kind.DONE or visit.contact is None:
        return refused(answer)
    visit.contact_done = True
    now = reply.record or visit.contact
    there = {**visit.contact.properties, **answer.request.sends, **now.properties}
    return _link(answer, replace(now, properties=there), "merged")


def _held_by_another(answer: Answer) -> Note | None:
    """Leave out an e-mail that another contact has; a phone of another's is for people to judge."""
    sends = answer.request.sends
    if "phone_key" in sends or "email" not in sends:
        return refused(answer, reason="contact_ambiguous")
    answer.visit.quarantine("contact", answer.sync, ("email",))
    return None


def _link(answer: Answer, record: Remote, how: str) -> Note | None:
    answer.visit.contact = record
    if record.id == answer.sync.contact_id:
        return None
    merged = answer.request.step == "contact_by_id"
    said = {"contact_id": record.id, "how": "merged" if merged else how}
    return Note(facts=(Fact("crm_contact_linked", said),))


MEANINGS: Final[dict[str, Callable[[Answer], Note | None]]] = {
    "contact_by_id": _found,
    "contact_by_holder": _found,
    "contact_by_key": _found,
    "contact_made": _made,
    "contact_by_email": _found,
    "contact_search": _searched,
    "contact_create": _created,
    "contact_update": _updated,
}
"""By the step that asked."""

"""Which contact of the CRM a lead is: a ladder from what is sure to what is searched. Pure.

Source: research/crm.md §2. Stored id, unique phone, e-mail, a search whose finds are verified; a new
contact only after all of them, and that one is refused if somebody has its phone already. Where no
phone is unique, what the same worker made just now is read by its id: a search is late.
"""

from domain.crm.content import compare, shadow_of
from domain.crm.replies import Remote
from domain.crm.sync import CrmSync
from domain.crm.visit import Configuration, Request, Visit, email_of, phone_forms

_LONGEST_COUNTRY_CODE = 3
_SHORTEST_NATIONAL = 10
"""Digits of a Brazilian number with its area code, the ninth digit missing."""


def contact_step(sync: CrmSync, visit: Visit, config: Configuration) -> Request | None:
    """Return the next request about the contact; None if nothing of it is left to do."""
    if visit.contact_done or (visit.contact is None and _stands(sync, visit, config)):
        return None
    if visit.contact is None:
        return _look(sync, visit, config) or _create(sync, visit, config)
    wanted = visit.wanted_contact(sync, config)
    sends, kept = compare("contact", wanted, visit.contact.properties, sync.remote, visit.ours)
    visit.kept.update(kept)
    if not sends:
        visit.contact_done = True
        return None
    return Request(
        step="contact_update",
        verb="update_contact",
        arguments={"contact_id": visit.contact.id, "properties": sends},
        sends=sends,
    )


def same_phone(phone: str, found: Remote) -> bool:
    """Tell whether a contact that a search found has this phone, as people may have written it."""
    forms = phone_forms(phone)
    stated = (found.properties.get(name, "") for name in ("phone", "phone_key"))
    digits = ["".join(char for char in text if char.isdigit()) for text in stated]
    return any(_is_form(each, form) for each in digits if each for form in forms)


def _stands(sync: CrmSync, visit: Visit, config: Configuration) -> bool:
    """Tell whether the contact has all that is desired, by what was asserted last."""
    if not sync.contact_id or visit.contact_gone or visit.settles:
        return False
    wanted = visit.wanted_contact(sync, config)
    asserted = shadow_of(
        "contact", {k: v for k, v in wanted.items() if k in visit.desired["contact"]}
    )
    return all(sync.remote.get(path) == value for path, value in asserted.items())


def _look(sync: CrmSync, visit: Visit, config: Configuration) -> Request | None:
    """Return the next rung that was not tried in this visit."""
    contact = visit.desired["contact"]
    forms = phone_forms(contact.get("phone", ""))
    key = f"+{forms[0]}" if forms and config.contact_key else ""
    # One that is this session's already is read as that.
    made = "" if visit.contact_made == sync.contact_id else visit.contact_made
    rungs = (
        ("contact_by_id", "id", "" if visit.contact_gone else sync.contact_id),
        ("contact_by_holder", "id", visit.contact_holder),
        ("contact_by_key", "phone_key", key),
        ("contact_made", "id", made),
        ("contact_by_email", "email", email_of(contact)),
    )
    for step, by, value in rungs:
        if value and step not in visit.absent:
            arguments = {"by": by, "value": value}
            return Request(step=step, verb="find_contact", arguments=arguments)
    if forms and "contact_search" not in visit.absent:
        phones = tuple(f"+{form}" for form in forms)
        return Request(step="contact_search", verb="search_contacts", arguments={"phones": phones})
    return None


def _create(sync: CrmSync, visit: Visit, config: Configuration) -> Request:
    sends = visit.wanted_contact(sync, config)
    return Request(
        step="contact_create", verb="create_contact", arguments={"properties": sends}, sends=sends
    )


def _is_form(digits: str, form: str) -> bool:
    """Tell whether digits are a number, with or without its country code."""
    missing = len(form) - len(digits)
    national = len(digits) >= _SHORTEST_NATIONAL and 0 < missing <= _LONGEST_COUNTRY_CODE
    return digits == form or (national and form.endswith(digits))

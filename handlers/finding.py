"""Finding a lead by what people call it: its id, or an address it was met at."""

from typing import Final

from domain.addresses import address, identity_keys
from domain.errors import InvalidEvent, NotFound
from projections.lead_log import LeadLog

_HINT: Final = "Give the lead's id, or an address as channel:identifier, for example whatsapp:+55…"


def find_lead(log: LeadLog, organization_id: str, named: str) -> str:
    """Return the id of the lead that an id or `channel:identifier` names.

    Raises:
        NotFound: the organization has no such lead.
        Unavailable: the store cannot answer.
    """
    if _exists(log, organization_id, named):
        return named
    channel, colon, identifier = named.partition(":")
    lead = _at_address(log, organization_id, channel, identifier) if colon else None
    if lead is None:
        message = "There is no such lead."
        raise NotFound(message, hint=_HINT)
    return lead


def _exists(log: LeadLog, organization_id: str, lead: str) -> bool:
    try:
        log.reader.head(lead, organization_id)
    except NotFound:
        return False
    return True


def _at_address(log: LeadLog, organization_id: str, channel: str, identifier: str) -> str | None:
    try:
        keys = identity_keys(organization_id, address(channel, identifier))
    except InvalidEvent:
        return None
    found = log.store.resolve(keys)
    return next((found[key] for key in keys if key in found), None)

"""The contacts that a worker made, by phone: the CRM's search does not know them at once."""

from typing import Final

from domain.crm.visit import phone_forms

_MOST: Final = 1_000
"""Newest contacts that are remembered: far more than are made while a search lags."""


class MadeContacts:
    """What one worker made. It is of use where the account has no unique phone, and a hint only.

    With it the second session of a phone finds what the first one made in the same process. Not
    guaranteed without the unique phone, and two contacts may be made: by two processes, or one that
    was started anew; while nobody knows whether the first creation was done (the row that began it
    waits and looks again, another session of that phone does not); if the CRM cannot read yet by
    its id what it made just now. Deals are one a session all the same.
    """

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def of(self, phone: str) -> str:
        """Return the id of the contact that was made of a phone, as it was then; "" if none was."""
        return self._ids.get(_name(phone), "")

    def remember(self, phone: str, contact_id: str) -> None:
        """Keep a contact that was made just now."""
        name = _name(phone)
        if name:
            self._ids[name] = contact_id
            for oldest in list(self._ids)[:-_MOST]:
                del self._ids[oldest]


def _name(phone: str) -> str:
    return next(iter(phone_forms(phone)), "")

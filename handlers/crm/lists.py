"""Lists of the mirror's rows by status, and how all of it stands. Lists are hints."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

from domain import keys
from domain.crm.sync import STATUSES, CrmSync, Status
from domain.ports.storage import StateTable
from domain.records import Page, Row, every
from handlers.crm.control import AccountControl
from handlers.crm.metrics import Standing, standing
from projections.crm import CRM

MOST: Final = 10_000
"""Rows of one list that are counted: who has more has a problem that no number makes clearer."""

_PAGE: Final = 200


def list_status(table: StateTable, organization_id: str, status: Status) -> Iterator[CrmSync]:
    """Yield the rows of one status by when they are due, read only as far as somebody looks.

    Confirmed rows are listed only while they are to be verified.
    """
    for row in every(partial(_page, table, keys.crm_statuses(organization_id, status))):
        sync: CrmSync = CRM.decode(row)
        yield sync


def look(control: AccountControl, organizations: Sequence[str], most: int = MOST) -> Standing:
    """Return how the mirror of some organizations stands, by at most so many rows of each list.

    Raises:
        Unavailable: the store does not answer.
    """
    rests = [rest for each in organizations if (rest := control.rest(each)) is not None]
    rows = (
        row
        for each in organizations
        for status in STATUSES
        for row in islice(list_status(control.table, each, status), most)
    )
    return standing(rows, rests, control.now())


def _page(table: StateTable, partition: str, cursor: str | None) -> Page[Row]:
    return table.query_index(partition, limit=_PAGE, cursor=cursor)

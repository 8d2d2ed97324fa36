"""How the mirror stands, read from its lists. Lists are hints, and good enough to count."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

from domain import keys
from domain.crm.sync import STATUSES, CrmSync
from domain.ports.storage import StateTable
from domain.records import Page, Row, every
from handlers.crm.control import AccountControl
from handlers.crm.metrics import Standing, standing
from projections.crm import CRM

MOST: Final = 10_000
"""Rows of one list that are counted: who has more has a problem that no number makes clearer."""

_PAGE: Final = 200


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
        for row in islice(_listed(control.table, keys.crm_statuses(each, status)), most)
    )
    return standing(rows, rests, control.now())


def _listed(table: StateTable, partition: str) -> Iterator[CrmSync]:
    for row in every(partial(_page, table, partition)):
        sync: CrmSync = CRM.decode(row)
        yield sync


def _page(table: StateTable, partition: str, cursor: str | None) -> Page[Row]:
    return table.query_index(partition, limit=_PAGE, cursor=cursor)

"""What people do in HubSpot's own pages, past the API: no token, no limit, no trace in the journal."""

from collections.abc import Callable

from handlers.simulators.hubspot.account import Account, Target
from handlers.simulators.hubspot.portal import CONTACTS, DEALS, PIPELINE
from handlers.simulators.hubspot.records import Author, Write

Take = Callable[[], tuple[Account, str]]


class People:
    """Somebody who works in the account. Each act is refused as the page would refuse it.

    Args:
        take: returns the account and its time, after what was due by then has been carried out.
        user_id: whose name stands in the histories.
    """

    def __init__(self, take: Take, user_id: int = 1001) -> None:
        self._take = take
        self._author = Author("CRM_UI", f"userId:{user_id}", user_id)

    def create(self, kind: str, **values: str) -> str:
        """Make a record; return its id."""
        account, how = self._begin()
        with account.lock:
            return account.create(kind, values, (), how).id

    def create_deal(self, contact_id: str, **values: str) -> str:
        """Make a deal of a contact; return its id."""
        account, how = self._begin()
        with account.lock:
            return account.create(DEALS, values, [Target(CONTACTS, contact_id)], how).id

    def edit(self, kind: str, record_id: str, **values: str) -> None:
        """Change values of a record; "" clears one."""
        account, how = self._begin()
        with account.lock:
            account.update(account.find(kind, record_id), values, how)

    def move(self, deal_id: str, stage_id: str) -> None:
        """Move a deal to another stage."""
        self.edit(DEALS, deal_id, dealstage=stage_id)

    def archive(self, kind: str, record_id: str) -> None:
        """Delete a record; it can be restored."""
        account, how = self._begin()
        with account.lock:
            account.archive(account.find(kind, record_id), how.at)

    def restore(self, kind: str, record_id: str) -> None:
        """Bring a deleted record back."""
        account, how = self._begin()
        with account.lock:
            account.restore(account.find(kind, record_id, archived=True), how.at)

    def merge(self, kind: str, first_id: str, second_id: str) -> str:
        """Make one of two records; return the id of what is left."""
        account, how = self._begin()
        with account.lock:
            first, second = (account.find(kind, each) for each in (first_id, second_id))
            return account.merge(first, second, how).id

    def dissociate(self, deal_id: str, contact_id: str) -> None:
        """Take a contact away from a deal."""
        account, _ = self._begin()
        with account.lock:
            account.links.unlink(deal_id, contact_id)

    def remove_stage(self, stage_id: str, pipeline_id: str = PIPELINE) -> None:
        """Delete a stage; its deals keep its id."""
        account, _ = self._begin()
        with account.lock:
            account.pipelines.remove_stage(pipeline_id, stage_id)

    def _begin(self) -> tuple[Account, Write]:
        account, at = self._take()
        return account, Write(self._author, at)

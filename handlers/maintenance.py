"""Verify, rebuild and sweep over many leads: resumable, in parallel by lead, one's failure its own."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial

from domain import keys
from domain.errors import LeadError
from domain.records import Page, Row, every
from projections.lead_log import LeadLog
from projections.repairing import Repaired
from projections.restoring import Restored
from projections.verifying import Verified

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Jobs over the leads of one deployment. Nothing here can act on the world."""

    log: LeadLog

    def ping(self) -> None:
        """Ask the log and the state table something small.

        Raises:
            Unavailable: one of them cannot answer.
        """
        self.log.store.receipt(keys.receipt("", "", ""))
        self.log.table.get(keys.diagnosis("ping"))

    def leads(self, organization_id: str) -> Iterator[str]:
        """Return every lead of an organization once, in no promised order."""
        return every(
            lambda cursor: self.log.store.leads(organization_id, limit=_PAGE, cursor=cursor)
        )

    def lagging(self) -> Iterator[tuple[str, str]]:
        """Yield (organization, lead) of every lead whose rows lag behind its events."""
        for partition in keys.lag_partitions():
            for row in every(partial(self._lag_page, partition)):
                yield str(row.attributes["organizationId"]), row.key.sk

    def verify(self, lead: str) -> Verified:
        """Compare one lead's rows with its events; what cannot be read is part of the answer.

        Raises:
            NotFound, Unavailable: see `Verifier.verify`.
        """
        return self.log.verifier.verify(lead)

    def rebuild(self, lead: str) -> Repaired:
        """Bring one lead's rows to what its events say, comparing rows that claim to be current.

        Raises:
            NotFound, Unavailable: see `Repairer.repair`.
        """
        return self.log.repairer.repair(lead, force=True)

    def streams(self) -> Iterator[str]:
        """Yield everything that has a head or an event, of all organizations, each once."""
        seen: set[str] = set()
        for lead in every(lambda cursor: self.log.store.streams(cursor=cursor)):
            if lead not in seen:
                seen.add(lead)
                yield lead

    def restored(self, lead: str, now: str | None = None) -> Restored:
        """Make a lead of a restored log whole; without an instant only tell what is missing.

        Raises:
            CorruptEvent, Unavailable: see `Restorer.restore`.
        """
        return self.log.restorer.look(lead) if now is None else self.log.restorer.restore(lead, now)

    def sweep(self, *, skip: Collection[str] = ()) -> list[Repaired]:
        """Catch up every lagging lead but those to skip, once; one that fails is answered.

        Also one whose repair has a bug: the others are not to wait for its correction.
        """
        return [self._catch_up(lead) for _, lead in self.lagging() if lead not in skip]

    def _catch_up(self, lead: str) -> Repaired:
        try:
            return self.log.repairer.repair(lead)
        except LeadError as error:
            return Repaired(lead=lead, state="failed", detail=str(error))
        except Exception as error:  # noqa: BLE001 - see `sweep`
            import structlog  # noqa: PLC0415 - costs a command that logs nothing a third of its start

            structlog.get_logger().exception("lead.not_caught_up", lead=lead)
            return Repaired(lead=lead, state="failed", detail=type(error).__name__)

    def _lag_page(self, partition: str, cursor: str | None) -> Page[Row]:
        return self.log.table.query(partition, limit=_PAGE, cursor=cursor)

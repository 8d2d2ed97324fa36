"""Looking at the rows of one lead: whether they are what the log says, and agree with themselves."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from domain import keys
from domain.crm.drift import Drift, of_a_row
from domain.crm.sync import CrmSync
from domain.keys import Key
from domain.ports.effects import Clock
from domain.records import Row
from handlers.crm.claims import claimed
from projections.crm import CRM
from projections.lead_log import LeadLog

_TRIES: Final = 3
"""Looks at a lead that is written to meanwhile; after them it counts as seen last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """A row as the log says it is, and what is wrong with the one that stands."""

    sync: CrmSync
    drifts: tuple[Drift, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspecting:
    """Reads rows and the events they come from; folds, and changes nothing."""

    log: LeadLog
    now: Clock

    def of_a_lead(self, organization_id: str, lead: str) -> list[Inspected]:
        """Return the rows of a lead.

        Raises:
            CorruptEvent, ViewBroken: its events cannot be folded.
            Unavailable: the store cannot answer.
        """
        reader = self.log.reader
        head = reader.head(lead, organization_id)
        found: list[Inspected] = []
        for _ in range(_TRIES):
            found = self._once(lead, head.version)
            before, head = head, reader.head(lead, organization_id)
            if head.rev == before.rev:
                return found
        return found

    def _once(self, lead: str, version: int) -> list[Inspected]:
        reader = self.log.reader
        fold = reader.fold(lead, [CRM], reader.events(lead, lte=version))
        return [
            Inspected(sync=sync, drifts=tuple(self._examined(lead, key, sync)))
            for key, sync in fold.states(CRM).standing().items()
        ]

    def _examined(self, lead: str, key: Key, sync: CrmSync) -> Iterator[Drift]:
        stored = self.log.table.get(key)
        expected = CRM.encode(lead, key, sync)
        session_id, deal_id = sync.session_id, sync.deal_id
        if stored is None or dict(stored.attributes) != dict(expected.attributes):
            about = "missing" if stored is None else ""
            yield Drift(kind="row_differs", session_id=session_id, deal_id=deal_id, about=about)
        standing = sync if stored is None else CRM.decode(stored)
        if stored is not None and stored.gsi1 != CRM.encode(lead, key, standing).gsi1:
            yield Drift(kind="index_mismatch", session_id=session_id, deal_id=deal_id)
        yield from of_a_row(standing, self.now())
        yield from self._lease(standing)
        yield from self._claim(standing)

    def _lease(self, sync: CrmSync) -> Iterator[Drift]:
        """Tell of a worker that died between a creation's marker and its answer."""
        if not sync.creation_started or sync.deal_id:
            return
        lease: Row | None = self.log.table.get(keys.crm_lease(sync.session_id))
        until = "" if lease is None else str(lease.attributes["until"])
        # A lease that was given back is free since before every instant.
        if until > sync.creation_started and until < self.now():
            yield Drift(kind="lease_expired", session_id=sync.session_id)

    def _claim(self, sync: CrmSync) -> Iterator[Drift]:
        if not sync.deal_id:
            return
        holder = claimed(self.log.reader.recorder, sync.organization_id, sync.deal_id).holder
        if holder == sync.session_id:
            return
        kind = "link_unclaimed" if holder is None else "link_of_another"
        yield Drift(kind=kind, session_id=sync.session_id, deal_id=sync.deal_id)

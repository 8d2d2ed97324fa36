"""Whether the mirror and the CRM agree: from the rows alone, the account, or a file of it. Reads only.

Rows that agree with themselves and with the log prove nothing about the CRM: a confirmed row means
that a revision was accepted once. What was looked at, and when, is told with every report.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from domain.crm import drift
from domain.crm.drift import Drift, Seen, Snapshot
from domain.crm.replies import Kind, Reply
from domain.crm.sync import CrmSync
from domain.crm.visit import CONSERVATIVE, UNIQUE, Configuration, key_of
from domain.errors import CorruptEvent, Rejected, ViewBroken
from domain.ports.effects import Clock, Crm, DealKey
from handlers.crm.account import Account
from handlers.crm.inspecting import Inspected, Inspecting
from handlers.crm.looking import silent

BATCH: Final = 100
"""Keys of one request. Source: research/crm.md §4.7."""

Against = Literal["rows", "remote", "snapshot"]

_CANNOT_TELL: Final = frozenset((Kind.INVALID, Kind.REFUSED, Kind.ABSENT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was found, the worst first.

    `against` is what rows were compared with, `as_of` the moment of that, "" if nobody knows it.
    `rows` were looked at, `compared` of them with a deal.
    """

    against: Against
    as_of: str
    rows: int
    compared: int
    drifts: tuple[Drift, ...]
    proof: str

    @property
    def is_clean(self) -> bool:
        """Whether nobody has to act; what people did and may keep is no drift."""
        return all(each.kept for each in self.drifts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosing:
    """Compares the rows of one deployment with its account.

    Args:
        leads: yields the leads of an organization.
        account: one whose client refuses every request that could change something; None without
            a token.
        stages: the CRM's stage id of each logical stage.
        environment: of the keys.
    """

    inspecting: Inspecting
    leads: Callable[[str], Iterator[str]]
    account: Account | None
    stages: Mapping[str, str]
    environment: str
    now: Clock

    def close(self) -> None:
        """Let go of the account's connections."""
        if self.account is not None:
            getattr(self.account.crm, "close", lambda: None)()

    def rows(self, organization_id: str, *, since: str = "") -> Report:
        """Compare rows with themselves and with the log; no network.

        Raises:
            Unavailable: the store cannot answer.
        """
        rows, drifts = self._rows(organization_id, since)
        return _report("rows", self.now(), len(rows), 0, drifts)

    def remote(self, organization_id: str, *, since: str = "", contacts: bool = False) -> Report:
        """Compare rows with the account, by at most 100 keys a request.

        Args:
            organization_id: whose rows.
            since: leave out rows that did not change since.
            contacts: compare contacts too, which takes one request a deal.

        Raises:
            Rejected: there is no account.
            Unavailable: the store or the account cannot answer.
        """
        if self.account is None:
            hint = "Set HUBSPOT_TOKEN to the access token of a private app."
            raise Rejected("There is no account of the CRM to compare with.", hint=hint)
        config = self.account.configuration()
        if isinstance(config, Reply):
            raise silent(config)
        rows, drifts = self._rows(organization_id, since)
        as_of, compared = self.now(), 0
        wanted = [each for each in rows if each.deal_id or each.creation_started]
        for first in range(0, len(wanted), BATCH):
            batch = wanted[first : first + BATCH]
            seen = _Reading(self.account.crm, config, contacts).deals(batch)
            for row in batch:
                drifts += drift.of_a_deal(row, drift.find(row, seen, config), config)
                compared += 1
        return _report("remote", as_of, len(rows), compared, drifts)

    def against(self, organization_id: str, snapshot: Snapshot, *, since: str = "") -> Report:
        """Compare rows with a file of the account; no network.

        Raises:
            Unavailable: the store cannot answer.
        """
        keyed = any("key" in each.deal.properties for each in snapshot.deals)
        config = Configuration(
            stages=self.stages,
            environment=self.environment,
            mode=UNIQUE if keyed else CONSERVATIVE,
        )
        rows, drifts = self._rows(organization_id, since)
        known = _indexed(snapshot.deals)
        wanted = [each for each in rows if each.deal_id or each.creation_started]
        for row in wanted:
            names = (row.deal_id, key_of(row, config))
            near = [each for name in names if name for each in known.get(name, ())]
            drifts += drift.of_a_deal(row, drift.find(row, near, config), config)
        everything = rows if not since else self._rows(organization_id, "")[0]
        drifts += drift.of_strangers(snapshot.deals, everything, config)
        return _report("snapshot", snapshot.taken_at, len(rows), len(wanted), drifts)

    def _rows(self, organization_id: str, since: str) -> tuple[list[CrmSync], list[Drift]]:
        """Return every row that changed since, and what is wrong with it in itself."""
        rows: list[CrmSync] = []
        drifts: list[Drift] = []
        for lead in self.leads(organization_id):
            try:
                found: Iterable[Inspected] = self.inspecting.of_a_lead(organization_id, lead)
            except (CorruptEvent, ViewBroken) as error:
                drifts.append(Drift(kind="unreadable", about=error.code))
                continue
            for each in found:
                if each.sync.status and each.sync.updated_at >= since:
                    rows.append(each.sync)
                    drifts += each.drifts
        return rows, drifts


class _Reading:
    """Reads deals of some rows from the account."""

    def __init__(self, crm: Crm, config: Configuration, contacts: bool) -> None:
        self._crm = crm
        self._config = config
        self._contacts = contacts

    def deals(self, rows: Sequence[CrmSync]) -> list[Seen]:
        """Return what is found of them: by key, then what is not by the deal's id."""
        seen: list[Seen] = []
        if self._config.mode == UNIQUE:
            wanted = [key_of(row, self._config) for row in rows]
            seen = self._keyed(wanted, archived=False)
            held = {each.deal.properties.get("key", "") for each in seen}
            missing = [key for key in wanted if key not in held]
            seen += self._keyed(missing, archived=True) if missing else []
        for row in rows:
            if row.deal_id and drift.find(row, seen, self._config) is None:
                seen += self._one("id", row.deal_id)
        return [self._whole(each) for each in seen] if self._contacts else seen

    def _keyed(self, wanted: Sequence[str], *, archived: bool) -> list[Seen]:
        reply = self._crm.find_deals(wanted, archived=archived)
        if archived and reply.kind in _CANNOT_TELL:
            return []
        if reply.kind not in {Kind.DONE, Kind.ABSENT}:
            raise silent(reply)
        return [Seen(deal=each, contacts_known=False) for each in reply.records]

    def _one(self, by: DealKey, value: str) -> list[Seen]:
        """Return a deal by its id; one that was merged names what was merged into it."""
        for archived in (False, True):
            reply = self._crm.find_deal(by=by, value=value, archived=archived)
            if reply.record is not None:
                merged = () if reply.record.id == value else (value,)
                return [Seen(deal=reply.record, contacts_known=True, merged=merged)]
            if reply.kind not in {Kind.ABSENT, *(_CANNOT_TELL if archived else ())}:
                raise silent(reply)
        return []

    def _whole(self, seen: Seen) -> Seen:
        if seen.contacts_known or seen.deal.archived:
            return seen
        found = self._one("id", seen.deal.id)
        return replace(found[0], merged=seen.merged) if found else seen


def _indexed(deals: Iterable[Seen]) -> dict[str, list[Seen]]:
    """Return deals by everything a row may know them by."""
    known: dict[str, list[Seen]] = {}
    for each in deals:
        for name in {each.deal.id, each.deal.properties.get("key", ""), *each.merged} - {""}:
            known.setdefault(name, []).append(each)
    return known


def _report(
    against: Against, as_of: str, rows: int, compared: int, drifts: Iterable[Drift]
) -> Report:
    ordered = sorted(drifts, key=lambda each: (each.kept, each.kind, each.session_id, each.about))
    return Report(
        against=against,
        as_of=as_of,
        rows=rows,
        compared=compared,
        drifts=tuple(ordered),
        proof=_PROOF[against],
    )


_PROOF: Final[dict[Against, str]] = {
    "rows": "The CRM was not looked at: this proves nothing about what it shows.",
    "remote": "The CRM was read while it may have changed; who wrote a value is not known,"
    " nor what it has of nobody's.",
    "snapshot": "The file is as old as it says; the CRM may show something else by now.",
}

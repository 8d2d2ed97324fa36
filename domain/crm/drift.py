"""How a session's mirror and what was seen in the CRM differ, by class. Pure.

Source of the classes: research/crm.md §4.7. `kept` marks what people did and may keep: it is told,
and nobody has to act on it. Nothing in here holds a value that anybody wrote.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal

from domain.crm.content import POLICIES, moves
from domain.crm.replies import Remote
from domain.crm.sync import BLOCKED, SYNCED, UNCERTAIN, CrmSync
from domain.crm.visit import Configuration, Visit, is_key_of, key_of
from domain.instants import shift

By = Literal["", "ours", "human", "other_app", "unknown"]

LONG_UNCERTAIN: Final = timedelta(minutes=15)
"""After which a row in doubt is told. Source: research/crm.md §4.6, the alarm."""

_PEOPLE: Final = frozenset(
    ("CRM_UI", "CRM_UI_BULK_ACTION", "MOBILE_IOS", "MOBILE_ANDROID", "IMPORT", "MERGE_OBJECTS")
)
_PROGRAMS: Final = frozenset(("INTEGRATION", "API", "INTEGRATIONS_PLATFORM"))
"""Sources of a value that HubSpot's histories name. Source: research/crm.md §1.4."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A deal as it was seen in the CRM.

    Args:
        deal: the record; its `contact_ids` count only where `contacts_known`.
        contacts_known: whether its contacts were looked at.
        merged: ids of deals that were merged into it.
        sources: who wrote a property last, by our name of it, in HubSpot's words.
        apps: which program did, where one did.
        by_app: whether a program created it.
    """

    deal: Remote
    contacts_known: bool = True
    merged: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    apps: Mapping[str, str] = field(default_factory=dict)
    by_app: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All deals of an account as of one moment; "" if nobody knows which."""

    taken_at: str
    deals: tuple[Seen, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One difference. `about` names a property or a reason, `by` who wrote what differs."""

    kind: str
    session_id: str = ""
    deal_id: str = ""
    about: str = ""
    by: By = ""
    kept: bool = False


def of_a_row(sync: CrmSync, now: str) -> Iterator[Drift]:
    """Yield what contradicts itself in a row, without a look at the CRM."""
    waits = shift(sync.uncertain_since or now, LONG_UNCERTAIN)
    problems = {
        "synced_unconfirmed": sync.status == SYNCED and sync.confirmed_revision != sync.revision,
        "blocked_without_reason": sync.status == BLOCKED and not sync.blocked_reason,
        "uncertain_long": sync.status == UNCERTAIN and waits < now,
    }
    for kind, stands in problems.items():
        if stands:
            yield Drift(kind=kind, session_id=sync.session_id, deal_id=sync.deal_id)


def of_a_deal(sync: CrmSync, seen: Seen | None, config: Configuration) -> Iterator[Drift]:
    """Yield how a session differs from its deal as it was seen; nothing if it does not.

    Content is compared of confirmed rows only: what is not is still on its way.

    Args:
        sync: the row.
        seen: what `find` found.
        config: stages and keys.
    """
    session_id = sync.session_id
    if seen is None:
        if sync.deal_id:
            yield Drift(kind="missing", session_id=session_id, deal_id=sync.deal_id)
        return
    if seen.deal.archived or not sync.deal_id:
        kind = "archived" if seen.deal.archived else "unlinked"
        yield Drift(kind=kind, session_id=session_id, deal_id=seen.deal.id)
        return
    if seen.deal.id != sync.deal_id:
        about = seen.deal.id
        yield Drift(kind="merged", session_id=session_id, deal_id=sync.deal_id, about=about)
    if sync.status == SYNCED and sync.confirmed_revision == sync.revision:
        yield from _stage(sync, seen, config)
        yield from _content(sync, seen, config)
        yield from _contacts(sync, seen)


def of_strangers(
    seen: Collection[Seen], rows: Collection[CrmSync], config: Configuration
) -> Iterator[Drift]:
    """Yield deals that ought to be some session's and are not, among all that were seen."""
    linked = {row.deal_id for row in rows if row.deal_id}
    contacts = {row.contact_id for row in rows if row.contact_id}
    sessions = {row.session_id.lower(): row.session_id for row in rows}
    keys = Counter(key for each in seen if (key := _key(each)))
    for each in seen:
        if each.deal.id in linked or not linked.isdisjoint(each.merged):
            continue
        session_id = _session(_key(each), config)
        kind = ""
        if keys[_key(each)] > 1:
            kind = "duplicate_key_twin"
        elif session_id and session_id not in sessions and not each.deal.archived:
            kind = "orphan_remote"
        elif not _key(each) and each.by_app and not contacts.isdisjoint(each.deal.contact_ids):
            kind = "unkeyed_twin"
        if kind:
            yield Drift(kind=kind, session_id=sessions.get(session_id, ""), deal_id=each.deal.id)


def find(sync: CrmSync, seen: Iterable[Seen], config: Configuration) -> Seen | None:
    """Return the deal of a session among those that were seen, whatever became of it."""
    key = key_of(sync, config)
    ranked: list[tuple[int, Seen]] = []
    for each in seen:
        if sync.deal_id and each.deal.id == sync.deal_id:
            ranked.append((0 if not each.deal.archived else 2, each))
        elif sync.deal_id in each.merged or _key(each) == key:
            ranked.append((1 if not each.deal.archived else 3, each))
    return min(ranked, key=lambda pair: pair[0])[1] if ranked else None


def _stage(sync: CrmSync, seen: Seen, config: Configuration) -> Iterator[Drift]:
    stage = sync.desired["stage"]
    if stage not in config.stages:
        return
    forward = moves(config.stages, stage, seen.deal.properties.get("stage", ""))
    if forward is not None:
        yield Drift(
            kind="stage_behind" if forward else "stage_ahead_human",
            session_id=sync.session_id,
            deal_id=seen.deal.id,
            about="stage",
            by=_by(seen, "stage"),
            kept=not forward,
        )


def _content(sync: CrmSync, seen: Seen, config: Configuration) -> Iterator[Drift]:
    stands = seen.deal.properties
    wanted = Visit.of(sync, "", frozenset()).wanted_deal(sync, config)
    if is_key_of(_key(seen), sync.session_id, config):
        # Which of a session's keys a deal has is no matter.
        wanted.pop("key", None)
    for name, value in sorted(wanted.items()):
        there = stands.get(name, "")
        if value.split() == there.split():
            continue
        by = _by(seen, name)
        may = POLICIES[f"deal.{name}"] == "human_wins" and bool(there) and by != "ours"
        yield Drift(
            kind="property_diff",
            session_id=sync.session_id,
            deal_id=seen.deal.id,
            about=name,
            by=by,
            kept=may,
        )


def _contacts(sync: CrmSync, seen: Seen) -> Iterator[Drift]:
    if not seen.contacts_known or not sync.contact_id:
        return
    if sync.contact_id not in seen.deal.contact_ids:
        kind = "contact_mismatch" if seen.deal.contact_ids else "association_missing"
        yield Drift(kind=kind, session_id=sync.session_id, deal_id=seen.deal.id)


def _by(seen: Seen, name: str) -> By:
    source = seen.sources.get(name, "")
    if source in _PEOPLE:
        return "human"
    if source in _PROGRAMS:
        # Who wrote our key is us.
        ours = seen.apps.get("key", "")
        return "other_app" if ours and seen.apps.get(name) != ours else "ours"
    return "unknown"


def _key(seen: Seen) -> str:
    return seen.deal.properties.get("key", "")


def _session(key: str, config: Configuration) -> str:
    """Return the session that a key of this deployment names; "" if it is none."""
    environment, _, rest = key.partition(":")
    return rest.partition("#")[0] if environment == config.environment else ""

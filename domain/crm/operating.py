"""What a person may set right about the mirror of a session, and on which conditions. Pure.

Source of the conditions: research/crm.md §4.7. Whoever decides has seen a row: its etag says which
one, and what stands otherwise by now is refused, never overwritten.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple

from domain import canonical
from domain.crm.choosing import Candidate, advice
from domain.crm.claims import Claimed
from domain.crm.replies import Remote
from domain.crm.standing import Standing
from domain.crm.sync import BLOCKED, PENDING, UNCERTAIN, CrmSync
from domain.crm.visit import UNIQUE, Configuration, Fact, base_key, is_key_of, key_of
from domain.errors import Conflict
from domain.instants import shift, to_datetime

Action = Literal["retry", "reconcile", "release", "adopt", "recreate", "unlink"]

LONG_ENOUGH: Final = timedelta(minutes=10)
"""After a creation was begun, before a person may say that it never happened (research/crm.md §4.7)."""

GONE: Final = ("deal_archived", "deal_missing")
"""Why a row is blocked whose deal people took away."""

_ETAG: Final = 16


@dataclass(slots=True, kw_only=True)
class Stands(Standing):
    """A row as whoever acts on it has to see it, and the etag of all of it."""

    etag: str


class ActRefused(Conflict):
    """The row is not one that this act is for; nothing was recorded. `stands` is what it is."""

    code = "crm_act_refused"
    title = "The mirror of this session stands otherwise"

    def __init__(self, why: str, stands: Stands, then: str) -> None:
        super().__init__(f"{why} It is {told(stands)}.", hint=then)
        self.stands = stands


class Changed(ActRefused):
    """The row is not the one that was seen; nothing was recorded."""

    code = "crm_row_changed"
    title = "The mirror of this session changed meanwhile"

    def __init__(self, stands: Stands) -> None:
        then = "Look at it with `leads crm show`, and decide again; nothing was recorded."
        super().__init__("The row changed since you saw it.", stands, then)


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """What is asked for: by whom, why, and on what they saw.

    Args:
        command_id: names this one act, at every try.
        etag: of the row that was seen.
    """

    operator: str
    reason: str
    command_id: str
    etag: str


class Looked(NamedTuple):
    """What the account holds for a session, looked up just now: by its key, archived ones too.

    `keyed` is False where the account has no unique property: then nothing can be looked up.
    """

    keyed: bool
    deals: tuple[Remote, ...] = ()

    @property
    def live(self) -> tuple[Remote, ...]:
        """Those that are not archived."""
        return tuple(each for each in self.deals if not each.archived)


class Adopted(NamedTuple):
    """A deal that is to be a session's, as it was read just now, and what is claimed of it.

    `given_up` is what is claimed of the deal that the session is now.
    """

    deal: Remote
    claimed: Claimed
    given_up: Claimed


def etag_of(sync: CrmSync) -> str:
    """Return what one state of a row is known by: a digest of all of it. Equal rows, equal etags."""
    return canonical.digest(canonical.dumps(asdict(sync)))[:_ETAG]


def stands_of(sync: CrmSync) -> Stands:
    """Return what of a row may be shown."""
    values: dict[str, Any] = {each.name: getattr(sync, each.name) for each in fields(Standing)}
    return Stands(etag=etag_of(sync), **values)


def told(stands: Stands) -> str:
    """Return a row in a few words, for a refusal."""
    reason = f" ({stands.blocked_reason})" if stands.blocked_reason else ""
    deal = f", its deal is {stands.deal_id}" if stands.deal_id else ", without a deal"
    return f"{stands.status or 'not published'}{reason}{deal}, etag {stands.etag}"


def retry(sync: CrmSync, act: Act) -> Fact:
    """Let a row be worked on now, as if it had never failed. What it wants and knows stays.

    Raises:
        ActRefused: it is neither blocked nor pending, or not as it was seen.
    """
    _as_seen(sync, act)
    _in(sync, (BLOCKED, PENDING), "Only what is BLOCKED or PENDING is tried again.", _RECONCILE)
    return _fact("retry", act)


def reconcile(sync: CrmSync, act: Act, *, found: Sequence[Candidate] | None = None) -> Fact:
    """Let what became of a creation be looked up now; `found` is what a person may choose from.

    Raises:
        ActRefused: nothing is in doubt, nothing can be looked up by a key, or as in `retry`.
    """
    _as_seen(sync, act)
    _in(sync, (UNCERTAIN,), "Only what is UNCERTAIN is reconciled.", "Nothing is in doubt.")
    if sync.creation_mode != UNIQUE:
        raise ActRefused("It was created without a unique key.", stands_of(sync), advice(found))
    return _fact("reconcile", act)


def release(sync: CrmSync, act: Act, *, looked: Looked, evidence: str, now: str) -> Fact:
    """Let a deal be created that a person says was not.

    Args:
        sync: the row as it stands.
        act: what is asked for.
        looked: what the account holds under the session's key.
        evidence: what was checked; kept.
        now: the time.

    Raises:
        ActRefused: it heals by itself, there is such a deal, its creation began less than
            `LONG_ENOUGH` ago, or as in `retry`.
    """
    _as_seen(sync, act)
    _in(sync, (UNCERTAIN,), "Only what is UNCERTAIN is released.", "Nothing is in doubt.")
    stands = stands_of(sync)
    if sync.creation_mode == UNIQUE and sync.next_attempt_at:
        raise ActRefused("It is looked up by its key, and heals by itself.", stands, _RECONCILE)
    if looked.deals:
        found = ", ".join(each.id for each in looked.deals)
        then = f"Restore it if it is archived, then `leads crm adopt` it: {found}."
        raise ActRefused("The CRM has a deal with this session's key.", stands, then)
    if sync.creation_started and now < shift(sync.creation_started, LONG_ENOUGH):
        waits = to_datetime(shift(sync.creation_started, LONG_ENOUGH)) - to_datetime(now)
        then = f"What was sent may still arrive. Try again in {int(waits.total_seconds()) + 1} s."
        raise ActRefused("Its creation began less than ten minutes ago.", stands, then)
    return _fact("release", act, evidence=evidence)


def adopt(
    sync: CrmSync,
    act: Act,
    *,
    adopted: Adopted,
    looked: Looked,
    config: Configuration,
    contact_id: str | None = None,
) -> Fact:
    """Make a deal that stands in the CRM the session's own; one it was before it gives up.

    Which unique key it has from now on is said with it: the one it has, if that is this session's or
    one of a session that gave it up (none of which ever uses that key again, while what it sent
    may still arrive); else one that nothing in the account has.

    Args:
        sync: the row as it stands.
        act: what is asked for.
        adopted: the deal. That it is another session's by its claim is found where it is claimed.
        looked: what the account holds under the session's key.
        config: what keys there are.
        contact_id: makes this contact the session's, too.

    Raises:
        ActRefused: the deal is archived or another session's, the account has another deal with
            this session's key, or as in `retry`.
    """
    _as_seen(sync, act)
    allowed = "Only what is UNCERTAIN, BLOCKED or PENDING takes a deal."
    _in(sync, (UNCERTAIN, BLOCKED, PENDING), allowed, "`leads crm unlink` first.")
    stands, own = stands_of(sync), key_of(sync, config)
    deal, claimed = adopted.deal, adopted.claimed
    theirs = deal.properties.get("key", "")
    if deal.archived:
        raise ActRefused("This deal is archived.", stands, "Restore it in the CRM first.")
    if theirs and not any(
        is_key_of(theirs, each, config) for each in (sync.session_id, *claimed.former)
    ):
        then = "Look at whose it is: its key names another session, or another deployment."
        raise ActRefused("This deal has another key.", stands, then)
    others = [each.id for each in looked.live if each.id != deal.id]
    if others:
        then = f"Adopt that one, or merge both in the CRM first: {', '.join(others)}."
        raise ActRefused("Another deal has this session's key.", stands, then)
    key = None
    if config.mode == UNIQUE:
        key = theirs or (
            f"{base_key(sync.session_id, config)}#{sync.key_suffix + 1}" if looked.deals else own
        )
    said = {} if deal.id == sync.deal_id else _given_up(sync, adopted.given_up)
    said |= {"deal_id": deal.id, "contact_id": contact_id, "create_key": key}
    return _fact("adopt", act, claim=claimed.said, **said)


def recreate(
    sync: CrmSync, act: Act, *, given_up: Claimed, standing: Sequence[Remote] = ()
) -> Fact:
    """Let another deal be created in place of one that people took away.

    Args:
        sync: the row as it stands.
        act: what is asked for.
        standing: what was found just now of the deal that is said to be gone; archived ones too.
        given_up: what is claimed of it: should people restore it, another session may be it.

    Raises:
        ActRefused: it is not blocked for its deal being gone, the deal is there again, or as in
            `retry`.
    """
    _as_seen(sync, act)
    stands = stands_of(sync)
    if sync.status != BLOCKED or sync.blocked_reason not in GONE:
        why = "Only what is BLOCKED because its deal is archived or missing is created again."
        raise ActRefused(why, stands, _RETRY)
    if any(not each.archived for each in standing):
        raise ActRefused("The deal is there again.", stands, _RETRY)
    return _fact("recreate", act, **_given_up(sync, given_up))


def unlink(sync: CrmSync, act: Act, *, given_up: Claimed) -> Fact:
    """Let a session no longer be its deal; the deal stays as it is, and another one is created.

    `given_up` is what is claimed of the deal; any session may be it from now on.

    Raises:
        ActRefused: it has no deal, or as in `retry`.
    """
    _as_seen(sync, act)
    if not sync.deal_id:
        raise ActRefused("Only what has a deal is unlinked.", stands_of(sync), _RETRY)
    return _fact("unlink", act, **_given_up(sync, given_up))


def _given_up(sync: CrmSync, claims: Claimed) -> dict[str, Any]:
    """Return what a fact says of the deal that its session is no longer.

    Raises:
        Changed: the claims are of another deal: it was this one when they were looked at.
    """
    if claims.deal_id != sync.deal_id:
        raise Changed(stands_of(sync))
    number = claims.given_up_by(sync.session_id) if sync.deal_id else None
    if number is None:
        return {}
    return {"released_deal_id": sync.deal_id, "released_claim": number}


def _as_seen(sync: CrmSync, act: Act) -> None:
    if etag_of(sync) != act.etag:
        raise Changed(stands_of(sync))


def _in(sync: CrmSync, statuses: Sequence[str], why: str, then: str) -> None:
    if sync.status not in statuses:
        raise ActRefused(why, stands_of(sync), then)


def _fact(action: Action, act: Act, **said: Any) -> Fact:
    payload = {"action": action, "operator": act.operator, "reason": act.reason, **said}
    stated = {name: each for name, each in payload.items() if each is not None}
    return Fact("crm_operator_action", stated)


_RETRY: Final = "`leads crm retry` tries what is blocked or pending again."
_RECONCILE: Final = "`leads crm reconcile` looks up what is in doubt."

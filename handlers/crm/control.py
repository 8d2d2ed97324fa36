"""Whether an account of the CRM may be used now: one record that every worker looks at.

An account rests for a time that it asked for, until somebody mends what is wrong with it (a
breaker, tried again now and then by one worker), or until the person who paused it goes on.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Literal

from domain import keys
from domain.crm.replies import Kind, Reply
from domain.errors import Unavailable
from domain.instants import shift
from domain.ports.effects import Clock
from domain.ports.storage import StateTable
from domain.records import Absent, Attributes, Condition, Equal, Row

Why = Literal["paused", "breaker", "manual"]

PROBE_EVERY: Final = timedelta(minutes=5)
"""Between tries of an account whose breaker is open."""

PROBE_TAKES: Final = timedelta(minutes=1)
"""For which one worker tries, and the others wait for what it finds."""

DEFAULT_PAUSE_S: Final = 10
"""Where the account does not say how long. Source: research/crm.md §4.4, the window of its limits."""

DAILY_PAUSE_S: Final = 60 * 60
"""Where it does not, and its limit of a day is met: that ends at a midnight of the account's own, so
it is tried every hour. Source: as above."""

_DAILY: Final = "limit_daily"
"""The word of a limit that ends with the day."""

_TRIES: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """Why an account is not used. `until` says when it may be tried; "" is until a person says so."""

    why: Why
    reason: str
    opened_at: str
    until: str
    operator: str = ""
    number: int = 0

    @property
    def version(self) -> str:
        """Names one state of the record."""
        return f"{self.number}:{self.why}:{self.opened_at}:{self.until}"

    def is_over(self, now: str) -> bool:
        """Tell whether one worker may try the account again."""
        return bool(self.until) and self.until <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountControl:
    """The records of all organizations' accounts."""

    table: StateTable
    now: Clock

    def rest(self, organization_id: str) -> Rest | None:
        """Return why the account is not used; None if it is."""
        row = self.table.get(keys.crm_control(organization_id))
        if row is None:
            return None
        said = {name: row.attributes[name] for name in ("reason", "opened_at", "until", "operator")}
        texts = {name: str(value) for name, value in said.items()}
        why: Why = next(each for each in _WHYS if each == row.attributes["why"])
        return Rest(why=why, number=int(row.attributes["number"]), **texts)

    def refused(self, organization_id: str, reply: Reply) -> Rest:
        """Let an account rest that refused a request; what a person said stays."""
        now = self.now()
        breaks = reply.kind != Kind.PAUSED
        until = shift(now, PROBE_EVERY if breaks else _pause(reply))

        def change(rest: Rest | None) -> Rest:
            made = Rest(
                why="breaker" if breaks else "paused",
                reason=reply.reason or str(reply.kind).lower(),
                opened_at=now,
                until=until,
            )
            if rest is None:
                return made
            if rest.why == "manual":
                return rest
            stronger = made if breaks and rest.why == "paused" else rest
            if made.why == rest.why == "paused" and (made.reason == _DAILY or until > rest.until):
                # It rests since the first of two limits, because of the longer one.
                stronger = replace(rest, reason=made.reason)
            return replace(stronger, until=max(rest.until, until), number=rest.number)

        return self._change(organization_id, change)

    def pause(self, organization_id: str, *, operator: str, reason: str) -> Rest:
        """Let an account rest until a person says otherwise."""
        made = Rest(why="manual", reason=reason, opened_at=self.now(), until="", operator=operator)
        return self._change(organization_id, lambda _: made)

    def resume(self, organization_id: str) -> bool:
        """Use an account again, whyever it rests; tell whether it did."""
        for _ in range(_TRIES):
            rest = self.rest(organization_id)
            if rest is None:
                return False
            if self.lift(organization_id, rest):
                return True
        raise _contended()

    def claim_probe(self, organization_id: str, rest: Rest) -> Rest | None:
        """Take it upon oneself to try the account once; None if another worker does.

        Whoever does `lift`s it if it works again, or tells that it was `refused` once more; if it
        dies, another one may after `PROBE_TAKES`.
        """
        probing = replace(rest, until=shift(self.now(), PROBE_TAKES), number=rest.number + 1)
        return probing if self._put(organization_id, probing, rest) else None

    def lift(self, organization_id: str, rest: Rest) -> bool:
        """Use the account again, unless what is known of it has changed."""
        return self.table.delete(keys.crm_control(organization_id), Equal("version", rest.version))

    def _change(self, organization_id: str, change: Callable[[Rest | None], Rest]) -> Rest:
        for _ in range(_TRIES):
            before = self.rest(organization_id)
            after = change(before)
            if after == before:
                return after
            after = replace(after, number=before.number + 1 if before else 1)
            if self._put(organization_id, after, before):
                return after
        raise _contended()

    def _put(self, organization_id: str, rest: Rest, before: Rest | None) -> bool:
        condition: Condition = Absent() if before is None else Equal("version", before.version)
        attributes: Attributes = {
            "why": rest.why,
            "reason": rest.reason,
            "opened_at": rest.opened_at,
            "until": rest.until,
            "operator": rest.operator,
            "number": rest.number,
            "version": rest.version,
        }
        return self.table.put(Row(keys.crm_control(organization_id), attributes), condition)


_WHYS: Final[tuple[Why, ...]] = ("paused", "breaker", "manual")


def _pause(reply: Reply) -> timedelta:
    if reply.wait_s is not None:
        return timedelta(seconds=reply.wait_s)
    return timedelta(seconds=DAILY_PAUSE_S if reply.reason == _DAILY else DEFAULT_PAUSE_S)


def _contended() -> Unavailable:
    return Unavailable("Others change what is known of the account at the same time.")

"""Rules of the head, each taken out: what a commit looks like on its way if a rule is missing."""

from collections.abc import Callable
from dataclasses import replace

from domain import keys
from domain.records import CheckHead, Commit, PutHead
from tests.support.head_world import World, is_claim


def heads_compared_by(*names: str) -> Callable[[World, Commit], Commit]:
    """Without `rev`: a head may be written if only these attributes are as they were read."""

    def amend(world: World, commit: Commit) -> Commit:
        put = commit.head
        if not isinstance(put, PutHead) or put.expected_rev == 0:
            return commit
        then, now = world.head_at(put.head.lead, put.expected_rev), world.head(put.head.lead)
        if any(getattr(then, name) != getattr(now, name) for name in names):
            return commit
        return replace(commit, head=PutHead(replace(put.head, rev=now.rev + 1), now.rev))

    return amend


def chunks_checked_by(*names: str) -> Callable[[World, Commit], Commit]:
    """Without the rest of the phase: a chunk compares only these attributes of the head."""

    def amend(_: World, commit: Commit) -> Commit:
        check = commit.head
        if not isinstance(check, CheckHead) or check.goal is None:
            return commit
        compared = {name: getattr(check, name) for name in names}
        return replace(commit, head=CheckHead(check.lead, **compared))

    return amend


def chunks_of_whoever_claimed(world: World, commit: Commit) -> Commit:
    """Without an edition of its own: a chunk checks the edition it finds on the head."""
    check = commit.head
    if not isinstance(check, CheckHead) or check.goal is None:
        return commit
    found = world.head(check.lead).fold_version
    return replace(commit, head=replace(check, fold_version=found))


def claims_without_lag(_: World, commit: Commit) -> Commit:
    """Without the LAG row: a claim tells nobody."""
    return replace(commit, puts=()) if is_claim(commit) else commit


def claims_of_no_edition(world: World, commit: Commit) -> Commit:
    """Without the claimer's edition: a claim leaves foldVersion as it was."""
    put = commit.head
    if not isinstance(put, PutHead) or not is_claim(commit):
        return commit
    found = world.head(put.head.lead).fold_version
    return replace(commit, head=replace(put, head=replace(put.head, fold_version=found)))


def gaps_never_closed(_: World, commit: Commit) -> Commit:
    """Without the delete: the LAG row stays when the gap is closed."""
    lags = {keys.Key(pk, key.sk) for pk in keys.lag_partitions() for key in commit.deletes}
    return replace(commit, deletes=tuple(key for key in commit.deletes if key not in lags))

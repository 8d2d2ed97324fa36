"""What is ours to write and what people hold: desired content against what stands there. Pure.

The CRM has no conditional write, so what stands is read before it is written. A value that differs
from what is desired is ours to change only if we put it there: it is the shadow (what was asserted
last), or one of those we may have written without hearing of it.
"""

from collections.abc import Collection, Mapping
from typing import Final, Literal, NamedTuple

from domain import canonical
from domain.crm.desired import RANKS

Owner = Literal["contact", "deal"]
Policy = Literal["own", "fill_blank", "human_wins"]

POLICIES: Final[dict[str, Policy]] = {
    "contact.phone": "fill_blank",
    "contact.phone_key": "fill_blank",
    "contact.name": "human_wins",
    "contact.email": "human_wins",
    "deal.key": "fill_blank",
    "deal.name": "human_wins",
    "deal.segment": "human_wins",
    "deal.intent": "human_wins",
    "deal.notes": "own",
}
"""Who wins where a person changed what we wrote. Source: research/crm.md §4.5. The stage has ranks."""

REQUIRED: Final = frozenset(("contact.phone_key", "deal.name", "deal.stage", "deal.key"))
"""Properties without which nothing is written; others are left out if the CRM refuses them."""

_MAX_SHADOW: Final = 500
"""Characters of a value that its row remembers (`domain.crm.sync`)."""


class Change(NamedTuple):
    """What to write, and the names of what people hold otherwise."""

    write: dict[str, str]
    kept: tuple[str, ...] = ()


def compare(
    owner: Owner,
    desired: Mapping[str, str],
    there: Mapping[str, str],
    shadow: Mapping[str, str],
    ours: Collection[str],
) -> Change:
    """Return what of a contact or deal is to be written; what is equal is left out.

    Args:
        owner: whose properties these are.
        desired: what should stand, without the stage.
        there: what stands.
        shadow: the row's `remote`, by `{owner}.{name}`.
        ours: `mark`s of values that may have been written by us since.
    """
    write: dict[str, str] = {}
    kept: list[str] = []
    for name, value in desired.items():
        path, standing = f"{owner}.{name}", there.get(name, "")
        if _seen(value) == _seen(standing):
            continue
        own = _shadow(standing) == shadow.get(path, "") or mark(path, standing) in ours
        policy = POLICIES[path]
        if policy == "own" or not standing if policy != "human_wins" else own:
            write[name] = value
        elif policy == "human_wins":
            kept.append(path)
    return Change(write, tuple(kept))


def restated(
    owner: Owner,
    desired: Mapping[str, str],
    there: Mapping[str, str],
    shadow: Mapping[str, str],
    ours: Collection[str],
) -> dict[str, str]:
    """Return what stands and is ours, which a request may write again beside what it names.

    Properties may share a field of the CRM, which is written as a whole. Such a request that arrives
    late puts them back to what they were when it was made, and that was nobody else.
    """
    paths = (path for path, policy in POLICIES.items() if policy == "human_wins")
    names = [name for of, _, name in (path.partition(".") for path in paths) if of == owner]
    kept = compare(owner, desired, there, shadow, ours).kept
    found = {name: there.get(name, "") for name in names if f"{owner}.{name}" not in kept}
    return {
        name: standing
        for name, standing in found.items()
        if name in desired
        or _shadow(standing) == shadow.get(f"{owner}.{name}", "")
        or mark(f"{owner}.{name}", standing) in ours
    }


def moves(stages: Mapping[str, str], desired: str, standing: str) -> bool | None:
    """Tell whether a deal's stage is to be written; None if it stands already.

    Args:
        stages: the CRM's id of each logical stage.
        desired: the logical stage.
        standing: the id of the stage it is in.

    Only forward: not out of a stage that is none of ours, and not over one of the same rank or a
    higher one. So a deal that is closed, whoever closed it, stays so: no rank is higher.
    """
    if stages[desired] == standing:
        return None
    ranks = [RANKS[name] for name, stage_id in stages.items() if stage_id == standing]
    if not standing:
        return True
    return bool(ranks) and RANKS[desired] > max(ranks)


def mark(path: str, value: str) -> str:
    """Return what a value that was sent is known by: it says nothing to whoever reads it."""
    return canonical.digest(path, _seen(value))[:16]


def marks(owner: Owner, properties: Mapping[str, str]) -> frozenset[str]:
    """Return the marks of what a request writes, of those properties that people may win."""
    return frozenset(
        mark(f"{owner}.{name}", value)
        for name, value in properties.items()
        if POLICIES.get(f"{owner}.{name}") == "human_wins"
    )


def shadow_of(owner: Owner, properties: Mapping[str, str]) -> dict[str, str]:
    """Return what a row remembers of properties that were asserted; notes are always ours."""
    return {
        f"{owner}.{name}": _shadow(value)
        for name, value in properties.items()
        if POLICIES.get(f"{owner}.{name}") != "own"
    }


def _shadow(value: str) -> str:
    return _seen(value)[:_MAX_SHADOW]


def _seen(value: str) -> str:
    """Return a value as people see it: a CRM may change white space."""
    return " ".join(value.split())

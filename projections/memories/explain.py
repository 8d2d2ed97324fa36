"""Why a memory reads as it does: the events it stands on, step by step, from the log itself."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from domain.event import LeadEvent
from projections import FOLD_VERSION
from projections.memories.cells import Cells, Contribution, event_id_of, merge, stamp
from projections.memories.declaration import Name
from projections.memories.render import Memory, is_memory, render
from projections.memories.rules import RULES

Status = Literal["stands", "expired", "absent"]


@dataclass(frozen=True, slots=True)
class Register:
    """A fact of which one value stands: this event's, or that of another (`by`), which beats it."""

    cell: str
    stands: bool
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One contributing event, in the order things happened.

    `rules` are named `family.rule`. `cells` are those it touched. `value` is how the memory read
    after it, as far as events up to then told.
    """

    event_id: str
    sequence: int
    event_type: str
    source: str
    occurred_at: str
    received_at: str
    rules: tuple[str, ...]
    cells: tuple[str, ...]
    registers: tuple[Register, ...]
    value: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """An event that would have contributed, had it been surer of what it says."""

    event_id: str
    sequence: int
    event_type: str
    occurred_at: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The history of one memory.

    `memory` is how it reads now, None if nothing contributed; `reason` says why no listing shows
    it, and is empty if one does. `fold_version` is of the rules that were applied.
    """

    memory_type: str
    key: str
    status: Status
    reason: str
    memory: Memory | None
    steps: tuple[Step, ...]
    passed: tuple[Passed, ...]
    fold_version: int


def explain(events: Iterable[LeadEvent], memory_type: str, key: str, now: str) -> Explanation:
    """Return how a memory came to be.

    Args:
        events: all of the lead that count, in any order.
        memory_type: of the memory.
        key: of the memory.
        now: the instant of reading; it decides what has expired.
    """
    name = memory_type, key
    ordered = sorted(events, key=lambda each: each.occurred_at_id) if is_memory(*name) else []
    states: dict[Name, Cells] = {}
    moves: list[tuple[_Move, dict[str, Any]]] = []
    passed: list[Passed] = []
    for event in ordered:
        move = _moved(states, event, name)
        if move:
            moves.append((move, deepcopy(render(*name, states[name], states).value)))
        elif _too_unsure(event, name):
            passed.append(_passed(event))
    final = states.get(name, {})
    memory = render(*name, final, states) if final else None
    status, reason = _status(memory, now, passed)
    return Explanation(
        memory_type=memory_type,
        key=key,
        status=status,
        reason=reason,
        memory=memory,
        steps=tuple(_step(move, value, final) for move, value in moves),
        passed=tuple(passed),
        fold_version=FOLD_VERSION,
    )


_REGISTERS: Final = ("last:", "first:")
_SURE: Final = 1


class _Move(NamedTuple):
    event: LeadEvent
    rules: tuple[str, ...]
    cells: Cells


def _moved(states: dict[Name, Cells], event: LeadEvent, name: Name) -> _Move | None:
    """Merge the event into all memories, and return what it did to this one."""
    rules: list[str] = []
    touched: Cells = {}
    for rule, (memory_type, key, cells) in _ruled(event):
        merge(states.setdefault((memory_type, key), {}), cells)
        if (memory_type, key) == name:
            rules.append(rule)
            touched.update(cells)
    return _Move(event, tuple(rules), touched) if rules else None


def _ruled(event: LeadEvent) -> Iterator[tuple[str, Contribution]]:
    stamped = stamp(event.occurred_at, event.event_id)
    for rule in RULES.get(event.event_type, ()):
        family = rule.__module__.rpartition(".")[2]
        for contribution in rule(event, stamped):
            yield f"{family}.{rule.__name__}", contribution


def _too_unsure(event: LeadEvent, name: Name) -> bool:
    if "confidence" not in event.payload:
        return False
    sure = event._replace(payload={**event.payload, "confidence": _SURE})
    return any((memory_type, key) == name for _, (memory_type, key, _) in _ruled(sure))


def _passed(event: LeadEvent) -> Passed:
    return Passed(
        event_id=event.event_id,
        sequence=event.sequence,
        event_type=event.event_type,
        occurred_at=event.occurred_at,
        reason="Its confidence is below what a memory takes.",
    )


def _step(move: _Move, value: dict[str, Any], final: Cells) -> Step:
    event = move.event
    return Step(
        event_id=event.event_id,
        sequence=event.sequence,
        event_type=event.event_type,
        source=event.source,
        occurred_at=event.occurred_at,
        received_at=event.received_at,
        rules=move.rules,
        cells=tuple(sorted(move.cells)),
        registers=tuple(
            _register(cell, event.event_id, final)
            for cell in sorted(move.cells)
            if cell.startswith(_REGISTERS)
        ),
        value=value,
    )


def _register(cell: str, event_id: str, final: Cells) -> Register:
    standing = event_id_of(final[cell][-2])
    return Register(cell, standing == event_id, standing)


def _status(memory: Memory | None, now: str, passed: list[Passed]) -> tuple[Status, str]:
    if memory is None:
        unsure = f" {len(passed)} came too unsure of itself." if passed else ""
        return "absent", f"No event of this lead contributes to such a memory.{unsure}"
    if memory.expires_at is not None and memory.expires_at <= now:
        return "expired", f"It held until {memory.expires_at}; a new event of its kind revives it."
    return "stands", ""

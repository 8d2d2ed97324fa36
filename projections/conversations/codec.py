"""States of conversations as flat rows and back: text and whole numbers, maps and lists as JSON."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, Final, TypeVar

from domain import canonical
from domain.conversation.messages import Delivery, Message
from domain.conversation.session import Session
from domain.conversation.states import State
from domain.conversation.thread import Outbound, Thread, Waiting
from domain.records import Attributes, Value

StateType = TypeVar("StateType")

_LISTED: Final[dict[str, type]] = {"pending": Waiting, "outbox": Outbound}


def encode(state: Any) -> dict[str, Value]:
    """Return the attributes of a state; what is as it begins is left out."""
    out: dict[str, Value] = {}
    for field in _fields(type(state)):
        value = getattr(state, field.name)
        if value is None or value == _default(field):
            continue
        out[field.name] = _plain(value)
    return out


def decode(kind: type[StateType], attributes: Attributes) -> StateType:
    """Return the state that attributes hold; attributes of other editions are left aside."""
    values: dict[str, Any] = {}
    for field in _fields(kind):
        if field.name in attributes:
            value = attributes[field.name]
            reader = _READERS.get((kind, field.name))
            values[field.name] = value if reader is None else reader(value)
    return kind(**values)


def _plain(value: Any) -> Value:
    if isinstance(value, State):
        return str(value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, dict):
        return canonical.dumps(value).decode()
    if isinstance(value, list):
        items = [each if isinstance(each, str) else encode(each) for each in value]
        return canonical.dumps(items).decode()
    plain: Value = value
    return plain


def _listed(kind: type) -> Callable[[Any], Any]:
    return lambda text: [decode(kind, each) for each in canonical.loads(text)]


_READERS: Final[Mapping[tuple[type, str], Callable[[Any], Any]]] = {
    (Session, "state"): State,
    (Session, "qualification_data"): canonical.loads,
    (Session, "cadastral_data"): canonical.loads,
    (Session, "handoff_card"): canonical.loads,
    (Thread, "state"): State,
    (Thread, "opted_out"): bool,
    (Thread, "arrived"): canonical.loads,
    (Thread, "pending"): _listed(Waiting),
    (Thread, "outbox"): _listed(Outbound),
    (Delivery, "statuses"): canonical.loads,
}


def _fields(kind: type) -> tuple[Field[Any], ...]:
    return _FIELDS[kind]


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


KINDS: Final = (Session, Thread, Message, Delivery)
"""Every state that has a row of its own."""

_FIELDS: Final[dict[type, tuple[Field[Any], ...]]] = {
    kind: fields(kind) for kind in (*KINDS, Waiting, Outbound)
}

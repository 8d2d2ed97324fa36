"""States of the mirror as flat rows and back: text and whole numbers, maps as JSON text."""

from dataclasses import MISSING, Field, fields
from typing import Any, Final

from domain import canonical
from domain.conversation.states import State
from domain.crm.sync import CrmSync
from domain.records import Attributes, Value

_FIELDS: Final = fields(CrmSync)


def encode(sync: CrmSync) -> dict[str, Value]:
    """Return the attributes of a row; what is as it begins is left out."""
    values = ((field, getattr(sync, field.name)) for field in _FIELDS)
    return {
        field.name: _plain(value) for field, value in values if value not in (None, _default(field))
    }


def decode(attributes: Attributes) -> CrmSync:
    """Return the state that attributes hold; those of other editions are left aside."""
    values: dict[str, Any] = {
        field.name: _read(field, attributes[field.name])
        for field in _FIELDS
        if field.name in attributes
    }
    return CrmSync(**values)


def _plain(value: Any) -> Value:
    if isinstance(value, dict):
        return canonical.dumps(value).decode()
    return str(value) if isinstance(value, State) else value


def _read(field: Field[Any], value: Value) -> Any:
    if field.name == "state":
        return State(str(value))
    return canonical.loads(str(value)) if field.default_factory is dict else value


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default

"""The declaration of event types: the `Payload` base, `@event`, `@upcasts`, and the registry."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from domain.catalog._describe import PayloadField, fields_of

JsonObject = dict[str, Any]
Upcaster = Callable[[JsonObject], JsonObject]
PayloadClass = TypeVar("PayloadClass", bound="type[Payload]")
UpcasterFunction = TypeVar("UpcasterFunction", bound=Upcaster)


class Strict(BaseModel):
    """An object of which every field is declared. Compiled at its first use, not at import."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        defer_build=True,
    )

    def canonical(self) -> JsonObject:
        """Return the object as canonical JSON: camelCase names, money as text, no nulls."""
        values = self.__dict__
        out = {}
        for name, wire in _wire_names(self.__class__):
            value = values[name]
            if value is not None:
                out[wire] = value if value.__class__ is not list else _canonical(value)
        return out


class Payload(Strict):
    """What an event says, beside its envelope.

    Attributes are snake_case, the wire is camelCase; input may be either. Unknown fields are
    refused. An optional field that is null is absent, and no default is ever filled in: the
    canonical form says what the sender said. Every attribute holds its canonical JSON value.
    """


@dataclass(kw_only=True)
class EventType:
    """One type of event, as its class declares it.

    `models` holds the class of each version, `upcasters` what turns a payload of a version into
    one of the next; `version` is the newest. What is `ours` is refused at the door: only this
    service records it.
    """

    name: str
    category: str
    ours: bool = False
    version: int = 0
    models: dict[int, type[Payload]] = field(default_factory=dict)
    upcasters: dict[int, Upcaster] = field(default_factory=dict)

    @property
    def model(self) -> type[Payload]:
        """The class of the newest version."""
        return self.models[self.version]

    @property
    def summary(self) -> str:
        """What the type means, in a line."""
        return self.summary_of(self.version)

    def summary_of(self, version: int) -> str:
        """Return what a version means: the first line of the docstring of its class."""
        return (self.models[version].__doc__ or "").strip().partition("\n")[0]

    @cached_property
    def fields(self) -> tuple[PayloadField, ...]:
        """The fields of the newest version, in the order they are declared."""
        return fields_of(self.model)

    @property
    def example(self) -> JsonObject:
        """A payload of the newest version with every field, in canonical form."""
        return {one.wire: one.example for one in self.fields}

    def upcast(self, version: int, payload: JsonObject) -> JsonObject:
        """Return what a payload of an older version says in the newest one."""
        for older in range(version, self.version):
            payload = self.upcasters[older](payload)
        return payload


_registry: Final[dict[str, EventType]] = {}

TYPES: Final[Mapping[str, EventType]] = MappingProxyType(_registry)
"""Every event type, by name."""


def event(
    name: str, *, category: str, version: int = 1, ours: bool = False
) -> Callable[[PayloadClass], PayloadClass]:
    """Declare a payload class as one version of an event type. Older versions stay declared.

    Raises:
        TypeError: the version is declared already, or leaves a gap below it.
    """

    def declare(model: PayloadClass) -> PayloadClass:
        declared = _registry.setdefault(name, EventType(name=name, category=category, ours=ours))
        if version != declared.version + 1:
            message = f"{name} has {declared.version} versions; version {version} is not the next"
            raise TypeError(message)
        declared.version = version
        declared.models[version] = model
        return model

    return declare


def upcasts(name: str, *, from_version: int) -> Callable[[UpcasterFunction], UpcasterFunction]:
    """Declare how a payload of one version reads in the next. It must leave its argument alone."""

    def declare(upcaster: UpcasterFunction) -> UpcasterFunction:
        _registry[name].upcasters[from_version] = upcaster
        return upcaster

    return declare


@cache
def _wire_names(model: type[Strict]) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(info.alias)) for name, info in model.model_fields.items())


def _canonical(values: list[Any]) -> list[Any]:
    return [value.canonical() if isinstance(value, Strict) else value for value in values]

"""What is derived from a payload class: its fields, its JSON Schema, their bounds in words."""

import inspect
from collections.abc import Iterator
from types import UnionType
from typing import Any, Final, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from domain.catalog._fields import Loggable, Ours

Schema = dict[str, Any]

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_SAYS_NOTHING: Final = frozenset(("$ref", "description", "examples", "title"))

_FORMATS: Final = {
    "money": "≥ 0, with the currency's decimal places",
    "iso-4217": "an ISO 4217 code",
    "date-time": "ISO 8601 with an offset",
}


class PayloadField(NamedTuple):
    """One field of a payload.

    `wire` is its camelCase name, `json_type` the type of its canonical form ("json" where only
    the sender knows it), `bounds` what it accepts, in words.
    """

    name: str
    wire: str
    json_type: str
    bounds: str
    required: bool
    loggable: bool
    ours: bool
    description: str
    example: Any


def fields_of(model: type[BaseModel]) -> tuple[PayloadField, ...]:
    """Return the fields of a payload class, in the order they are declared."""
    marks = _marks(model)
    properties = schema_of(model)["properties"]
    return tuple(
        _field(name, info, properties[str(info.alias)], marks[name])
        for name, info in model.model_fields.items()
    )


def schema_of(model: type[BaseModel]) -> Schema:
    """Return the JSON Schema (2020-12) of what a payload class accepts, without references.

    Senders may also write field names in snake_case; the schema names the camelCase form alone.
    """
    generated = model.model_json_schema(by_alias=True)
    schema = _plain(generated, generated.pop("$defs", {}))
    for name, marks in _marks(model).items():
        about = _about(marks)
        described = schema["properties"][str(model.model_fields[name].alias)]
        described["description"] = about.description
        described["examples"] = about.examples
    return {"$schema": _DIALECT, "description": inspect.getdoc(model), **schema}


def _field(name: str, info: FieldInfo, schema: Schema, marks: list[Any]) -> PayloadField:
    accepted = _without_null(schema)
    return PayloadField(
        name=name,
        wire=str(info.alias),
        json_type=_json_type(accepted),
        bounds=_bounds(accepted),
        required=info.is_required(),
        loggable=any(isinstance(mark, Loggable) for mark in marks),
        ours=any(isinstance(mark, Ours) for mark in marks),
        description=schema["description"],
        example=schema["examples"][0],
    )


def _marks(model: type[BaseModel]) -> dict[str, list[Any]]:
    """Return what each field is annotated with, also inside `| None`.

    pydantic's own schema loses descriptions that stand inside a union.
    """
    hints = get_type_hints(model, include_extras=True)
    return {name: list(_metadata(hints[name])) for name in model.model_fields}


def _metadata(hint: Any) -> Iterator[Any]:
    yield from getattr(hint, "__metadata__", ())
    if get_origin(hint) in {Union, UnionType}:
        for part in get_args(hint):
            yield from _metadata(part)


def _about(marks: list[Any]) -> FieldInfo:
    """Return the last of the marks that describes, which is the outermost.

    Raises:
        TypeError: a field without a description and an example is not declared in full.
    """
    for mark in reversed(marks):
        if isinstance(mark, FieldInfo) and mark.description and mark.examples:
            return mark
    message = "every field needs describe(…)"
    raise TypeError(message)


def _plain(schema: Schema, definitions: Schema) -> Schema:
    """Put definitions where they are referred to, and leave out what says nothing."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]] | schema
    out = {key: value for key, value in schema.items() if key not in _SAYS_NOTHING}
    if out.get("default", ...) is None:
        del out["default"]
    if "properties" in out:
        out["properties"] = {
            name: _plain(part, definitions) for name, part in out["properties"].items()
        }
    if "items" in out:
        out["items"] = _plain(out["items"], definitions)
    if "anyOf" in out:
        out["anyOf"] = [_plain(part, definitions) for part in out["anyOf"]]
    return out


def _without_null(schema: Schema) -> Schema:
    """Return the schema of the value of a property, when there is one."""
    parts = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    return parts[0] if len(parts) == 1 else schema | ({"anyOf": parts} if parts else {})


def _json_type(schema: Schema) -> str:
    if schema.get("format") == "money":
        return "string"
    if "type" in schema:
        return str(schema["type"])
    types = {part.get("type") for part in schema["anyOf"]}
    return "number" if types == {"number", "string"} else "json"


def _bounds(schema: Schema) -> str:
    match schema.get("format", _json_type(schema)):
        case "array":
            words = f"{_range(schema, 'minItems', 'maxItems')} items, each {_item_bounds(schema)}"
        case "string" if "enum" in schema:
            words = " · ".join(f"`{word}`" for word in schema["enum"])
        case "string":
            words = f"{_range(schema, 'minLength', 'maxLength')} characters"
        case "integer" | "number":
            number = schema["anyOf"][0] if "anyOf" in schema else schema
            words = _range(number, "minimum", "maximum")
        case "json":
            words = " or ".join(part["type"] for part in schema["anyOf"])
        case known:
            words = _FORMATS[known]
    return words


def _item_bounds(schema: Schema) -> str:
    items = schema["items"]
    if "properties" not in items:
        return _bounds(items)
    return "; ".join(
        f"`{name}`{'' if name in items.get('required', ()) else '?'} {_bounds(_without_null(part))}"
        for name, part in items["properties"].items()
    )


def _range(schema: Schema, low: str, high: str) -> str:
    return f"{schema.get(low, 0)}…{schema[high]}"

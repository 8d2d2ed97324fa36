"""Between flat items and DynamoDB's attribute values: text, integers, bytes.

Our own, because every item is flat: a quarter of the time of boto3's serializer, and an integer
comes back as one instead of as a Decimal.
"""

from collections.abc import Mapping
from typing import Any

from domain import canonical
from domain.limits import Item

Wire = dict[str, dict[str, Any]]
"""An item as the low-level client takes and gives it."""


def encode(item: Item) -> Wire:
    """Return the attribute values of a flat item."""
    return {name: encode_value(value) for name, value in item.items()}


def encode_value(value: str | int | bytes) -> dict[str, Any]:
    """Return one attribute value."""
    if isinstance(value, str):
        return {"S": value}
    if isinstance(value, bytes):
        return {"B": value}
    return {"N": str(value)}


def decode(wire: Mapping[str, Mapping[str, Any]]) -> dict[str, str | int | bytes]:
    """Return the flat item of attribute values.

    Nothing here writes maps, lists or fractions; an earlier deployment did (seed 000). They are
    read as the JSON text that this one would have written.

    Raises:
        KeyError: an attribute is of a type that neither wrote.
    """
    return {name: _decode_value(value) for name, value in wire.items()}


def _decode_value(value: Mapping[str, Any]) -> str | int | bytes:
    for kind, content in value.items():
        if kind in {"S", "B"}:
            text_or_bytes: str | bytes = content
            return text_or_bytes
        if kind == "N" and content.lstrip("-").isdigit():
            return int(content)
        return canonical.dumps(_plain(value)).decode()
    kind = "an empty attribute value"
    raise KeyError(kind)


def _plain(value: Mapping[str, Any]) -> Any:
    [(kind, content)] = value.items()
    if kind == "M":
        return {name: _plain(each) for name, each in content.items()}
    if kind == "L":
        return [_plain(each) for each in content]
    if kind == "N":
        return int(content) if content.lstrip("-").isdigit() else float(content)
    if kind not in {"S", "BOOL", "NULL"}:
        raise KeyError(kind)
    return None if kind == "NULL" else content

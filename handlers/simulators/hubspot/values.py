"""What a property may hold: the type of each value, and what is said of one that does not fit."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, NamedTuple

from domain import instants
from handlers.simulators.hubspot.moments import stamp

_EMAIL: Final = re.compile(r"[^@\s,;]+@[^@\s,;.]+(\.[^@\s,;.]+)+")
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_MILLISECONDS: Final = re.compile(r"-?[0-9]{1,14}", re.ASCII)
_DAY_MS: Final = 86_400_000


class Unfit(Exception):
    """A value does not fit its property."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code)
        self.code = code
        self.message = message


class Shape(NamedTuple):
    """What a value must look like: a type, and the options if there are such."""

    type: str
    options: tuple[str, ...] = ()
    several: bool = False


def fit(value: str, shape: Shape) -> str:
    """Return the value as it is kept; empty clears, so it fits every type.

    Raises:
        Unfit: it is not of the type.
    """
    if not value:
        return value
    # Source: HubSpot's changelog, "Enhanced Validations for Non-String Properties" (2025-04-07).
    if shape.type != "string" and value != value.strip():
        raise Unfit(
            "LEADING_TRAILING_WHITESPACE", f'"{value}" includes leading or trailing whitespace.'
        )
    if shape.type == "enumeration":
        return _option(value, shape)
    fits = _FITS.get(shape.type)
    return value if fits is None else fits(value)


def fit_email(value: str) -> str:
    """Return an e-mail as it is kept: lower case.

    Raises:
        Unfit: it is none.
    """
    email = value.strip().lower()
    if email and not _EMAIL.fullmatch(email):
        raise Unfit("INVALID_EMAIL", f"Email address {value} is invalid")
    return email


def _option(value: str, shape: Shape) -> str:
    chosen = value.split(";") if shape.several else [value]
    if any(each not in shape.options for each in chosen):
        allowed = ", ".join(shape.options)
        raise Unfit("INVALID_OPTION", f"{value} was not one of the allowed options: [{allowed}]")
    return value


def _number(value: str) -> str:
    if not _NUMBER.fullmatch(value):
        raise Unfit("INVALID_INTEGER", f"{value} was not a valid number.")
    return value


def _bool(value: str) -> str:
    if value not in {"true", "false"}:
        raise Unfit("INVALID_OPTION", f"{value} was not one of the allowed options: [true, false]")
    return value


def _date(value: str) -> str:
    if _MILLISECONDS.fullmatch(value):
        if int(value) % _DAY_MS:
            raise Unfit("INVALID_DATE", f"{value} is not midnight UTC!")
        return _moment(int(value))[:10]
    if not _DAY.fullmatch(value) or not _is_day(value):
        raise Unfit("INVALID_DATE", f"{value} was not a valid date.")
    return value


def _datetime(value: str) -> str:
    if _MILLISECONDS.fullmatch(value):
        return stamp(_moment(int(value)))
    try:
        return stamp(instants.parse_instant(value))
    except ValueError:
        raise Unfit("INVALID_LONG", f"{value} was not a valid long.") from None


def _is_day(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _moment(milliseconds: int) -> str:
    return instants.format_instant(datetime.fromtimestamp(milliseconds / 1000, UTC))


_FITS: Final[dict[str, Callable[[str], str]]] = {
    "number": _number,
    "bool": _bool,
    "date": _date,
    "datetime": _datetime,
}

"""Phones as HubSpot's search finds them, and whether what it found really is one of them.

Its search goes by the number without its country code, so it finds too much. Source: research/crm.md
§1.4.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

RAW: Final = ("phone", "mobilephone")
"""Properties in which people write phones."""

_CALCULATED: Final = (
    "hs_searchable_calculated_phone_number",
    "hs_searchable_calculated_mobile_number",
)
_MOST: Final = 10
"""Phones of one search, whose body may have 3,000 characters. Source: research/crm.md §1.2."""

_DIGITS: Final = re.compile(r"\+?[0-9]{7,15}", re.ASCII)
_NO_DIGIT: Final = re.compile(r"[^0-9]+", re.ASCII)


class Sought(NamedTuple):
    """The forms of the phones that are looked for: with the country code, and without."""

    whole: tuple[str, ...]
    national: tuple[str, ...]


def sought(phones: Iterable[str]) -> Sought:
    """Return what to look for; nothing if none of these is a phone with its country code."""
    numbers = (phone.removeprefix("+") for phone in phones if _DIGITS.fullmatch(phone))
    whole = tuple(dict.fromkeys(numbers))[:_MOST]
    return Sought(whole, tuple(dict.fromkeys(n for digits in whole if (n := _national(digits)))))


def filter_groups(of: Sought) -> list[dict[str, Any]]:
    """Return a search for any of these, in the five groups one search may have."""
    written = [*of.whole, *(f"+{digits}" for digits in of.whole)]
    values = dict.fromkeys(RAW, written) | {name: [*of.national] for name in _CALCULATED}
    return [
        {"filters": [{"propertyName": name, "operator": "IN", "values": some}]}
        for name, some in values.items()
        if some
    ]


def is_one(of: Sought, properties: Mapping[str, Any]) -> bool:
    """Tell whether a record has one of these phones, however people wrote it."""
    return any(_is(of, properties.get(name)) for name in RAW)


def _is(of: Sought, value: Any) -> bool:
    if not isinstance(value, str):
        return False
    text = value.strip()
    digits = _NO_DIGIT.sub("", text)
    if digits.removeprefix("00") in of.whole:
        return True
    # With a plus it names its country, and then it is that number and no other.
    return not text.startswith("+") and digits.lstrip("0") in of.national


def _national(digits: str) -> str:
    # Its import costs as much as the rest of a start; only a search pays for it.
    import phonenumbers  # noqa: PLC0415

    try:
        number = phonenumbers.parse(f"+{digits}")
    except phonenumbers.NumberParseException:
        return ""
    return phonenumbers.national_significant_number(number)

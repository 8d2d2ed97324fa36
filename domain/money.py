"""Money without floats: exact decimals, canonical text, and integer minor units per currency.

Source of codes and exponents: ISO 4217, list one (currencies; no metals, no test codes), and the
two codes withdrawn last, since late events still carry them.
"""

import re
from decimal import Decimal
from typing import Final

DEFAULT_CURRENCY: Final = "BRL"
"""What rules assume where an event states an amount and no currency."""

LIMIT: Final = 10**12
"""Amounts stay below, so that a JSON number (an IEEE double) still holds every digit of one."""

_WITHDRAWN: Final = "ANG BGN"
_EXPONENTS: Final[dict[str, int]] = {
    code: exponent
    for exponent, codes in (
        (0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"),
        (
            2,
            "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN "
            "BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD "
            "FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW "
            "KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR "
            "MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG "
            "SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD "
            "USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG " + _WITHDRAWN,
        ),
        (3, "BHD IQD JOD KWD LYD OMR TND"),
        (4, "CLF UYW"),
    )
    for code in codes.split()
}

CURRENCIES: Final = tuple(sorted(_EXPONENTS))

_QUANTA: Final = {digits: Decimal(1).scaleb(-digits) for digits in (0, 2, 3, 4)}
_TEXT: Final = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?", re.ASCII)


def is_currency(code: str) -> bool:
    """Tell whether this is an ISO 4217 code, in upper case."""
    return code in _EXPONENTS


def exponent(currency: str) -> int:
    """Return how many decimal places a currency has.

    Raises:
        ValueError: not an ISO 4217 code.
    """
    try:
        return _EXPONENTS[currency]
    except KeyError:
        message = "not an ISO 4217 currency code"
        raise ValueError(message) from None


def canonical(value: object, currency: str | None = None) -> str:
    """Return the text of an amount with exactly the decimal places of its currency: "150.00".

    Takes text, integers, decimals, and floats as the shortest decimal that names them: the JSON
    number 150.10 is 150.10. Without a currency an amount has two decimal places.

    Raises:
        ValueError: not an amount, negative, too large, or finer than the currency. The message
            holds no part of the value.
    """
    number = _exact(value)
    if not number.is_finite():
        message = "must be a finite number"
        raise ValueError(message)
    if number < 0:
        message = "must not be negative"
        raise ValueError(message)
    if number >= LIMIT:
        message = f"must be less than {LIMIT}"
        raise ValueError(message)
    digits = exponent(currency or DEFAULT_CURRENCY)
    amount = number.quantize(_QUANTA[digits]).copy_abs()
    if amount != number:
        of_currency = f"the {digits} of {currency}" if currency else "2"
        message = f"has more decimal places than {of_currency}"
        raise ValueError(message)
    return str(amount)


def minor_units(amount: str, currency: str) -> int:
    """Return an amount in the smallest unit of its currency: ("150.00", "BRL") is 15000.

    Raises:
        ValueError: not a decimal, finer than the currency, or not a currency.
    """
    whole, _, fraction = amount.partition(".")
    digits = exponent(currency)
    if len(fraction) > digits:
        fraction = fraction[:digits] + fraction[digits:].rstrip("0")
        if len(fraction) > digits:
            message = "the amount is finer than its currency"
            raise ValueError(message)
    return int(whole + fraction.ljust(digits, "0"))


def from_minor(units: int, currency: str) -> str:
    """Return the canonical text of an amount in minor units, which may be negative.

    Raises:
        ValueError: not a currency.
    """
    digits = exponent(currency)
    if not digits:
        return str(units)
    text = str(abs(units)).rjust(digits + 1, "0")
    return f"{'-' if units < 0 else ''}{text[:-digits]}.{text[-digits:]}"


def _exact(value: object) -> Decimal:
    if isinstance(value, Decimal):
        return value
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, str) and _TEXT.fullmatch(value):
        return Decimal(value)
    message = "must be a decimal number, or the text of one"
    raise ValueError(message)

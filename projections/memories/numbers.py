"""Exact arithmetic of memories: integers in cells, decimals in views, floats nowhere.

Logarithms are taken in decimals: a C library's may differ in the last digit from machine to
machine, and a rebuilt row must not.
"""

from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache
from typing import Final

from domain import money

SURE: Final = Decimal("0.95")
"""Evidence that adds up never makes a memory surer than this."""

_EXACT: Final = Context(prec=40, rounding=ROUND_HALF_EVEN)
_MOST: Final = Decimal("0.99")
_MILLION: Final = 1_000_000


@lru_cache(maxsize=4096)
def scaled(value: float | str, factor: int) -> int:
    """Return a stated number in units of 1/factor, rounded half to even; a float as it is written."""
    product = _EXACT.multiply(Decimal(str(value)), Decimal(factor))
    return int(product.to_integral_value(ROUND_HALF_EVEN))


@lru_cache(maxsize=4096)
def evidence(confidence: float | str) -> int:
    """Return -ln(1-c) in millionths, c at most 0.99: noisy-or as a sum of integers."""
    doubt = 1 - min(max(Decimal(str(confidence)), Decimal(0)), _MOST)
    return scaled(str(-_EXACT.ln(doubt)), _MILLION)


def noisy_or(summed: int) -> Decimal:
    """Return the confidence that evidence adds up to, at most `SURE`."""
    doubt = _EXACT.exp(_EXACT.divide(Decimal(-summed), Decimal(_MILLION)))
    return min(1 - doubt, SURE)


def vote_share(votes: int, of: int) -> Decimal:
    """Return how sure a majority is: its share times (1 - 0.5/n). Five of five is 0.90.

    Source: the documented example of preference/payment_method.
    """
    return _EXACT.divide(Decimal(votes * (2 * of - 1)), Decimal(2 * of * of))


def ratio(numerator: int, denominator: int, places: int = 2) -> int | float:
    """Return a fraction as a JSON number, rounded half to even."""
    return number(_EXACT.divide(Decimal(numerator), Decimal(denominator)), places)


def number(value: Decimal, places: int) -> int | float:
    """Return a decimal as a JSON number: whole where it can be, else the float it is written as."""
    rounded = value.quantize(Decimal(1).scaleb(-places), context=_EXACT)
    return int(rounded) if rounded == rounded.to_integral_value() else float(rounded)


def amounts(minor: Mapping[str, int]) -> dict[str, str]:
    """Return amounts in minor units as text, currency by currency; they are never added up."""
    return {currency: money.from_minor(minor[currency], currency) for currency in sorted(minor)}


def average_amounts(minor: Mapping[str, int], of: Mapping[str, int]) -> dict[str, str]:
    """Return average amounts as text, rounded half to even to the minor unit."""
    average = {
        currency: int(
            _EXACT.divide(Decimal(units), of[currency]).to_integral_value(ROUND_HALF_EVEN)
        )
        for currency, units in minor.items()
    }
    return amounts(average)

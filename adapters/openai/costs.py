"""What an answer costs, in integers."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Final, NamedTuple

CURRENCY: Final = "USD"


class Prices(NamedTuple):
    """US dollars a million tokens.

    Tokens read from the provider's cache cost `cached_input`; as much as others where that is None.
    """

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None


class Usage(NamedTuple):
    """Tokens as the host counted them; `cached_tokens` are part of `input_tokens`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


def cost_micros(usage: Usage, prices: Prices) -> int:
    """Return the cost in millionths of a dollar: dollars a million tokens are micros a token."""
    cheap = min(usage.cached_tokens, usage.input_tokens)
    cheap_price = prices.input if prices.cached_input is None else prices.cached_input
    exact = (
        (usage.input_tokens - cheap) * prices.input
        + cheap * cheap_price
        + usage.output_tokens * prices.output
    )
    return int(exact.quantize(Decimal(1), ROUND_HALF_UP))

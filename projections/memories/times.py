"""Times of memories: the lead's local hour, and spans between instants."""

from datetime import timedelta, tzinfo
from decimal import Decimal
from functools import lru_cache
from typing import Final

from domain.instants import to_datetime

ZONE: Final = "America/Sao_Paulo"
"""Fixed, as any other part of a rule: another zone is another edition of the projections."""


@lru_cache(maxsize=8192)
def local_hour(hour: str) -> tuple[str, str]:
    """Return local hour ("00" to "23") and ISO weekday ("1" is Monday) of an instant's hour.

    Args:
        hour: the first 13 characters of an instant. The zone has been whole hours from UTC for
            all years an instant can have, so its minutes do not matter.
    """
    local = to_datetime(f"{hour}:00:00+00:00").astimezone(_zone())
    return f"{local.hour:02d}", str(local.isoweekday())


def days_between(earlier: str, later: str) -> Decimal:
    """Return the exact span between two instants in days."""
    return _in_units_of(86_400, earlier, later)


def hours_between(earlier: str, later: str) -> Decimal:
    """Return the exact span between two instants in hours."""
    return _in_units_of(3_600, earlier, later)


@lru_cache(maxsize=1)
def _zone() -> tzinfo:
    # From the pinned package, not from the machine, whose rules may be older.
    from importlib import resources  # noqa: PLC0415 - only rules of local time need it
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - only rules of local time need it

    region, _, city = ZONE.partition("/")
    with resources.files("tzdata.zoneinfo").joinpath(region, city).open("rb") as file:
        return ZoneInfo.from_file(file, key=ZONE)


def _in_units_of(seconds: int, earlier: str, later: str) -> Decimal:
    microseconds = (to_datetime(later) - to_datetime(earlier)) // timedelta(microseconds=1)
    return Decimal(microseconds) / (seconds * 1_000_000)

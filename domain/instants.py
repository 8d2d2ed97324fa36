"""Points in time: UTC, microseconds, always 27 characters wide.

Keys sort by bytes, and `…00.123Z` sorts before `…00Z`; only one width keeps byte order and time
order the same. Naive times are refused: whose clock they are on is not ours to guess.
"""

from datetime import UTC, datetime, timedelta

EARLIEST = "2000-01-01T00:00:00.000000Z"
WIDTH = 27


def format_instant(moment: datetime) -> str:
    """Return the fixed-width form of an aware datetime.

    Raises:
        ValueError: the datetime is naive.
    """
    if moment.tzinfo is None:
        message = "a time needs an offset"
        raise ValueError(message)
    return _fixed(moment)


def parse_instant(text: str) -> str:
    """Return the fixed-width form of any ISO 8601 time that states an offset.

    Raises:
        ValueError: not a time, naive, or outside the years 2000 to 9998. The message holds no
            part of the input.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        message = "not an ISO 8601 date and time"
        raise ValueError(message) from None
    if moment.tzinfo is None:
        message = "a time needs an offset, for example a trailing Z"
        raise ValueError(message)
    try:
        instant = _fixed(moment)
    except (OverflowError, ValueError):
        instant = ""
    if not EARLIEST <= instant < "9999":
        message = "outside the years 2000 to 9998"
        raise ValueError(message)
    return instant


def to_datetime(instant: str) -> datetime:
    """Return the aware UTC datetime of a fixed-width instant."""
    return datetime.fromisoformat(instant)


def shift(instant: str, delta: timedelta) -> str:
    """Return the instant moved by `delta`, fixed width."""
    return format_instant(to_datetime(instant) + delta)


def _fixed(moment: datetime) -> str:
    # Three times as fast as strftime; the offset that is cut off is always +00:00.
    return f"{moment.astimezone(UTC).isoformat(timespec='microseconds')[: WIDTH - 1]}Z"

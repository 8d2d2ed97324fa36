"""The one place that tells the time, makes identifiers, and waits."""

import random
import time
from datetime import UTC, datetime
from typing import Final

from uuid_utils import uuid7

from domain.instants import format_instant

_BASE_S: Final = 0.010
_CAP_S: Final = 1.0
_DOUBLINGS: Final = 7
"""After which the cap is reached."""


def utc_now() -> str:
    """Return now as a fixed-width instant."""
    return format_instant(datetime.now(UTC))


def new_id() -> str:
    """Return a UUIDv7. Inside one process a later one always sorts later, in one millisecond too."""
    return str(uuid7())


def longest_wait_s(attempt: int) -> float:
    """Return how long the wait after a number of attempts may be: doubled each time, to 1 s."""
    return min(_CAP_S, _BASE_S * 2.0 ** min(max(attempt, 0), _DOUBLINGS))


def full_jitter(attempt: int) -> None:
    """Wait for a random time from none to the longest, so that rivals spread out.

    Source: "Exponential Backoff and Jitter", AWS Architecture Blog, the variant Full Jitter.
    """
    time.sleep(random.uniform(0, longest_wait_s(attempt)))  # noqa: S311 - no secret

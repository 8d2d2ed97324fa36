"""How often the account may be asked, and what it says about that."""

from collections import deque

from handlers.simulators.hubspot.answers import Refused, too_many
from handlers.simulators.hubspot.moments import midnight, seconds
from handlers.simulators.hubspot.setup import Setup

_BURST_S = 10.0
_SEARCH_S = 1.0


class Limits:
    """Counts requests on the account's clock. Not safe between threads."""

    def __init__(self) -> None:
        self._bursts: dict[str, deque[float]] = {}
        self._searches: deque[float] = deque()
        self._day = ""
        self._today = 0

    def admit(self, setup: Setup, token: str, at: str, *, search: bool) -> dict[str, str]:
        """Count a request; return the headers its answer has.

        Raises:
            Refused: it is one too many; it still has headers.
        """
        headers = self._count_day(setup, at)
        if search:
            if not _admit(self._searches, seconds(at), _SEARCH_S, setup.searches):
                raise too_many("SECONDLY", setup.shapes)
            # Half of the recorded searches told the daily limit, none told the burst.
            return headers if self._today % 2 else {}
        window = self._bursts.setdefault(token, deque())
        admitted = _admit(window, seconds(at), _BURST_S, setup.burst)
        headers |= _burst_headers(setup, window, seconds(at))
        if not admitted:
            raise _with(too_many("TEN_SECONDLY_ROLLING", setup.shapes), headers)
        return headers

    def _count_day(self, setup: Setup, at: str) -> dict[str, str]:
        day = midnight(at, setup.utc_offset_hours)
        if day != self._day:
            self._day, self._today = day, 0
        self._today += 1
        left = max(setup.daily - self._today, 0)
        headers = {
            "X-HubSpot-RateLimit-Daily": str(setup.daily),
            "X-HubSpot-RateLimit-Daily-Remaining": str(left),
        }
        if self._today > setup.daily:
            raise _with(too_many("DAILY", setup.shapes), headers)
        return headers


def _admit(window: deque[float], now: float, length: float, most: int) -> bool:
    while window and window[0] <= now - length:
        window.popleft()
    if len(window) >= most:
        return False
    window.append(now)
    return True


def _burst_headers(setup: Setup, window: deque[float], now: float) -> dict[str, str]:
    secondly = max(setup.burst // 10, 1)
    this_second = sum(1 for each in window if each > now - 1)
    return {
        "X-HubSpot-RateLimit-Max": str(setup.burst),
        "X-HubSpot-RateLimit-Remaining": str(setup.burst - len(window)),
        "X-HubSpot-RateLimit-Interval-Milliseconds": "10000",
        "X-HubSpot-RateLimit-Secondly": str(secondly),
        "X-HubSpot-RateLimit-Secondly-Remaining": str(max(secondly - this_second, 0)),
    }


def _with(refused: Refused, headers: dict[str, str]) -> Refused:
    refused.headers = headers
    return refused

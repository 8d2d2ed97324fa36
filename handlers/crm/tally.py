"""What the runs of one process came to, for who collects numbers from it now and then."""

import threading
from typing import Final

from domain.instants import to_datetime
from handlers.crm.metrics import LATENCY, REQUESTS, Totals, of_confirmed, of_runs
from handlers.crm.worker import RunReport
from handlers.measures import Buckets, Histogram, Measure

LATENCY_BOUNDS: Final = (5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3600.0)
"""Seconds: a run comes every minute, and the alarm of seed 001 after 900."""

REQUESTS_BOUNDS: Final = (1.0, 2.0, 3.0, 5.0, 8.0, 13.0)
"""Source: research/crm.md §4.6, at most 3 for a row that stands already."""


class Tally:
    """Adds up runs since the process began. Threads may share one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals = Totals()
        self._latency = Buckets(LATENCY_BOUNDS)
        self._requests = Buckets(REQUESTS_BOUNDS)
        self._last_run_at = 0.0

    def add(self, report: RunReport, now: str) -> None:
        """Take in a run that ended now."""
        latency, requests = of_confirmed(report)
        with self._lock:
            self._totals.add(report)
            self._last_run_at = to_datetime(now).timestamp()
            for value in latency.values:
                self._latency.observe(value)
            for value in requests.values:
                self._requests.observe(value)

    def measures(self) -> list[Measure]:
        """Return what was counted, and when the last run ended: seconds since 1970, 0 before it."""
        with self._lock:
            last = Measure(
                name="LastRunTimestampSeconds",
                says="When the last run of this process ended.",
                values=(self._last_run_at,),
                unit="Seconds",
            )
            return [*of_runs(self._totals), last]

    def histograms(self) -> list[Histogram]:
        """Return how long confirmed rows had waited, and how many requests they took."""
        with self._lock:
            return [self._latency.histogram(*LATENCY), self._requests.histogram(*REQUESTS)]

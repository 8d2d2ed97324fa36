"""What the CRM's worker costs beside the account: rows of sessions whose deals are there and changed.

The account is in this process and answers at once, so all of the time is ours. LEADS_BENCH_CRM_ROWS
says how many confirmed rows lie beside those that are due (100,000 is the figure of the budget).
"""

import logging
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog

from domain import keys
from projections.crm import CRM
from tests.bench.measuring import Result, at_least, at_most, in_turns
from tests.support.backends import Backend
from tests.support.crm_world import CrmWorld, Worker
from tests.support.sqlite import on_sqlite

ROWS = 60
ROUNDS = 5
CONFIRMED = int(os.environ.get("LEADS_BENCH_CRM_ROWS", "20000"))

BURST_PER_10_S = 100
"""Requests of the smallest account. Source: research/crm.md §1.2."""


def run() -> Iterator[Result]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with _mirror(confirmed=0) as alone, _mirror(confirmed=CONFIRMED) as beside:
        _, _, ratio = in_turns(ROUNDS, lambda _: beside.run(), lambda _: alone.run())
        nothing = statistics.median(beside.run_for_nothing() for _ in range(50))
    yield at_most(
        "a row of the CRM mirror, without HTTP", "ms", statistics.median(alone.times) * 1000, 10
    )
    asked = alone.requests / (ROUNDS * ROWS)
    yield at_most("requests of a row whose deal is there", "requests", asked, 3)
    yield at_most(f"a row beside {CONFIRMED:,} confirmed ones, against alone", "times", ratio, 1.5)
    yield at_most(f"a run with nothing due beside {CONFIRMED:,}", "ms", nothing * 1000, 10)
    rows = BURST_PER_10_S * 6 / asked
    yield at_least("rows a minute that 100 requests in 10 s allow", "rows", rows, 100)


@dataclass
class _Mirror:
    """Sessions whose deals are there, and a worker."""

    world: CrmWorld
    worker: Worker
    times: list[float] = field(default_factory=list)
    requests: int = 0

    def run(self) -> float:
        """Change every session, and return the seconds a row takes."""
        for number in range(ROWS):
            self.world.turn(f"s-{number}", intent=self.world.new_id())
        began = time.perf_counter()
        report = self.worker.run(3600)
        self.times.append((time.perf_counter() - began) / ROWS)
        assert report.endings == {"synced": ROWS}
        self.requests += report.requests
        return self.times[-1]

    def run_for_nothing(self) -> float:
        """Return the seconds of a run that finds nothing due."""
        began = time.perf_counter()
        assert self.worker.run().rows == 0
        return time.perf_counter() - began


@contextmanager
def _mirror(*, confirmed: int) -> Iterator[_Mirror]:
    with TemporaryDirectory() as name, on_sqlite(Path(name) / "leads.db") as factory:
        recorder, table = factory.aggregate_recorder(), factory.state_table()
        backend = Backend("sqlite", factory, recorder, table, nullcontext)
        world = CrmWorld(backend)
        for number in range(ROWS):
            world.start(f"s-{number}", phone=f"55119555{number:05d}")
            world.turn(f"s-{number}")
        worker = world.worker()
        assert worker.run(3600).endings == {"synced": ROWS}
        _confirmed_rows(world, backend, confirmed)
        yield _Mirror(world, worker)


def _confirmed_rows(world: CrmWorld, backend: Backend, count: int) -> None:
    """Put rows as those that were worked on, only many more."""
    like = world.row("s-0")
    for first in range(0, count, 100):
        rows = []
        for number in range(first, min(first + 100, count)):
            sync = replace(like, session_id=f"old-{number}")
            rows.append((CRM.encode("lead-old", keys.crm_sync(sync.session_id), sync), None))
        assert backend.table.write(rows)

"""Reading, verifying and rebuilding, against the library's own aggregates on the same payloads."""

import cProfile
import pstats
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from handlers import demo_data
from handlers.bootstrap import App
from tests.bench.measuring import Result, at_least, in_turns, rate
from tests.bench.stories import ORGANIZATION, SENDER, an_app

LEADS = 200
ROUNDS = 7


class Peer(Aggregate):
    """A lead the way the library's documentation writes aggregates."""

    def __init__(self) -> None:
        self.total = 0

    @event("Happened")
    def happen(self, payload: dict[str, Any], source: str, key: str, occurred_at: str) -> None:
        self.total += 1


def run() -> Iterator[Result]:
    with an_app() as app, TemporaryDirectory() as folder:
        _fill(app)
        reading = _reading(app, Path(folder))
        yield reading
        yield from _jobs(app, reading.more["library_events_per_s"])


def _fill(app: App) -> None:
    documents = list(demo_data.generate(leads=LEADS))
    for start in range(0, len(documents), 500):
        app.ingest.batch(documents[start : start + 500], SENDER)


def _reading(app: App, folder: Path) -> Result:
    peer = Application[Any](
        env={"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": str(folder / "peer.db")}
    )
    versions = {lead: app.log.reader.head(lead).version for lead in _leads(app)}
    ids = []
    for lead, version in versions.items():
        aggregate = Peer()
        for stored in app.log.reader.events(lead, lte=version):
            aggregate.happen(
                stored.payload, stored.source, stored.external_event_id, stored.occurred_at
            )
        peer.save(aggregate)
        ids.append(aggregate.id)
    total = sum(versions.values())

    def ours(_: int) -> float:
        return rate(
            total,
            lambda: [app.log.reader.events(lead, lte=last) for lead, last in versions.items()],
        )

    def library(_: int) -> float:
        return rate(total, lambda: [peer.repository.get(each) for each in ids])

    own, other, ratio = in_turns(ROUNDS, ours, library)
    peer.close()
    return at_least(
        "read and decode the log",
        "x replay of @event aggregates",
        ratio,
        2.0,
        events_per_s=round(own),
        library_events_per_s=round(other),
    )


def _jobs(app: App, library_rate: float) -> Iterator[Result]:
    """Time each job by the CPU: one core's work, whatever else the machine does."""
    leads = _leads(app)
    total = sum(app.log.reader.head(lead).version for lead in leads)
    maintenance = app.maintenance
    for name, job, before, floor in (
        ("verify", maintenance.verify, _nothing, 20_000),
        ("rebuild", maintenance.rebuild, _nothing, 15_000),
        ("rebuild of rows that are gone", maintenance.rebuild, _take_rows_away, 15_000),
    ):
        rates = []
        for _ in range(ROUNDS):
            before(app, leads)
            rates.append(_cpu_rate(total, partial(_each, job, leads)))
        before(app, leads)
        best = max(rates)
        yield at_least(
            f"{name}, one core",
            "events/s of CPU",
            best,
            floor,
            x_replay_of_event_aggregates=round(best / library_rate, 2),
            shares=_shares(partial(_each, job, leads)),
        )


def _each(job: Callable[[str], object], leads: list[str]) -> None:
    for lead in leads:
        job(lead)


def _nothing(_app: App, _leads: list[str]) -> None:
    return


def _take_rows_away(app: App, leads: list[str]) -> None:
    for lead in leads:
        for row in app.log.table.query(f"MEMORY#{lead}", limit=1000).items:
            app.log.table.delete(row.key)


def _leads(app: App) -> list[str]:
    return list(app.maintenance.leads(ORGANIZATION))


def _cpu_rate(count: int, work: Any) -> float:
    start = time.process_time()
    work()
    return count / (time.process_time() - start)


def _shares(work: Any) -> dict[str, float]:
    """Return which part of the time each part of the work takes, by where its code stands."""
    profile = cProfile.Profile()
    profile.runcall(work)
    stats: Any = pstats.Stats(profile)
    parts = {"fold": 0.0, "decode": 0.0, "read and write": 0.0, "other": 0.0}
    for (file, _, name), (_, _, own, _, _) in stats.stats.items():
        parts[_part(file, name)] += own
    whole = sum(parts.values())
    return {part: round(seconds / whole, 2) for part, seconds in parts.items()}


def _part(file: str, name: str) -> str:
    if "projections/memories" in file or file.endswith(("projection.py", "folding.py")):
        return "fold"
    if file.endswith(("mapper.py", "canonical.py")) or "from_json" in name:
        return "decode"
    return "read and write" if "sqlite" in file or "sqlite" in name else "other"

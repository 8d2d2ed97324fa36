"""Reading, verifying and rebuilding, against the library's own aggregates on the same payloads."""

import cProfile
import pstats
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from handlers.bootstrap import App
from tests.bench.measuring import Result, at_least, in_turns, rate
from tests.bench.stories import ORGANIZATION, SENDER, an_app
from tests.support.service import purchase

LEADS = 20
EVENTS = 250
ROUNDS = 5


class Peer(Aggregate):
    """A lead the way the library's documentation writes aggregates."""

    def __init__(self) -> None:
        self.total = 0

    @event("Purchased")
    def purchase(self, payload: dict[str, Any], source: str, key: str, occurred_at: str) -> None:
        self.total += 1


def run() -> Iterator[Result]:
    with an_app() as app, TemporaryDirectory() as folder:
        _fill(app)
        yield _reading(app, Path(folder))
        yield from _jobs(app)


def _fill(app: App) -> None:
    documents = [
        purchase(
            leadOrganizationId=f"lead-{lead}",
            externalEventId=f"{lead}-{number}",
            occurredAt=f"2026-03-{1 + number % 19:02d}T{number % 24:02d}:00:00Z",
            payload={
                "productId": f"p{number % 5}",
                "productName": "Whey Protein 1kg",
                "category": "supplements",
                "paymentMethod": "pix",
                "transactionId": f"HT-{lead}-{number}",
            },
        )
        for number in range(EVENTS)
        for lead in range(LEADS)
    ]
    for start in range(0, len(documents), 500):
        app.ingest.batch(documents[start : start + 500], SENDER)


def _reading(app: App, folder: Path) -> Result:
    peer = Application[Any](
        env={"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": str(folder / "peer.db")}
    )
    ids = []
    for lead in range(LEADS):
        aggregate = Peer()
        for stored in app.log.reader.events(f"lead-{lead}", lte=EVENTS):
            aggregate.purchase(
                stored.payload, stored.source, stored.external_event_id, stored.occurred_at
            )
        peer.save(aggregate)
        ids.append(aggregate.id)
    total = LEADS * EVENTS

    def ours(_: int) -> float:
        return rate(
            total,
            lambda: [app.log.reader.events(f"lead-{lead}", lte=EVENTS) for lead in range(LEADS)],
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


def _jobs(app: App) -> Iterator[Result]:
    leads = list(app.maintenance.leads(ORGANIZATION))
    total = sum(app.log.reader.head(lead).version for lead in leads)
    for name, job, floor in (
        ("verify", app.maintenance.verify, 20_000),
        ("rebuild", app.maintenance.rebuild, 15_000),
        ("rebuild from nothing", _from_nothing(app), 15_000),
    ):
        best = max(
            _cpu_rate(total, lambda job=job: [job(lead) for lead in leads]) for _ in range(3)
        )
        shares = _shares(lambda job=job: [job(lead) for lead in leads])
        yield at_least(f"{name}, one core", "events/s of CPU", best, floor, shares=shares)


def _from_nothing(app: App) -> Any:
    """A rebuild of rows that are all gone: every one of them is written again."""

    def job(lead: str) -> object:
        for row in app.log.table.query(f"MEMORY#{lead}", limit=1000).items:
            app.log.table.delete(row.key)
        return app.maintenance.rebuild(lead)

    return job


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

"""Jobs over leads, in this process or in several, each with a store of its own."""

import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from domain.errors import LeadError
from handlers.entrypoints.cli.session import Options, Session

if TYPE_CHECKING:
    from handlers.bootstrap import App
    from projections.repairing import Repaired
    from projections.verifying import Verified

Job = Literal["verify", "rebuild"]

_LEADS_A_TASK: Final = 8
_TASKS_A_WORKER: Final = 3
_OWN: Final[list[Session]] = []
"""What a worker process has open: an application of its own, logging included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A lead whose job could not be done, and why."""

    lead: str
    code: str
    detail: str


Answer: TypeAlias = "Verified | Repaired | Failure"


def run_here(app: "App", job: Job, leads: Iterable[str]) -> Iterator[Answer]:
    """Do a job for each lead, one after the other; one that fails is answered, not raised."""
    work: Callable[[str], Verified | Repaired] = (
        app.maintenance.verify if job == "verify" else app.maintenance.rebuild
    )
    for lead in leads:
        try:
            yield work(lead)
        except LeadError as error:
            yield Failure(lead=lead, code=error.code, detail=str(error))


def run_beside(options: Options, job: Job, leads: Iterable[str], workers: int) -> Iterator[Answer]:
    """Do a job for each lead in several processes, and yield each answer as it comes."""
    from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
    from multiprocessing import get_context

    parts = _parts(leads)
    # A process that was forked would share the locks and the connections of this one.
    pool = ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_open, initargs=(options,)
    )
    running: set[Future[list[Answer]]] = set()
    try:
        for part in islice(parts, workers * _TASKS_A_WORKER):
            running.add(pool.submit(_work, job, part))
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for part in islice(parts, len(done)):
                running.add(pool.submit(_work, job, part))
            for future in done:
                yield from future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _open(options: Options) -> None:
    # Ctrl-C reaches every process of the group; the first one ends the job for all.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _OWN.append(Session(options))


def _work(job: Job, leads: list[str]) -> list[Answer]:
    return list(run_here(_OWN[0].app, job, leads))


def _parts(leads: Iterable[str]) -> Iterator[list[str]]:
    remaining = iter(leads)
    while part := list(islice(remaining, _LEADS_A_TASK)):
        yield part

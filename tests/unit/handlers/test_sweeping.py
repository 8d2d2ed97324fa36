import threading
from dataclasses import dataclass, field

import pytest

from domain.errors import Unavailable
from handlers.maintenance import Maintenance
from handlers.sweeping import Sweeper
from projections.committing import lag_row
from projections.repairing import Repaired, Repairer
from tests.support import toy
from tests.support.backends import sqlite_backend
from tests.support.logs import SharedLog


@dataclass
class Jobs:
    """Answers a sweep with the state each lead is said to have, and keeps who was tried."""

    states: dict[str, str]
    rounds: list[list[str]] = field(default_factory=list)
    down: Exception | None = None

    def sweep(self, *, skip=()):
        if self.down is not None:
            raise self.down
        tried = [lead for lead in self.states if lead not in skip]
        self.rounds.append(tried)
        return [Repaired(lead=lead, state=self.states[lead]) for lead in tried]


def jobs(**states):
    return Jobs(states)


def test_a_lead_that_fails_is_tried_ever_more_rarely():
    maintenance = jobs(broken="broken")
    sweeper = Sweeper(maintenance)
    for _ in range(32):
        sweeper.round()

    tried = [number for number, leads in enumerate(maintenance.rounds) if leads]
    assert tried == [0, 2, 6, 14, 30]


def test_a_lead_that_fails_keeps_no_other_waiting():
    maintenance = jobs(broken="broken", healthy="repaired")
    sweeper = Sweeper(maintenance)
    for _ in range(4):
        sweeper.round()

    assert all("healthy" in leads for leads in maintenance.rounds)


def test_a_lead_that_was_mended_is_patient_anew():
    maintenance = jobs(lead="failed")
    sweeper = Sweeper(maintenance)
    for _ in range(3):
        sweeper.round()
    maintenance.states["lead"] = "repaired"
    for _ in range(4):
        sweeper.round()
    maintenance.states["lead"] = "failed"
    maintenance.rounds.clear()
    for _ in range(3):
        sweeper.round()

    assert [bool(leads) for leads in maintenance.rounds] == [True, False, True]


@pytest.mark.parametrize("error", [Unavailable("Down."), ZeroDivisionError("a bug")])
def test_neither_a_store_that_is_away_nor_a_bug_ends_the_sweeper(error):
    maintenance = jobs(lead="repaired")
    maintenance.down = error
    sweeper = Sweeper(maintenance)
    sweeper.round()
    maintenance.down = None
    sweeper.round()

    assert maintenance.rounds == [["lead"]]


class Buggy(Repairer):
    """A repairer that fails on one lead, as a bug would."""

    def __init__(self, own, lead):
        self._own = own
        self._lead = lead

    def repair(self, lead, *, force=False):
        if lead == self._lead:
            raise ZeroDivisionError
        return self._own.repair(lead, force=force)


def test_a_bug_in_the_repair_of_one_lead_keeps_no_other_waiting(tmp_path):
    with sqlite_backend(tmp_path) as backend:
        log = SharedLog(backend.factory, edition=toy.EDITIONS[1])
        for lead in ("lead-a", "lead-b", "lead-c"):
            log.append([toy.counted(1, lead, lead=lead)])
            backend.table.put(lag_row(lead, "org-one"))
        log.repairer = Buggy(log.repairer, "lead-b")

        done = {each.lead: each.state for each in Maintenance(log).sweep()}

    assert done == {"lead-a": "current", "lead-b": "failed", "lead-c": "current"}


def test_the_sweeper_stops_when_it_is_told_to():
    stop = threading.Event()
    maintenance = jobs(lead="repaired")
    thread = threading.Thread(target=Sweeper(maintenance, every_s=60).run, args=(stop,))
    thread.start()
    stop.set()
    thread.join(10)

    assert not thread.is_alive()

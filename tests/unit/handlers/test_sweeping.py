import threading
from dataclasses import dataclass, field

from domain.errors import Unavailable
from handlers.sweeping import Sweeper
from projections.repairing import Repaired


@dataclass
class Jobs:
    """Answers a sweep with the state each lead is said to have, and keeps who was tried."""

    states: dict[str, str]
    rounds: list[list[str]] = field(default_factory=list)
    down: bool = False

    def sweep(self, *, skip=()):
        if self.down:
            raise Unavailable("Down.")
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


def test_a_store_that_is_away_does_not_end_the_sweeper():
    maintenance = jobs(lead="repaired")
    maintenance.down = True
    sweeper = Sweeper(maintenance)
    sweeper.round()
    maintenance.down = False
    sweeper.round()

    assert maintenance.rounds == [["lead"]]


def test_the_sweeper_stops_when_it_is_told_to():
    stop = threading.Event()
    maintenance = jobs(lead="repaired")
    thread = threading.Thread(target=Sweeper(maintenance, every_s=60).run, args=(stop,))
    thread.start()
    stop.set()
    thread.join(10)

    assert not thread.is_alive()

"""The loop of an embedded service: threads that work on leads, and one that looks for waiting ones."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

import structlog

from domain.errors import LeadError, Unavailable
from domain.ports.effects import Clock, ReadyLead
from handlers.conversations.ground import Conversations

POLL_S: Final = 0.5
JOBS_EVERY_S: Final = 60.0
_TAKE_S: Final = 0.2


class Queue(Protocol):
    """Leads that are ready: `adapters.queues.embedded.EmbeddedQueue`."""

    def found(self, organization_id: str, lead: str) -> None:
        """Make a lead ready that was found waiting."""
        ...

    def take(self, timeout_s: float) -> ReadyLead | None:
        """Return a lead to work on."""
        ...

    def done(self, lead: ReadyLead) -> None:
        """Take a lead back that was worked on."""
        ...

    def failed(self, lead: ReadyLead, after_s: float = 1.0) -> float:
        """Take a lead back that could not be worked on."""
        ...


class Works(Protocol):
    """Who does what is due: `handlers.conversations.working.Worker`."""

    def work(self, organization_id: str, lead: str) -> int:
        """Do what is due for a lead."""
        ...


class Rounds(Protocol):
    """Who does what time brings about: `handlers.conversations.jobs.Jobs`."""

    def round(self, organization_id: str) -> dict[str, int]:
        """Do what is due for an organization."""
        ...


class Beats(Protocol):
    """Who tells other processes that this one works: `handlers.conversations.presence.Presence`."""

    def beat(self, organizations: Sequence[str]) -> None:
        """Say so, for a while."""
        ...

    def leave(self, organizations: Sequence[str]) -> None:
        """Say that it does no more."""
        ...


class Round(NamedTuple):
    """What one look at the index found."""

    leads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Works on leads of some organizations until it is told to stop, and on what time brings."""

    queue: Queue
    worker: Works
    conversations: Conversations
    organizations: Sequence[str]
    now: Clock
    jobs: Rounds
    presence: Beats
    threads: int = 2
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self, stop: threading.Event) -> None:
        """Start the threads; they end soon after `stop` is set."""
        targets = [self._poll, self._rounds, *[self._work] * self.threads]
        for number, target in enumerate(targets):
            thread = threading.Thread(
                target=target, args=(stop,), name=f"conversations-{number}", daemon=True
            )
            thread.start()
            self._threads.append(thread)

    def join(self, timeout_s: float) -> None:
        """Wait for the threads to end what they are at."""
        for thread in self._threads:
            thread.join(timeout_s)

    def look(self) -> Round:
        """Make every lead ready for whom something is due."""
        leads = 0
        for organization_id in self.organizations:
            for lead in self.conversations.waiting(organization_id, self.now()):
                self.queue.found(organization_id, lead)
                leads += 1
        return Round(leads)

    def step(self, timeout_s: float = 0.0) -> bool:
        """Work on one lead, if there is one; tell whether there was."""
        taken = self.queue.take(timeout_s)
        if taken is None:
            return False
        try:
            self.worker.work(taken.organization_id, taken.lead)
        except Unavailable as error:
            wait = self.queue.failed(taken, error.retry_after_s)
            self._log(taken.lead, error.code, wait)
        except LeadError as error:
            self._log(taken.lead, error.code, self.queue.failed(taken))
        except Exception:  # noqa: BLE001 - one lead's bug must not end the work on the others
            structlog.get_logger().exception("process_immediate_turn_failed", lead=taken.lead)
            self.queue.failed(taken)
        else:
            self.queue.done(taken)
        return True

    def _work(self, stop: threading.Event) -> None:
        while not stop.is_set():
            self.step(_TAKE_S)

    def _poll(self, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                self.presence.beat(self.organizations)
                self.look()
            except LeadError as error:
                structlog.get_logger().warning("sweep.failed", code=error.code)
            stop.wait(POLL_S)
        try:
            self.presence.leave(self.organizations)
        except LeadError as error:
            structlog.get_logger().warning("sweep.failed", code=error.code)

    def _rounds(self, stop: threading.Event) -> None:
        while not stop.is_set():
            for organization_id in self.organizations:
                self._round(organization_id)
            stop.wait(JOBS_EVERY_S)

    def _round(self, organization_id: str) -> None:
        log = structlog.get_logger()
        try:
            done = self.jobs.round(organization_id)
        except LeadError as error:
            log.warning("jobs_failed", code=error.code)
        except Exception:
            log.exception("jobs_failed")
        else:
            if done:
                log.info("jobs_done", count=sum(done.values()))

    def _log(self, lead: str, code: str, wait_s: float) -> None:
        structlog.get_logger().warning(
            "process_immediate_turn_failed", lead=lead, code=code, retry_in_s=round(wait_s, 1)
        )

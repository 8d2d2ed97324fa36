"""The sweeper: catches up lagging views beside a running service, ever more rarely where it fails."""

import threading
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, Protocol

from domain.errors import LeadError
from projections.repairing import Repaired

EVERY_S: Final = 5.0
_MOST_ROUNDS: Final = 64
"""That a lead is left alone: some five minutes."""


class Sweeps(Protocol):
    """Who catches up lagging leads: `handlers.maintenance.Maintenance`."""

    def sweep(self, *, skip: Collection[str]) -> list[Repaired]:
        """Catch up every lagging lead but those to skip, once; one that fails is answered."""
        ...


@dataclass(slots=True, kw_only=True)
class _Patience:
    """How long a lead is left alone, in rounds, and how many of them are still to pass."""

    rounds: int
    left: int


@dataclass(slots=True)
class Sweeper:
    """Looks for lagging leads in rounds, until it is told to stop."""

    maintenance: Sweeps
    every_s: float = EVERY_S
    _waiting: dict[str, _Patience] = field(default_factory=dict)

    def run(self, stop: threading.Event) -> None:
        """Sweep now and every `every_s` seconds until `stop` is set."""
        while True:
            self.round()
            if stop.wait(self.every_s):
                return

    def round(self) -> None:
        """Catch up what lags and is not waiting. What fails waits twice as long as before.

        Never raises.
        """
        import structlog  # noqa: PLC0415 - costs a command that logs nothing a third of its start

        log = structlog.get_logger()
        for patience in self._waiting.values():
            patience.left -= 1
        skipped = {lead for lead, patience in self._waiting.items() if patience.left > 0}
        try:
            done = self.maintenance.sweep(skip=skipped)
        except LeadError as error:
            log.warning("sweep.failed", code=error.code)
            return
        except Exception:
            log.exception("sweep.failed")
            return
        for each in done:
            if each.state in {"repaired", "current"}:
                self._waiting.pop(each.lead, None)
                log.info("lead.caught_up", lead=each.lead, events=each.events, rows=each.written)
                continue
            rounds = min(2 * self._rounds(each.lead), _MOST_ROUNDS)
            self._waiting[each.lead] = _Patience(rounds=rounds, left=rounds)
            log.warning("lead.lags", lead=each.lead, status=each.state)

    def _rounds(self, lead: str) -> int:
        return self._waiting[lead].rounds if lead in self._waiting else 1

"""Logs on a store that they share with others, as the processes of one deployment do."""

import itertools
from collections.abc import Callable
from typing import Any

from eventsourcing.persistence import InfrastructureFactory

from adapters.clock import new_id
from projections.committing import Edition
from projections.lead_log import LeadLog
from tests.support.stepping import SteppedLog


class SharedLog(LeadLog):
    """A log that leaves its store open: whoever lent the factory closes it."""

    def __init__(
        self,
        factory: InfrastructureFactory[Any],
        *,
        edition: Edition | None = None,
        new_id: Callable[[], str] = new_id,
        pause: Callable[[int], None] | None = None,
    ) -> None:
        self._shared = factory
        self.pauses: list[int] = []
        """How often it waited, told as `pause` is told."""
        super().__init__({}, new_id=new_id, pause=pause or self.pauses.append, edition=edition)

    def construct_factory(self, env: Any) -> InfrastructureFactory[Any]:
        return self._shared

    def close(self) -> None:
        """Leave the store open."""


def stepped(backend: Any, edition: Edition) -> SteppedLog:
    """A log on a backend that a test can stop at any call, with ids of its own."""
    recorder = backend.factory.application_recorder()
    numbers = itertools.count(1)
    return SteppedLog(
        backend.factory,
        recorder,
        backend.table,
        edition=edition,
        new_id=lambda: f"stepped-{next(numbers):04d}",
        send=lambda events, commit: recorder.insert_events(events, commit=commit),
    )

"""What the account says of itself: its stages, and whether it has our unique properties. Kept a while."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from domain.crm.replies import Kind, Pipeline, Reply
from domain.crm.visit import CONSERVATIVE, UNIQUE, Configuration
from domain.ports.effects import Crm

KEPT_S: Final = 600.0
"""Source: research/crm.md §3, row 29."""


@dataclass(slots=True, kw_only=True)
class Account:
    """One account, as its worker knows it. `monotonic` tells seconds from any beginning."""

    crm: Crm
    stages: Mapping[str, str]
    environment: str
    monotonic: Callable[[], float]
    _known: Configuration | None = None
    _known_at: float = field(default=0.0)

    def configuration(self) -> Configuration | Reply:
        """Return what rows are worked on with, or the answer that keeps it from being known."""
        if self._known is not None and self.monotonic() - self._known_at < KEPT_S:
            return self._known
        pipeline = self.crm.pipeline()
        deal = self.crm.has_unique_key("deal")
        contact = self.crm.has_unique_key("contact")
        for reply in (_refusal(pipeline), deal, contact):
            if isinstance(reply, Reply):
                return reply
        self._known = Configuration(
            stages=self.stages,
            environment=self.environment,
            mode=UNIQUE if deal is True else CONSERVATIVE,
            contact_key=contact is True,
            stage_ids=frozenset(pipeline.stage_ids),
        )
        self._known_at = self.monotonic()
        return self._known


def _refusal(pipeline: Pipeline) -> Reply | None:
    """Return why there is no pipeline; one that does not exist has no stages, and is known."""
    reply = pipeline.reply
    return None if reply is None or reply.kind == Kind.ABSENT else reply

"""What goes wrong by probability, drawn from a seed."""

from dataclasses import dataclass
from random import Random
from typing import Final

from handlers.simulators.hubspot.faults import (
    BURST_LIMITED,
    FAILING,
    LOCKED,
    NEVER_SENT,
    REPLY_LOST,
    Drop,
    Fault,
    Late,
    Mangle,
    Page,
    Twice,
    migrating,
)

_BROKEN_STATUSES: Final = (500, 502, 503, 504, 520, 524)
_MANGLED: Final = ("cut", "gzip", "html", "empty", "garbage")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chaos:
    """How often what goes wrong: probabilities from 0 to 1, at most one fault a request.

    Args:
        never_sent: a write is not carried out, and its connection is reset.
        reply_lost: a write is carried out, and its connection closes without an answer.
        late: a write is carried out up to `latest_s` later, its connection closes at once.
        twice: a write is carried out twice.
        refused: 423, 429 or 477; nothing is carried out.
        broken: a write's answer is an error page or cannot be read; carried out or not.
        reads: a read is answered by 5xx, or its connection closes.
        latest_s: of the account's seconds. Above 100 s its edge gives up (524).
    """

    never_sent: float = 0.0
    reply_lost: float = 0.0
    late: float = 0.0
    twice: float = 0.0
    refused: float = 0.0
    broken: float = 0.0
    reads: float = 0.0
    latest_s: float = 120.0

    def draw(self, dice: Random, *, write: bool) -> Fault | None:
        """Draw what happens to one request."""
        if not write:
            return _bad_read(dice) if dice.random() < self.reads else None
        drawn = dice.random()
        late = Late(after_s=dice.uniform(0.0, self.latest_s))
        odds: tuple[tuple[float, Fault], ...] = (
            (self.never_sent, NEVER_SENT),
            (self.reply_lost, REPLY_LOST),
            (self.late, late),
            (self.twice, Twice()),
            (self.refused, dice.choice((LOCKED, BURST_LIMITED, migrating(1)))),
            (self.broken, _broken(dice)),
        )
        for odd, fault in odds:
            if drawn < odd:
                return fault
            drawn -= odd
        return None


PRESETS: Final = {
    "none": Chaos(),
    "some": Chaos(
        never_sent=0.02,
        reply_lost=0.02,
        late=0.01,
        twice=0.01,
        refused=0.02,
        broken=0.02,
        reads=0.03,
    ),
    "many": Chaos(
        never_sent=0.15, reply_lost=0.15, late=0.15, twice=0.05, refused=0.05, broken=0.1, reads=0.2
    ),
}
"""By the name the command line knows them under. Source of `many`: research/crm.md §2, model check."""


def _bad_read(dice: Random) -> Fault:
    return dice.choice((Page(status=dice.choice(_BROKEN_STATUSES)), FAILING, Drop()))


def _broken(dice: Random) -> Fault:
    page = Page(status=dice.choice(_BROKEN_STATUSES), executed=dice.random() < 0.5)
    return dice.choice((page, Mangle(how=dice.choice(_MANGLED))))

"""What goes wrong on purpose: by script, the next time, or by probability, drawn from a seed."""

import threading
from dataclasses import dataclass
from random import Random
from typing import Final, Generic, TypeVar

from handlers.simulators.whatsapp.envelopes import LAYOUTS, Layout

T = TypeVar("T")

TRANSIENT_CODES: Final = (2, 131000, 131016, 130429, 131056)
"""What a send is refused with by chance: classes in which the same text may go later."""
FAILED_STATUS_CODES: Final = (131026, 131047, 131049, 131000)
"""What a status reports by chance as the reason of a failure."""
BROKEN_STATUSES: Final = (500, 502, 503, 504)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookFault:
    """What happens to one item on its way to the webhook. Seconds are the simulator's own.

    `copies` are posted in all, those after the first with their keys in another order. With a
    `layout` the item is held back until the next one leaves, and both share one POST.
    """

    delay_s: float = 0.0
    copies: int = 1
    copy_after_s: float = 1.0
    layout: Layout | None = None
    lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """The send is refused with a Graph error; nothing reaches the phone."""

    code: int
    http_status: int | None = None
    retry_after_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoseReply:
    """The text reaches the phone, and the connection closes without an answer.

    Args:
        hang_s: how long it stays open before that, in real seconds.
    """

    hang_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """The send is answered with a page instead of JSON; whether it reached the phone is open."""

    http_status: int = 502
    delivered: bool = False


SendFault = Refuse | LoseReply | Break


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusStep:
    """One status of a message, and when it is posted: seconds after the answer."""

    status: str
    after_s: float = 0.0
    error_code: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusPlan:
    """The statuses of one message, in the order they are posted if their seconds are the same.

    `tracked`: they give `biz_opaque_callback_data` back. `before_answer`: the first of them is
    posted before the send is answered.
    """

    steps: tuple[StatusStep, ...] = (
        StatusStep(status="sent"),
        StatusStep(status="delivered", after_s=1.0),
        StatusStep(status="read", after_s=2.0),
    )
    tracked: bool = True
    before_answer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """How often what goes wrong: probabilities from 0 to 1.

    `longest_delay_s` bounds what is delayed, in the simulator's seconds.
    """

    webhook_duplicated: float = 0.0
    webhook_delayed: float = 0.0
    webhook_batched: float = 0.0
    reply_lost: float = 0.0
    send_refused: float = 0.0
    send_broken: float = 0.0
    status_lost: float = 0.0
    status_duplicated: float = 0.0
    status_shuffled: float = 0.0
    status_early: float = 0.0
    status_failed: float = 0.0
    status_untracked: float = 0.0
    longest_delay_s: float = 5.0

    def webhook(self, dice: Random) -> WebhookFault:
        """Draw what happens to one item."""
        delayed, duplicated, batched = (dice.random() for _ in range(3))
        late = dice.uniform(0, self.longest_delay_s)
        layout = dice.choice(LAYOUTS)
        return WebhookFault(
            delay_s=late if delayed < self.webhook_delayed else 0.0,
            copies=2 if duplicated < self.webhook_duplicated else 1,
            copy_after_s=dice.uniform(0, self.longest_delay_s),
            layout=layout if batched < self.webhook_batched else None,
        )

    def send(self, dice: Random) -> SendFault | None:
        """Draw what happens to one send: at most one of the three."""
        drawn = dice.random()
        if drawn < self.reply_lost:
            return LoseReply()
        if drawn < self.reply_lost + self.send_refused:
            return Refuse(code=dice.choice(TRANSIENT_CODES))
        if drawn < self.reply_lost + self.send_refused + self.send_broken:
            return Break(http_status=dice.choice(BROKEN_STATUSES), delivered=dice.random() < 0.5)
        return None

    def statuses(self, dice: Random) -> StatusPlan:
        """Draw the statuses of one message."""
        if dice.random() < self.status_failed:
            code = dice.choice(FAILED_STATUS_CODES)
            steps = [StatusStep(status="failed", after_s=1.0, error_code=code)]
        else:
            steps = self._steps(dice)
        return StatusPlan(
            steps=tuple(steps),
            tracked=dice.random() >= self.status_untracked,
            before_answer=dice.random() < self.status_early,
        )

    def _steps(self, dice: Random) -> list[StatusStep]:
        kept = [step for step in StatusPlan().steps if dice.random() >= self.status_lost]
        if dice.random() < self.status_shuffled:
            moments = [step.after_s for step in kept]
            dice.shuffle(moments)
            kept = [
                StatusStep(status=step.status, after_s=moment)
                for step, moment in zip(kept, moments, strict=True)
            ]
        again = [step for step in kept if dice.random() < self.status_duplicated]
        return [*kept, *again]


PRESETS: Final = {
    "none": Faults(),
    "some": Faults(
        webhook_duplicated=0.05,
        webhook_delayed=0.05,
        webhook_batched=0.05,
        reply_lost=0.02,
        send_refused=0.03,
        send_broken=0.01,
        status_lost=0.05,
        status_duplicated=0.05,
        status_shuffled=0.05,
        status_early=0.05,
        status_untracked=0.02,
    ),
    "many": Faults(
        webhook_duplicated=0.25,
        webhook_delayed=0.25,
        webhook_batched=0.25,
        reply_lost=0.1,
        send_refused=0.15,
        send_broken=0.05,
        status_lost=0.2,
        status_duplicated=0.25,
        status_shuffled=0.25,
        status_early=0.25,
        status_failed=0.02,
        status_untracked=0.1,
    ),
}
"""By the name the command line knows them under. Of `some`, each is a rare day of a real number."""


class Script(Generic[T]):
    """What is to happen the next times, each once, in the order it was added."""

    def __init__(self) -> None:
        self._steps: list[tuple[str | None, T]] = []
        self._lock = threading.Lock()

    def add(self, value: T, *, to: str | None = None, times: int = 1) -> None:
        """Let it happen the next times; `to` bounds it to one person's address."""
        with self._lock:
            self._steps += [(to, value)] * times

    def take(self, *addresses: str | None) -> T | None:
        """Return what is to happen now to who has these addresses, and forget it."""
        with self._lock:
            for place, (to, value) in enumerate(self._steps):
                if to is None or to in addresses:
                    del self._steps[place]
                    return value
        return None

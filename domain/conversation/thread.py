"""What waits for one lead: messages nobody answered, texts that are not settled, and where to write.

The row of this state is the work queue: it is listed while something waits, and it changes in the
commit of the fact that makes or ends the work. A wake-up only says when to look.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal

from domain.conversation.states import BOT, TERMINAL, State
from domain.instants import shift

MAX_PENDING: Final = 100
"""Messages one turn answers; of a longer flood the oldest are history only."""

WINDOW: Final = timedelta(hours=23, minutes=58)
"""How long after the lead's last message it may be written to: 24 h, less what a send may take."""

ALWAYS: Final = frozenset(("consent", "debug", "operator_answer", "operator_alert"))
"""Kinds of text that answer a person whatever the session's state, but never beside a human."""

IN_QUEUE: Final = frozenset(("handoff_ack", "inbox_ack", "customer_reminder"))
"""Kinds that are true only while the lead waits for a human."""

RESENT: Final = frozenset(("bot_text", "closing", "notice"))
"""Kinds that are sent once more when nobody knows whether they arrived: silence is worse."""

OutboundState = Literal["queued", "sending", "failed", "uncertain"]


@dataclass(slots=True, kw_only=True)
class Waiting:
    """A message that waits to be answered. `revision` counts the lead's edits of it."""

    message_id: str
    sort_key: str
    since: str
    session_id: str | None = None
    route: str = "turn"
    revision: int = 0


@dataclass(slots=True, kw_only=True)
class Outbound:
    """A text of ours that is not settled. `answers` is the last message it answers.

    `at` is when it entered its state, `retry_at` when it is looked at again, which is also when a
    send that nobody reported on is taken for lost or unheard. An uncertain one without `retry_at` is parked: only a
    status of the channel settles it.
    """

    outbound_id: str
    sort_key: str
    kind: str
    at: str
    session_id: str | None = None
    answers: str = ""
    state: OutboundState = "queued"
    attempt: int = 0
    retry_at: str = ""
    uncertain: int = 0

    @property
    def parked(self) -> bool:
        """Tell whether nothing of ours will move it."""
        return self.state == "uncertain" and not self.retry_at

    @property
    def due_at(self) -> str:
        """When there is something to do about it."""
        return self.retry_at or self.at


@dataclass(slots=True, kw_only=True)
class Thread:
    """One lead's conversation as far as work goes, whatever the number of its sessions."""

    organization_id: str
    latest: str = ""
    latest_session_id: str | None = None
    latest_at: str = ""
    last_inbound_at: str = ""
    channel: str = ""
    account: str = ""
    reply_to: str = ""
    user_id: str | None = None
    active_session_id: str | None = None
    active_account: str = ""
    state: State | None = None
    started_at: str = ""
    session_messages: int = 0
    pending: list[Waiting] = field(default_factory=list)
    outbox: list[Outbound] = field(default_factory=list)
    noticed_at: str = ""
    acknowledged_at: str = ""
    opted_out: bool = False
    arrived: list[str] = field(default_factory=list)
    """Texts that a status of an earlier try says arrived, after a later try had settled them."""

    @property
    def due_at(self) -> str | None:
        """Since when, or from when on, there is something to do; None if nothing waits."""
        due = [waiting.since for waiting in self.pending[:1]]
        due += [outbound.due_at for outbound in self.moving()][:1]
        return min(due, default=None)

    def moving(self) -> Iterator[Outbound]:
        """Yield the texts that are still to move, in the order they are to go."""
        return (outbound for outbound in self.outbox if not outbound.parked)

    def find(self, outbound_id: str) -> Outbound | None:
        """Return an unsettled text."""
        return next((each for each in self.outbox if each.outbound_id == outbound_id), None)

    def window_is_open(self, now: str) -> bool:
        """Tell whether the channel lets us write to the lead now."""
        return bool(self.last_inbound_at) and now < shift(self.last_inbound_at, WINDOW)


def reply_kind(after: State) -> str:
    """Return the kind of an agent's reply after which a session is in this state."""
    if after == State.HANDOFF_PENDING:
        return "handoff_ack"
    return "closing" if after in TERMINAL else "bot_text"


def is_latest(thread: Thread, covered: list[Waiting]) -> bool:
    """Tell whether these are still all the messages that wait, as they were read."""
    return [(each.message_id, each.revision) for each in thread.pending] == [
        (each.message_id, each.revision) for each in covered
    ]


def why_not(thread: Thread, outbound: Outbound, now: str) -> str | None:
    """Return why a text may not be sent now, in a word; None if it may.

    This is the fence: judged on the state that the commit stands on, so no takeover, newer
    message or closing comes between the judgement and the note that the text is being sent.
    """
    kind, same = outbound.kind, thread.active_session_id == outbound.session_id
    if kind == "operator_text":
        return _first(
            (not same or thread.state != State.HUMAN, "state_changed"),
            (not thread.window_is_open(now), "window_closed"),
        )
    return _first(
        (thread.state == State.HUMAN, "takeover"),
        (not thread.window_is_open(now), "window_closed"),
        (kind == "closing" and thread.active_session_id is not None, "newer_message"),
        (
            kind in IN_QUEUE and not (same and thread.state == State.HANDOFF_PENDING),
            "state_changed",
        ),
        (kind in {"bot_text", "notice"} and not same, "session_changed"),
        (kind in {"bot_text", "notice"} and thread.state not in BOT, "state_changed"),
        (kind == "bot_text" and any(w.route == "turn" for w in thread.pending), "newer_message"),
    )


def _first(*reasons: tuple[bool, str]) -> str | None:
    return next((reason for holds, reason in reasons if holds), None)

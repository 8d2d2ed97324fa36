"""A conversation as a person meets it: what stands, what was seen of it, and whether both agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from domain.conversation.session import Session
from domain.conversation.states import State, is_legal
from domain.conversation.thread import Thread
from domain.errors import Conflict


@dataclass(frozen=True, slots=True)
class Standing:
    """A lead's conversation as it stands. `session` is the open one."""

    thread: Thread
    session: Session | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who acts, and the id of this one act, which names what is recorded of it."""

    operator: str
    command_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the person saw when deciding to act; what is None is not compared."""

    session_id: str | None = None
    state: State | None = None
    assigned_to: str | None = None
    latest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """What stands, for whoever acted on something else. Ids, names and states; no words of anybody.

    `state` is None where no conversation is open, `sending` the operator whose text is being sent.
    """

    session_id: str | None = None
    state: str | None = None
    assigned_to: str | None = None
    latest_message_id: str | None = None
    sending: str | None = None


class StateChanged(Conflict):
    """The conversation is not what the person acted on; nothing was recorded.

    `changed` names what differs: session, state, assigned_to, latest or sending. `now` is what
    stands.
    """

    code = "conversation_state_changed"
    title = "The conversation changed meanwhile"

    def __init__(self, changed: Sequence[str], now: Now) -> None:
        super().__init__(
            f"The conversation changed meanwhile: {', '.join(_WORDS[each] for each in changed)}.",
            hint="Look at what stands and decide again; nothing was recorded.",
        )
        self.changed = tuple(changed)
        self.now = now


def now_of(standing: Standing, sending: str | None = None) -> Now:
    """Return what stands."""
    session, latest = standing.session, standing.thread.latest or None
    if session is None:
        return Now(latest_message_id=latest, sending=sending)
    return Now(
        session_id=session.session_id,
        state=session.state.value,
        assigned_to=session.assigned_to,
        latest_message_id=latest,
        sending=sending,
    )


def transition_state(
    standing: Standing,
    new_state: State,
    *,
    expected_state: frozenset[State],
    expected_assigned_to: str | None = None,
    seen: Seen | None = None,
) -> Session:
    """Return the open session if it may go to a state, as seed 000's operation does.

    Both layers of that operation in one place: the conditions, and the state machine.

    Args:
        standing: what the commit stands on.
        new_state: where to.
        expected_state: the states it may come from.
        expected_assigned_to: who must own it; None asks for nobody in particular.
        seen: what the person saw.

    Raises:
        StateChanged: a condition does not hold, or the change is not legal.
    """
    seen = seen or Seen()
    session = standing.session
    if session is None:
        raise StateChanged(("session",), now_of(standing))
    owner = session.assigned_to
    differs = {
        "session": seen.session_id not in {None, session.session_id},
        "state": session.state not in expected_state
        or seen.state not in {None, session.state}
        or not is_legal(session.state, new_state),
        "assigned_to": expected_assigned_to not in {None, owner}
        or seen.assigned_to not in {None, owner},
        "latest": seen.latest not in {None, standing.thread.latest},
    }
    changed = [name for name, is_other in differs.items() if is_other]
    if changed:
        raise StateChanged(changed, now_of(standing))
    return session


_WORDS: Final = {
    "session": "another session is open, or none",
    "state": "it is in another state",
    "assigned_to": "somebody else owns it",
    "latest": "the lead wrote something newer",
    "sending": "an operator's text is being sent",
}

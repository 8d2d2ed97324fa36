"""Where the way from a message to its reply can be cut, how, and what must hold whatever is cut."""

import os
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from domain.conversation.delivery import ErrorClass, NotAccepted, Unknown
from domain.conversation.model import ModelUnavailable
from domain.conversation.states import HUMANS
from domain.conversation.thread import Thread
from domain.errors import LeadError, Unavailable, Uncertain
from domain.event import LeadEvent
from tests.support.stepping import Call, Died, Steps
from tests.support.talks import Process, World, drain, lead_of, receive

EVERY_CALL_ON: Final = (
    ("sqlite", "ministack") if os.environ.get("LEADS_TEST_EVERYWHERE") else ("sqlite",)
)
"""Stores on which every call is cut. On the DynamoDB stand-in that takes minutes, so an ordinary run
cuts there what differs: commits, sends and answers."""

_DIES: Final = ("dies before", "dies after", "is down")
HOWS: Final = {
    **dict.fromkeys(("resolve", "snapshot", "query", "query_index"), _DIES),
    "insert_events": (
        *_DIES,
        *("arrives late", "arrives last", "loses the reply", "loses the request"),
    ),
    "send": (*_DIES, "loses the reply", "loses the request"),
    "answer": _DIES,
}
"""Operations of the ports that the way leads through, and what may happen to a call of each.

A request that arrives late or last outlives its sender: it comes before, or after, another
process has done everything.
"""


@dataclass(frozen=True)
class Cut:
    """What happens to the n-th call of an operation."""

    operation: str
    how: str
    n: int

    def plan(self, world: World, process: Process) -> Steps:
        """Let it happen to a process; return the steps it is planned on."""
        steps = steps_of(world, process, self.operation)
        if self.how == "dies before":
            steps.die(self.operation, n=self.n)
        elif self.how == "dies after":
            steps.after(self.operation, die, n=self.n)
        elif self.how.startswith("arrives"):
            steps.hold(self.operation, n=self.n)
        else:
            steps.instead(self.operation, self._answer, n=self.n)
        return steps

    def _answer(self, call: Call) -> Any:
        if self.how == "loses the reply":
            call()
        if self.operation == "send":
            return NOT_SENT if self.how == "is down" else Unknown(reason="read_timeout")
        if self.operation == "answer":
            raise ModelUnavailable("timeout")
        raise Unavailable("down") if self.how == "is down" else Uncertain("no answer")


@dataclass(frozen=True)
class Story:
    """What a lead says, what the model says by a script, and how often the channel refuses."""

    says: tuple[str, ...]
    script: tuple[str, ...] = ()
    refusals: int = 0
    changes: dict[str, Any] = field(default_factory=dict)

    def tell(self, world: World, process: Process) -> bool:
        """Let it happen in one process; tell whether every message was acknowledged."""
        world.phone.script.extend([lambda _: NOT_SENT] * self.refusals)
        outcomes: list[str] = []
        with suppress(Died):
            for item in self.items(world):
                outcomes += receive(process, item)
            for _ in range(2):
                with suppress(LeadError):
                    drain(process)
                world.pass_time(seconds=10)
        return len(outcomes) == len(self.says) and "retry" not in outcomes

    def items(self, world: World) -> list[Any]:
        """Return the messages, the same ones each time."""
        return [
            world.says(text, message_id=f"wamid.{number}", **self.changes)
            for number, text in enumerate(self.says, 1)
        ]


NOT_SENT: Final = NotAccepted(error_class=ErrorClass.NOT_SENT)


def steps_of(world: World, process: Process, operation: str) -> Steps:
    """Return where calls of an operation are counted."""
    special = {"send": world.phone.steps, "answer": world.model.steps}
    return special.get(operation, process.steps)


def log_of(process: Process) -> list[LeadEvent]:
    """Return the events of the one lead; none if there is none yet."""
    for lead in process.app.maintenance.leads("default"):
        head = process.log.reader.head(lead)
        return process.log.reader.events(lead, lte=head.version)
    return []


def of_type(events: Iterable[LeadEvent], *event_types: str) -> list[LeadEvent]:
    """Return the events of these types."""
    return [event for event in events if event.event_type in event_types]


def thread_of(process: Process) -> Thread:
    """Return what waits for the one lead."""
    thread = process.talks.conversations.look(lead_of(process)).thread
    assert thread is not None
    return thread


def is_with_people(process: Process) -> bool:
    """Tell whether the one lead is in the queue of people, or with one of them."""
    return thread_of(process).state in HUMANS


def check_answered_once(world: World, process: Process) -> None:
    """Hold what is promised of everything a lead said, once nothing is due any more."""
    events, with_people = log_of(process), is_with_people(process)
    asked = [
        each for each in of_type(events, "message_received") if each.payload["route"] == "turn"
    ]
    covered = Counter(
        message
        for turn in of_type(events, "agent_turn_completed")
        for message in turn.payload["coveredMessageIds"]
    )
    assert set(covered.values()) <= {1}, "two turns answered one message"
    if not with_people:
        assert set(covered) == {each.external_event_id for each in asked}
    shown = Counter(text.outbound_id for text in world.phone.texts)
    doubted = {each.payload["outboundId"] for each in of_type(events, "reply_uncertain")}
    too_often = {name for name, times in shown.items() if times > (2 if name in doubted else 1)}
    assert not too_often
    assert shown or with_people, "nobody answers the lead"
    check_settled(process)


def check_settled(process: Process) -> None:
    """Hold that nothing is left to do, that nobody would look for it, and that rows are true."""
    thread = thread_of(process)
    assert not thread.pending
    assert not list(thread.moving())
    assert list(process.talks.conversations.waiting("default", "9999")) == []
    assert process.app.maintenance.verify(lead_of(process)).state == "equal"


def die() -> None:
    """End the process that comes here."""
    raise Died

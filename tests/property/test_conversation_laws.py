"""Whatever happens in whatever order, a conversation keeps its promises after every single step."""

import itertools
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from domain.addresses import address
from domain.conversation.delivery import ErrorClass, NotAccepted, SendResult, Unknown
from domain.conversation.inbound import MessageChange
from domain.conversation.messages import outbound_id
from domain.conversation.states import BOT, HUMANS
from tests.support.backends import sqlite_backend
from tests.support.crashes import check_settled, log_of, of_type, thread_of
from tests.support.stepping import Steps
from tests.support.talk_model import (
    finished,
    most_often,
    started_beside_a_person,
    texts_of,
    unanswered,
    unsettled,
)
from tests.support.talks import PHONE, World, drain, lead_of, receive

WORDS = (
    *("oi", "quero sequenciamento", "quero falar com um atendente", "outro assunto", "parar"),
    *("fazem teste de paternidade?", "obrigado", ""),
)
TWO_PARTS = '{"s": "CONTINUE", "message": "%s", "metadata": {}}' % ("Uma frase comum. " * 300)
FAULTS: dict[str, SendResult] = {
    "pair limit": NotAccepted(error_class=ErrorClass.PAIR, retry_after_s=4),
    "unreachable": NotAccepted(error_class=ErrorClass.RECIPIENT),
    "refused account": NotAccepted(error_class=ErrorClass.ACCOUNT),
    "gateway": Unknown(reason="bad_gateway"),
}
ACTS = st.one_of(
    st.tuples(st.just("says"), st.sampled_from(WORDS)),
    st.tuples(st.just("says"), st.sampled_from(WORDS)),
    st.tuples(st.just("writes elsewhere"), st.sampled_from(WORDS)),
    st.tuples(st.just("changes"), st.sampled_from(["edited", "revoked"])),
    st.tuples(st.just("works"), st.none()),
    st.tuples(st.just("works"), st.none()),
    st.tuples(st.just("waits"), st.sampled_from([1, 5, 61, 95, 700, 90_000])),
    st.tuples(st.just("fails"), st.sampled_from(["lost answer", "lost request", *FAULTS])),
    st.tuples(st.just("is told"), st.sampled_from(["sent", "delivered", "read", "failed"])),
    st.tuples(st.just("hands"), st.sampled_from(["claimed", "released", "returned"])),
    st.tuples(st.just("operator writes"), st.none()),
    st.tuples(st.just("phone writes"), st.none()),
    st.tuples(st.just("answers in two"), st.none()),
)
MOMENTS = st.sampled_from(["answer", "send", "insert_events", "snapshot"])


class Talk:
    """One lead, and everything that may happen to it. Numbers make every name new."""

    def __init__(self, world: World, numbers: Iterator[int]) -> None:
        self.world = world
        self.numbers = numbers
        self.number = 0
        self.process = world.process()
        self.watcher = world.process()

    def act(self, what: str, how: Any) -> None:
        """Let one thing happen."""
        self.number = next(self.numbers)
        if what == "is told":
            self.told(how)
        elif what in {"changes", "hands", "operator writes"}:
            if log_of(self.watcher):
                getattr(self, what.replace(" ", "_"))(how)
        else:
            getattr(self, what.replace(" ", "_"))(how)

    def says(self, text: str) -> None:
        kind = "text" if text else "image"
        receive(self.process, self.world.says(text, media_type=kind))

    def writes_elsewhere(self, text: str) -> None:
        kind = "text" if text else "image"
        item = self.world.says(text, media_type=kind, account="109876543210988")
        receive(self.process, item)

    def changes(self, change: Any) -> None:
        received = of_type(log_of(self.watcher), "message_received")
        if received:
            item = MessageChange(
                channel="whatsapp",
                source="whatsapp",
                external_event_id=f"wamid.CHANGE{self.number}",
                account="109876543210987",
                address=address("whatsapp", PHONE),
                occurred_at=self.world.now,
                raw=b"",
                change=change,
                message_id=received[-1].external_event_id,
                text="de outro jeito",
            )
            receive(self.process, item)

    def works(self, _: None) -> None:
        drain(self.process)

    def waits(self, seconds: int) -> None:
        self.world.pass_time(seconds=seconds)

    def fails(self, fault: str) -> None:
        phone = self.world.phone
        lost = {"lost answer": phone.lose_reply, "lost request": phone.lose_request}
        phone.script.append(lost.get(fault) or (lambda _: FAULTS[fault]))

    def told(self, status: str) -> None:
        texts = self.world.phone.texts
        if texts:
            classes = ["TRANSIENT", "RECIPIENT"]
            failure = {"error_class": classes[self.number % 2]} if status == "failed" else {}
            time = texts.count(texts[-1])
            receive(self.process, self.world.status(texts[-1], status, time=time, **failure))

    def hands(self, step: str) -> None:
        allowed = {"claimed": "HANDOFF_PENDING", "released": "HUMAN", "returned": "HUMAN"}
        self._record(allowed[step], f"handoff_{step}", f"h{self.number}")

    def operator_writes(self, _: None) -> None:
        session = thread_of(self.watcher).active_session_id
        name = outbound_id(session, f"o{self.number}", "operator_text")
        said = {"outbound_id": name, "text": "Oi, aqui é a Ana."}
        self._record("HUMAN", "operator_message_queued", f"o{self.number}", **said)

    def phone_writes(self, _: None) -> None:
        receive(self.process, self.world.echo("deixa comigo", message_id=f"wamid.E{self.number}"))

    def answers_in_two(self, _: None) -> None:
        self.world.model.model.script.append(TWO_PARTS)

    def _record(self, state: str, event_type: str, key: str, **said: Any) -> None:
        def decide(conversation: Any, facts: Any) -> Any:
            thread = conversation.thread
            if thread is None or thread.state != state:
                return []
            session_id = thread.active_session_id
            return [
                facts.fact(
                    event_type,
                    "operator_console",
                    key,
                    session_id=session_id,
                    operator="ana",
                    **said,
                )
            ]

        self.process.talks.deciding.record("default", lead_of(self.watcher), decide)


@given(st.lists(st.tuples(ACTS, st.none() | st.tuples(MOMENTS, ACTS)), min_size=3, max_size=14))
def test_a_conversation_keeps_its_promises_through_any_interleaving(acts: list[Any]):
    with tempfile.TemporaryDirectory() as folder, sqlite_backend(Path(folder)) as backend:
        numbers = itertools.count(1)
        talk = Talk(World(backend, Path(folder)), numbers)
        note(repr(acts))
        for act, interleaved in acts:
            if interleaved is not None:
                moment, other = interleaved
                steps = {"send": talk.world.phone.steps, "answer": talk.world.model.steps}.get(
                    moment, talk.process.steps
                )
                steps.after(moment, partial(Talk(talk.world, numbers).act, *other))
            talk.act(*act)
            check(talk)
        # What was planned and did not come to pass must not move the time of the end.
        talk.world.phone.steps, talk.world.model.steps = Steps(), Steps()
        settled = talk.world.settle(hours=2)
        check(talk)
        if log_of(settled):
            check_at_the_end(talk, settled)


def check(talk: Talk) -> None:
    """Hold what holds at any time."""
    events = log_of(talk.watcher)
    if not events:
        return
    assert [each.sequence for each in events] == [*range(1, len(events) + 1)]
    thread = thread_of(talk.watcher)
    note("\n".join(f"{e.event_type} {e.payload}"[:200] for e in events[-8:]))
    assert [each.message_id for each in thread.pending] == unanswered(events)
    names = [each.outbound_id for each in thread.outbox]
    assert len(set(names)) == len(names)
    assert unsettled(events) <= set(names)
    assert not finished(events) & set(names)
    listed = list(talk.watcher.talks.conversations.waiting("default", "9999"))
    assert bool(listed) == bool(thread.pending or list(thread.moving()))
    assert started_beside_a_person(events) == []
    shown = Counter(text.outbound_id for text in talk.world.phone.texts)
    assert set(shown) <= set(texts_of(events))
    assert shown <= most_often(events)
    lead = lead_of(talk.watcher)
    assert talk.watcher.app.maintenance.verify(lead).state == "equal"


def check_at_the_end(talk: Talk, settled: Any) -> None:
    """Hold what holds when nothing is due any more: nobody was forgotten."""
    check_settled(settled)
    turns = Counter(
        message_id
        for turn in of_type(log_of(settled), "agent_turn_completed")
        for message_id in turn.payload["coveredMessageIds"]
    )
    assert set(turns.values()) <= {1}
    state = thread_of(settled).state
    assert state is None or state in BOT | HUMANS

"""Turns: whether an agent's answer still counts when it is recorded, and what follows from it."""

from typing import Any, Final

from domain import canonical
from domain.conversation.answer import Answer, Code
from domain.conversation.card import card_text
from domain.conversation.facts import AGENTS, MESSAGING, Facts
from domain.conversation.guard import objection
from domain.conversation.messages import outbound_id
from domain.conversation.routing import ending
from domain.conversation.session import Session
from domain.conversation.states import BOT, HUMANS, State, is_legal
from domain.conversation.texts import text
from domain.conversation.thread import Thread, is_latest
from domain.conversation.turn import Result, Scene, Turn
from domain.event import NewEvent

_TARGETS: Final = {
    Code.TO_TRIAGE: State.TRIAGE,
    Code.TO_QUALIFICATION: State.QUALIFYING,
    Code.TO_REGISTRATION: State.REGISTERING,
    Code.HANDOFF: State.HANDOFF_PENDING,
    Code.NEW_SUBJECT: State.TRIAGE,
    Code.CLOSE: State.COMPLETED,
}


def state_after(state: State, code: Code) -> State:
    """Return the state a code proposes; an agent that goes on has taken the lead in."""
    return _TARGETS.get(code, State.TRIAGE if state == State.NEW else state)


def is_acceptable(state: State, answer: Answer) -> str | None:
    """Return why the state machine would not take an answer, in a word; None if it would."""
    after = state_after(state, answer.code)
    if answer.code != Code.NEW_SUBJECT and not is_legal(state, after):
        return "illegal_transition"
    if not answer.message:
        return None
    return objection(answer.message, handoff=answer.code == Code.HANDOFF)


def why_superseded(thread: Thread, turn: Turn, now: str) -> str | None:
    """Return why a result no longer counts, in a word; None if it does.

    The guard of seed 002: latest, session, owner, state and window, on the state that the commit
    stands on.
    """
    waiting = {each.message_id for each in thread.pending}
    checks = (
        (thread.state in HUMANS, "owner_changed"),
        (thread.active_session_id != turn.session_id, "session_changed"),
        (thread.state != turn.state, "state_changed"),
        (waiting.isdisjoint(each.message_id for each in turn.covered), "answered"),
        (not is_latest(thread, turn.covered), "newer_message"),
        (not thread.window_is_open(now), "window_closed"),
    )
    return next((reason for holds, reason in checks if holds), None)


def try_put_agent_result(
    scene: Scene, session: Session, turn: Turn, result: Result
) -> list[NewEvent]:
    """Return what is recorded of a turn: its answer and what follows, or that it came too late.

    The first text of an answer that may go at once is noted as being sent in the same commit.
    """
    thread, facts = scene.thread, scene.facts
    reason = why_superseded(thread, turn, facts.now)
    if reason is not None:
        return [_superseded(scene, turn, result, reason)]
    answer = result.answer
    if answer is None:
        return _given_up(scene, turn, result)
    session_id = turn.session_id
    opening: list[NewEvent] = []
    if answer.code == Code.NEW_SUBJECT:
        session_id = scene.new_session
        started = facts.session_started(
            session_id,
            session.channel,
            thread.account,
            turn.session_id,
            reply_to=thread.reply_to,
        )
        opening = [ending(thread, facts, "replaced"), started]
    completed = _completed(
        scene,
        turn,
        result,
        session_id=session_id,
        code=answer.code.value,
        state_after=state_after(turn.state, answer.code).value,
        reply=answer.message or None,
        segment=answer.segment,
        intent=answer.intent,
        qualification_data=_json(answer.qualification),
        cadastral_data=_json(answer.registration),
        reason=result.reason,
    )
    following = _consequences(scene, turn, answer, session_id)
    sending = [] if opening else _sent_at_once(scene, turn, answer)
    return [*opening, completed, *following, *_insights(turn, answer, facts), *sending]


def hand_over(scene: Scene, cause: str, reason: str, *, notice: bool) -> list[NewEvent]:
    """Return what puts the open session into the queue of people, and tells the lead so.

    Nothing if agents do not own it.
    """
    thread = scene.thread
    session_id = thread.active_session_id
    if session_id is None or thread.state not in BOT:
        return []
    requested = _requested(scene, cause, session_id, reason)
    return [requested, _told(scene, cause, session_id)] if notice else [requested]


def _completed(scene: Scene, turn: Turn, result: Result, **said: Any) -> NewEvent:
    return scene.facts.fact(
        "agent_turn_completed",
        AGENTS,
        f"{turn.last}:turn",
        covered_message_ids=[each.message_id for each in turn.covered],
        agent=turn.agent,
        prompt=turn.prompt,
        **said,
        **result.usage.said(),
    )


def _superseded(scene: Scene, turn: Turn, result: Result, reason: str) -> NewEvent:
    pending = scene.thread.pending
    newest = pending[-1].message_id if pending else turn.last
    return scene.facts.fact(
        "agent_turn_superseded",
        AGENTS,
        f"{turn.last}:superseded",
        session_id=turn.session_id,
        covered_message_ids=[each.message_id for each in turn.covered],
        agent=turn.agent,
        reason=reason,
        by_message_id=newest if newest != turn.last else None,
        prompt=turn.prompt,
        **result.usage.said(),
    )


def _given_up(scene: Scene, turn: Turn, result: Result) -> list[NewEvent]:
    """Record a turn without an answer: its cost, and that a human is to answer."""
    reason = result.reason or "agent_output_invalid"
    completed = _completed(
        scene,
        turn,
        result,
        session_id=turn.session_id,
        code=Code.HANDOFF.value,
        state_after=State.HANDOFF_PENDING.value,
        reply=text("no_agent", scene.policy.language),
        reason=reason,
    )
    return [completed, _requested(scene, turn.last, turn.session_id, reason)]


def _consequences(scene: Scene, turn: Turn, answer: Answer, session_id: str) -> list[NewEvent]:
    """Return what an answer asks for beside its words."""
    if answer.code == Code.CLOSE:
        return [ending(scene.thread, scene.facts, "completed")]
    if answer.code == Code.HANDOFF:
        reason = answer.handoff_reason or "asked_by_agent"
        requested = _requested(scene, turn.last, session_id, reason)
        said = [] if answer.message else [_told(scene, turn.last, session_id)]
        return [requested, *said]
    if answer.code == Code.OUT_OF_PORTFOLIO and answer.oop_service:
        demand = scene.facts.fact(
            "out_of_portfolio_requested",
            MESSAGING,
            f"{turn.last}:oop",
            session_id=session_id,
            service=answer.oop_service[:500],
            message_id=turn.last,
            original_message=turn.said or None,
            segment=answer.segment,
            channel_account=scene.thread.account or None,
        )
        return [demand]
    return []


def _insights(turn: Turn, answer: Answer, facts: Facts) -> list[NewEvent]:
    return [
        facts.fact(
            "agent_insight",
            AGENTS,
            f"{turn.last}:insight:{number}",
            insight_type=insight.insight_type,
            content=insight.content,
            confidence=insight.confidence,
            memory_type=insight.memory_type,
            key=insight.key,
            value=insight.value,
        )
        for number, insight in enumerate(answer.insights, start=1)
    ]


def _sent_at_once(scene: Scene, turn: Turn, answer: Answer) -> list[NewEvent]:
    """Note the first text as being sent, if nothing goes before it.

    The guard has just judged everything the fence would: owner, session, state and window.
    """
    after = state_after(turn.state, answer.code)
    if not answer.message or after not in BOT or next(scene.thread.moving(), None) is not None:
        return []
    name = outbound_id(turn.session_id, turn.last, "bot_text")
    return [scene.facts.sending(name, 1, scene.policy.sending_patience)]


def _requested(scene: Scene, cause: str, session_id: str, reason: str) -> NewEvent:
    return scene.facts.fact(
        "handoff_requested",
        MESSAGING,
        f"{cause}:handoff",
        session_id=session_id,
        reason=reason[:100],
        card=card_text(scene.card, reason),
    )


def _told(scene: Scene, cause: str, session_id: str) -> NewEvent:
    words = text("no_agent", scene.policy.language)
    return scene.facts.reply_queued("handoff_ack", words, cause=cause, session_id=session_id)


def _json(value: dict[str, Any] | dict[str, str]) -> str | None:
    return canonical.dumps(value).decode() if value else None

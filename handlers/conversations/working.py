"""The orchestrator: does everything that is due for one lead, one step after the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import structlog

from domain import keys
from domain.conversation.card import card_of
from domain.conversation.chunks import chunks
from domain.conversation.facts import Facts
from domain.conversation.messages import Message
from domain.conversation.model import ModelUnavailable
from domain.conversation.policy import Policy
from domain.conversation.sending import Step, next_step
from domain.conversation.session import Session
from domain.conversation.states import AGENTS
from domain.conversation.thread import Thread, Waiting
from domain.conversation.turn import Result, Scene, Turn
from domain.conversation.turning import hand_over, try_put_agent_result
from domain.errors import LeadError, Rejected, Unavailable
from domain.event import NewEvent
from domain.instants import shift
from domain.keys import Key
from domain.ports.effects import Channel
from handlers.conversations.ground import Conversation, Conversations, standing
from handlers.conversations.sends import Deciding, Licence, Sends, licence_for
from projections.deciding import Recorded

_MAX_STEPS: Final = 50
"""Of one call; what is left wakes again."""

_BACK_OFF_S: Final = 5


class Agent(Protocol):
    """Who answers turns: prompts, memories and a model behind one call."""

    def answer(
        self, organization_id: str, lead: str, turn: Turn, session: Session, said: "Said"
    ) -> tuple[Result, Turn]:
        """Return what came of asking, and the turn with the prompt that was used.

        Raises:
            ModelUnavailable: no answer came; the same may be asked again later.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What was said: the session's history before the turn, and the texts the turn answers."""

    history: list[Message]
    pending: list[str]


class Commands(Protocol):
    """What allow-listed operators may ask for by message."""

    def answer(self, organization_id: str, operator: str, words: str) -> str:
        """Do what a command says, which may be done twice, and return the words to answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Works on one lead at a time. Callers serialise a lead; commits settle what still races."""

    conversations: Conversations
    deciding: Deciding
    sends: Sends
    channels: Mapping[str, Channel]
    policy: Policy
    agent: Agent | None
    commands: Commands

    def work(self, organization_id: str, lead: str) -> int:
        """Do what is due for a lead; return how many steps were done.

        A lead of a channel that this process does not speak is left for one that does.

        Raises:
            Unavailable, Uncertain: something could not be done now. What was recorded stands;
                call again later.
        """
        log = structlog.get_logger().bind(lead=lead)
        log.info("orchestrator_event")
        thread: Thread | None = None
        for done in range(_MAX_STEPS):
            thread = thread or self.conversations.look(lead).thread
            step = next_step(thread, self.deciding.now()) if thread else None
            if thread is None or step is None:
                log.info("immediate_turns_done" if done else "buffer_already_flushed", count=done)
                return done
            if thread.channel not in self.channels:
                log.warning("channel_not_here")
                return done
            recorded = self._do(organization_id, lead, thread, step)
            if recorded is None:
                return done
            # What comes in from here on wakes the lead again.
            thread = standing(recorded)
        return _MAX_STEPS

    def _do(self, organization_id: str, lead: str, thread: Thread, step: Step) -> Recorded | None:
        """Do one step; return what was recorded, None if it is not worth looking for another."""
        try:
            return self._done(organization_id, lead, thread, step)
        except Rejected as error:
            # Somebody else recorded the same step under other content; look at what stands now.
            structlog.get_logger().info("step_already_recorded", lead=lead, code=error.code)
            return Recorded((), None, lead)
        except ModelUnavailable as error:
            structlog.get_logger().warning(
                "process_immediate_turn_failed", lead=lead, code=error.reason
            )
            return self._model_failed(organization_id, lead, step.waiting, error)
        except LeadError:
            raise
        except Exception:
            if step.kind != "turn" or not self._has_waited(step.waiting):
                raise
            structlog.get_logger().exception("process_immediate_turn_failed", lead=lead)
            return self._hand_over(
                organization_id, lead, list(step.waiting), "turn_failed", notice=True
            )

    def _done(self, organization_id: str, lead: str, thread: Thread, step: Step) -> Recorded | None:
        if step.outbound is not None:
            return self.sends.send(organization_id, lead, step.outbound)
        if step.kind == "command":
            return self._command(organization_id, lead, step.waiting[0])
        return self._turn(organization_id, lead, thread, list(step.waiting))

    def _has_waited(self, covered: Sequence[Waiting]) -> bool:
        """Tell whether a message has waited for an answer longer than a lead should."""
        patience = shift(self.deciding.now(), -self.policy.give_up_after)
        return bool(covered) and covered[0].since <= patience

    def _turn(
        self, organization_id: str, lead: str, thread: Thread, covered: list[Waiting]
    ) -> Recorded | None:
        if not thread.window_is_open(self.deciding.now()):
            return self._hand_over(organization_id, lead, covered, "window_closed", notice=False)
        if self.agent is None:
            return self._hand_over(organization_id, lead, covered, "no_model", notice=True)
        session, texts = self._read(lead, thread, covered)
        if session is None or thread.state is None:
            return None
        self._show_typing(thread, covered[-1])
        turn = Turn(
            session_id=session.session_id,
            state=thread.state,
            covered=covered,
            agent=AGENTS[thread.state],
            said="\n".join(texts)[:10_000],
        )
        waiting = {each.message_id for each in covered}
        history = self.conversations.history_for_session(lead, session.session_id)
        before = [each for each in history if each.message_id not in waiting]
        said = Said(history=before, pending=texts)
        result, asked = self.agent.answer(organization_id, lead, turn, session, said)
        return self._put(organization_id, lead, asked, result, history)

    def _put(
        self,
        organization_id: str,
        lead: str,
        turn: Turn,
        result: Result,
        history: list[Message],
    ) -> Recorded | None:
        """Record what came of a turn, and send its first text if the record says so."""
        new_session = self.deciding.new_id()
        licences: list[Licence] = []

        def decide(conversation: Conversation, facts: Facts) -> Sequence[NewEvent]:
            thread, session = conversation.thread, conversation.session(turn.session_id)
            if thread is None or session is None:
                return []
            scene = Scene(
                thread=thread,
                policy=self.policy,
                facts=facts,
                new_session=new_session,
                card=card_of(session, history),
            )
            decided = try_put_agent_result(scene, session, turn, result)
            words = chunks(result.answer.message)[0] if result.answer else ""
            licences[:] = [
                licence_for(thread, fact.payload["outboundId"], words, fact)
                for fact in decided
                if fact.event_type == "reply_sending"
            ]
            return decided

        rows = [keys.session(lead, turn.session_id), keys.crm_sync(turn.session_id)]
        recorded = self.deciding.record(organization_id, lead, decide, wanted=rows)
        if not recorded.events:
            return None
        for licence in licences:
            recorded = self.sends.hand_over(organization_id, lead, licence)
        return recorded

    def _read(
        self, lead: str, thread: Thread, covered: list[Waiting]
    ) -> tuple[Session | None, list[str]]:
        """Return the open session and the texts that wait, as of one moment."""
        if thread.active_session_id is None:
            return None, []
        partition = keys.session_partition(lead)
        wanted = [keys.session(lead, thread.active_session_id)]
        wanted += [Key(partition, each.sort_key) for each in covered]
        conversation = self.conversations.look(lead, wanted)
        messages = [conversation.message(each.sort_key) for each in covered]
        texts = [each.text for each in messages if each is not None and each.text]
        return conversation.session(thread.active_session_id), texts

    def _hand_over(
        self, organization_id: str, lead: str, covered: list[Waiting], reason: str, *, notice: bool
    ) -> Recorded | None:
        cause = covered[-1].message_id

        def decide(conversation: Conversation, facts: Facts) -> Sequence[NewEvent]:
            thread, session = conversation.thread, conversation.active()
            if thread is None or session is None:
                return []
            history = self.conversations.history_for_session(lead, session.session_id)
            card = card_of(session, history)
            scene = Scene(thread=thread, policy=self.policy, facts=facts, card=card)
            return hand_over(scene, cause, reason, notice=notice)

        return _or_none(self.deciding.record(organization_id, lead, decide))

    def _model_failed(
        self,
        organization_id: str,
        lead: str,
        covered: Sequence[Waiting],
        error: ModelUnavailable,
    ) -> Recorded | None:
        """Let the lead wait a little for the model; after that a human answers."""
        if self._has_waited(covered):
            reason = "model_unavailable"
            return self._hand_over(organization_id, lead, list(covered), reason, notice=True)
        raise Unavailable(
            "The model did not answer.",
            hint="The message waits and is tried again.",
            retry_after_s=error.retry_after_s or _BACK_OFF_S,
        ) from error

    def _command(self, organization_id: str, lead: str, waiting: Waiting) -> Recorded | None:
        """Answer an operator's command by message."""
        row = Key(keys.session_partition(lead), waiting.sort_key)
        conversation = self.conversations.look(lead, [row])
        message, thread = conversation.message(waiting.sort_key), conversation.thread
        operator = thread.reply_to if thread else ""
        words = self.commands.answer(organization_id, operator, message.text if message else "")

        def decide(conversation: Conversation, facts: Facts) -> Sequence[NewEvent]:
            standing = conversation.thread
            waits = standing.pending if standing else []
            if all(each.message_id != waiting.message_id for each in waits):
                return []
            return [facts.reply_queued("operator_answer", words, cause=waiting.message_id)]

        return _or_none(self.deciding.record(organization_id, lead, decide))

    def _show_typing(self, thread: Thread, newest: Waiting) -> None:
        channel = self.channels.get(thread.channel)
        if channel is not None:
            channel.typing(thread.account, newest.message_id)


def _or_none(recorded: Recorded) -> Recorded | None:
    return recorded if recorded.events else None

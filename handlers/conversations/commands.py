"""What allow-listed operators may ask for by message: to be told, not to be told, who waits."""

from dataclasses import dataclass

from domain.conversation.policy import Policy
from domain.conversation.states import State
from domain.conversation.texts import text
from domain.instants import to_datetime
from domain.ports.effects import Clock
from handlers.conversations.availability import Availability
from handlers.conversations.ground import Conversations


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorCommands:
    """Answers commands; whatever is none gets help. Doing one twice changes nothing more."""

    availability: Availability
    conversations: Conversations
    policy: Policy
    now: Clock

    def answer(self, organization_id: str, operator: str, words: str) -> str:
        """Do what a command says, and return the words to answer."""
        match words.strip().lower():
            case "/disponivel":
                self.availability.set(organization_id, operator, available=True)
                return text("operator_available", self.policy.language)
            case "/indisponivel":
                self.availability.set(organization_id, operator, available=False)
                return text("operator_unavailable", self.policy.language)
            case "/fila":
                return self._queue(organization_id)
            case _:
                return text("operator_help", self.policy.language)

    def _queue(self, organization_id: str) -> str:
        waiting = self.conversations.list_by_state(organization_id, State.HANDOFF_PENDING)
        since = [session.handoff_requested_at or session.created_at for _, session in waiting]
        if not since:
            return text("queue_empty", self.policy.language)
        waited = to_datetime(self.now()) - to_datetime(min(since))
        minutes = int(waited.total_seconds() // 60)
        return text("queue_waiting", self.policy.language, count=len(since), minutes=minutes)

"""What time brings about, looked for every minute: reminders, silence, and leads nobody woke for.

A round may run in several processes at once, and twice: each step is decided in the commit that
records it, on what stands then, under a key of its own.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog

from domain import canonical, keys
from domain.addresses import address, identity_keys
from domain.conversation import patience
from domain.conversation.facts import MESSAGING, Facts
from domain.conversation.messages import outbound_id
from domain.conversation.policy import Policy
from domain.conversation.session import Session
from domain.conversation.standing import Standing
from domain.conversation.states import BOT, PHONE_OPERATOR, State
from domain.conversation.texts import text
from domain.errors import InvalidEvent, LeadError
from domain.event import NewEvent
from domain.instants import shift
from domain.ports.effects import WakeUps
from handlers.conversations import locks
from handlers.conversations.availability import Availability
from handlers.conversations.ground import Conversation, Conversations
from handlers.conversations.sends import Deciding
from projections.deciding import Command

_UNWOKEN: Final = timedelta(seconds=60)
"""After which a lead that is due is woken once more (DESIGN §7)."""

Decide = Callable[[Standing, Facts], list[NewEvent]]
Listed = tuple[str, Session]


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """The rounds of one deployment."""

    conversations: Conversations
    deciding: Deciding
    availability: Availability
    wake_ups: WakeUps
    policy: Policy

    def round(self, organization_id: str) -> dict[str, int]:
        """Do what is due for an organization, and return how often each thing was done.

        Names: operators_reminded, operators_alerted, customers_reminded, abandoned, returned, woken,
        and failed for leads at which something could not be done (the next round tries again); what did
        not happen is left out.

        Raises:
            Unavailable: the lists cannot be read.
        """
        done: Counter[str] = Counter()
        available = self.availability.available(organization_id)
        for lead, session in self._waiting_for_people(organization_id):
            with _apart(done, lead):
                self._remind(organization_id, lead, session, available, done)
        for lead, session in self._silent(organization_id):
            with _apart(done, lead):
                done["abandoned"] += self._decided(organization_id, lead, session, self._abandon)
        for lead, session in self._on_the_phone(organization_id):
            with _apart(done, lead):
                done["returned"] += self._return(organization_id, lead, session)
        self._wake(organization_id, done)
        return dict(+done)

    def _remind(
        self,
        organization_id: str,
        lead: str,
        session: Session,
        available: list[str],
        done: Counter[str],
    ) -> None:
        standing = self._look(lead, session)
        if standing is None or standing.session is None:
            return
        now = self.deciding.now()
        step = patience.step_due(standing.session, self.policy, now)
        # While nobody is available nobody was told: the step stays due for who comes next.
        if step is not None and available:
            # The alerts come first: after a crash between them the step is still due, and each
            # alert is known by its key.
            for operator in available:
                done["operators_alerted"] += self._alert(
                    organization_id, operator, standing.session, step
                )
            done["operators_reminded"] += self._decided(
                organization_id,
                lead,
                session,
                lambda at, facts: patience.remind_operators(at, step, self.policy, facts),
            )
        told = self._decided(organization_id, lead, session, self._tell_customer)
        done["customers_reminded"] += told
        if told:
            self.wake_ups.wake(organization_id, lead, session.session_id)

    def _alert(self, organization_id: str, operator: str, session: Session, step: int) -> bool:
        """Queue a message to an operator who has a phone here, and wrote to it within the day."""
        lead = self._lead_of(organization_id, operator)
        since = session.handoff_requested_at
        if lead is None or since is None:
            return False
        cause = f"{patience.renotification(session, step)}:{canonical.digest(lead)[:16]}"
        words = text(
            "operator_alert",
            self.policy.language,
            minutes=patience.minutes_between(since, self.deciding.now()),
            reason=session.handoff_reason or "",
        )
        name = outbound_id(None, cause, "operator_alert")
        key = keys.receipt(organization_id, MESSAGING, f"{name}:queued")

        def decide(conversation: Conversation, facts: Facts) -> list[NewEvent]:
            return patience.alert(conversation.thread, words, cause, facts)

        command = Command(key, canonical.digest(cause))
        recorded = self.deciding.record(organization_id, lead, decide, command=command)
        if recorded.events:
            self.wake_ups.wake(organization_id, lead, name)
        return bool(recorded.events)

    def _lead_of(self, organization_id: str, operator: str) -> str | None:
        """Return the lead that an operator is on WhatsApp; a mere name is none."""
        try:
            named = identity_keys(organization_id, address("whatsapp", operator))
        except InvalidEvent:
            return None
        found = self.conversations.log.store.resolve(named)
        return next((found[key] for key in named if key in found), None)

    def _tell_customer(self, standing: Standing, facts: Facts) -> list[NewEvent]:
        return patience.remind_customer(standing, self.policy, facts)

    def _abandon(self, standing: Standing, facts: Facts) -> list[NewEvent]:
        return patience.abandon(standing, self.policy, facts)

    def _return(self, organization_id: str, lead: str, session: Session) -> bool:
        """Give agents back what the phone let lie.

        When it wrote last stands in the history, which is no part of a decision's ground: it counts
        only while nothing was recorded of the lead since before it was read.
        """
        before = self.conversations.look(lead).ground.head
        history = self.conversations.history_for_session(lead, session.session_id)
        echoes = [each.at for each in history if each.author == PHONE_OPERATOR]

        def decide(conversation: Conversation, facts: Facts) -> list[NewEvent]:
            standing, head = _standing(conversation, session), conversation.ground.head
            if standing is None or before is None or head is None or head.version != before.version:
                return []
            return patience.return_from_phone(standing, max(echoes, default=""), self.policy, facts)

        return self._record(organization_id, lead, session, decide)

    def _decided(self, organization_id: str, lead: str, session: Session, decide: Decide) -> bool:
        """Decide on a session if it is still the open one; tell whether anything was recorded."""

        def decided(conversation: Conversation, facts: Facts) -> list[NewEvent]:
            standing = _standing(conversation, session)
            return [] if standing is None else decide(standing, facts)

        return self._record(organization_id, lead, session, decided)

    def _record(
        self,
        organization_id: str,
        lead: str,
        session: Session,
        decide: Callable[[Conversation, Facts], list[NewEvent]],
    ) -> bool:
        row, now = keys.session(lead, session.session_id), self.deciding.now()
        checks = [locks.nobody_sends(lead, session.session_id, now)]
        recorded = self.deciding.record(organization_id, lead, decide, wanted=[row], checks=checks)
        return bool(recorded.events)

    def _look(self, lead: str, session: Session) -> Standing | None:
        row = keys.session(lead, session.session_id)
        return _standing(self.conversations.look(lead, [row]), session)

    def _waiting_for_people(self, organization_id: str) -> list[Listed]:
        return self.conversations.list_by_state(organization_id, State.HANDOFF_PENDING)

    def _silent(self, organization_id: str) -> Iterator[Listed]:
        """Yield sessions that may have fallen silent: lists begin with the oldest."""
        quiet = shift(self.deciding.now(), -self.policy.abandon_after)
        for state in sorted(BOT):
            for lead, session in self.conversations.in_state(organization_id, state):
                if session.created_at > quiet:
                    break
                if session.updated_at <= quiet:
                    yield lead, session

    def _on_the_phone(self, organization_id: str) -> list[Listed]:
        quiet = shift(self.deciding.now(), -self.policy.phone_takeover)
        return [
            (lead, session)
            for lead, session in self.conversations.in_state(organization_id, State.HUMAN)
            if session.assigned_to == PHONE_OPERATOR and session.updated_at <= quiet
        ]

    def _wake(self, organization_id: str, done: Counter[str]) -> None:
        """Wake leads again that have been due for a while: their wake-up may have been lost."""
        until = shift(self.deciding.now(), -_UNWOKEN)
        for lead in self.conversations.waiting(organization_id, until):
            with _apart(done, lead):
                self.wake_ups.wake(organization_id, lead, "sweep")
                done["woken"] += 1


@contextmanager
def _apart(done: Counter[str], lead: str) -> Iterator[None]:
    """Count what could not be done at one lead, so that the others have theirs."""
    try:
        yield
    except LeadError as error:
        done["failed"] += 1
        structlog.get_logger().warning("job_failed", lead=lead, code=error.code)


def _standing(conversation: Conversation, session: Session) -> Standing | None:
    """Return what stands if a session is still the open one."""
    thread = conversation.thread
    if thread is None or thread.active_session_id != session.session_id:
        return None
    return Standing(thread, conversation.active())

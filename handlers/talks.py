"""What conversations need, wired: one deployment's channels, agents and people."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from domain.addresses import address
from domain.conversation.policy import Policy
from domain.conversation.routing import forms
from domain.errors import FieldError, InvalidEvent, Rejected
from domain.ports.effects import WakeUps
from handlers.conversation_settings import ConversationSettings, words_of
from handlers.conversations.availability import Availability
from handlers.conversations.ground import Conversations
from handlers.conversations.inbox import Inbox
from handlers.conversations.jobs import Jobs
from handlers.conversations.looping import Loop
from handlers.conversations.operators import Operators
from handlers.conversations.presence import Presence
from handlers.conversations.receiving import Receiving
from handlers.conversations.replying import Replies
from handlers.conversations.sends import Deciding, Sends
from handlers.conversations.tracing import Tracing
from handlers.conversations.webhook import Webhook
from handlers.conversations.working import Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Talks:
    """The use cases of conversations. `loop` works where the queue is this process's own."""

    settings: ConversationSettings
    policy: Policy
    organizations: tuple[str, ...]
    conversations: Conversations
    deciding: Deciding
    receiving: Receiving
    webhook: Webhook
    sends: Sends
    worker: Worker
    availability: Availability
    wake_ups: WakeUps
    loop: Loop
    release: Callable[[], None]

    @property
    def operators(self) -> Operators:
        """What operators do."""
        return Operators(
            conversations=self.conversations,
            deciding=self.deciding,
            replies=Replies(
                conversations=self.conversations,
                deciding=self.deciding,
                sends=self.sends,
                wake_ups=self.wake_ups,
                lock_for=timedelta(seconds=self.settings.human_send_lock_seconds),
            ),
            lists=Inbox(self.conversations, self.deciding.now),
            availability=self.availability,
        )

    @property
    def jobs(self) -> Jobs:
        """What time brings about; `loop` does it every minute."""
        return Jobs(
            conversations=self.conversations,
            deciding=self.deciding,
            availability=self.availability,
            wake_ups=self.wake_ups,
            policy=self.policy,
        )

    @property
    def presence(self) -> Presence:
        """Whether some process works on leads."""
        return Presence(table=self.conversations.table, now=self.deciding.now, name="")

    @property
    def tracing(self) -> Tracing:
        """What became of messages, and what agents cost."""
        return Tracing(self.conversations, self.deciding.now)

    def close(self) -> None:
        """Let go of what was opened to speak to the world."""
        self.release()


def policy_of(settings: ConversationSettings) -> Policy:
    """Return the rules of a deployment.

    Raises:
        Rejected: a phone in the settings is none.
    """
    return Policy(
        language=settings.language,
        operators=_phones(settings.operators, "LEADS_OPERATORS"),
        debug=settings.debug_close,
        debuggers=_phones(settings.debug_senders, "LEADS_DEBUG_SENDERS"),
        notice_cooldown=timedelta(seconds=settings.notice_cooldown_seconds),
        acknowledgement_cooldown=timedelta(seconds=settings.inbox_ack_cooldown_seconds),
        caption_as_text=settings.caption_as_text,
        sending_patience=timedelta(seconds=settings.sending_patience_seconds),
        reconcile_grace=timedelta(seconds=settings.reconcile_grace_seconds),
        give_up_after=timedelta(seconds=settings.give_up_after_seconds),
        abandon_after=timedelta(hours=settings.abandon_after_hours),
        phone_takeover=timedelta(hours=settings.phone_takeover_ttl_hours),
        remind_operators_after=tuple(
            timedelta(minutes=int(each)) for each in words_of(settings.handoff_renotify_minutes)
        ),
        remind_customer_after=timedelta(minutes=settings.customer_renotify_minutes),
    )


def check_secrets(settings: ConversationSettings) -> None:
    """Refuse numbers whose deliveries nobody could prove.

    Raises:
        Rejected: a number is set and no app secret, and it is not said that this is a desk.
    """
    if settings.accounts and not settings.app_secrets and settings.env != "dev":
        raise Rejected(
            "WhatsApp numbers are set without an app secret: anybody could write as anybody.",
            hint="Set LEADS_WHATSAPP_APP_SECRET, or LEADS_ENV=dev on your own desk.",
            fields=[FieldError("LEADS_WHATSAPP_APP_SECRET", "is not set")],
        )


def _phones(text: str, variable: str) -> frozenset[str]:
    found: set[str] = set()
    for phone in words_of(text):
        try:
            found.update(forms(address("whatsapp", phone)))
        except InvalidEvent:
            raise Rejected(
                "A phone in the settings is none.",
                hint="Write it with its country code, for example 5511955550142.",
                fields=[FieldError(variable, "holds what is no phone")],
            ) from None
    return frozenset(found)

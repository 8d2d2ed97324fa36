"""What conversations need, over an application: channels, agents, queue and people."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from adapters.console import ConsoleChannel
from adapters.queues.embedded import EmbeddedQueue
from domain.ports.effects import Channel, Clock, Model, WakeUps
from handlers.agents.desk import AgentDesk
from handlers.agents.prompting import Prompting
from handlers.bootstrap.app import App, keeping
from handlers.conversation_settings import DEFAULT_ORGANIZATION
from handlers.conversations.availability import Availability
from handlers.conversations.commands import OperatorCommands
from handlers.conversations.ground import Conversations
from handlers.conversations.jobs import Jobs
from handlers.conversations.legacy import Legacy
from handlers.conversations.looping import Loop
from handlers.conversations.poison import Poison
from handlers.conversations.presence import Presence
from handlers.conversations.receiving import Receiving
from handlers.conversations.sends import Deciding, Sends
from handlers.conversations.webhook import Webhook
from handlers.conversations.working import Agent, Worker
from handlers.settings import ConversationSettings
from handlers.talks import Talks, check_secrets, policy_of


def build_talks(
    app: App,
    settings: ConversationSettings,
    *,
    channels: Mapping[str, Channel] | None = None,
    agent: Agent | None = None,
    model: Model | None = None,
    receives: bool = True,
) -> Talks:
    """Return what conversations need; one that `receives` nothing needs no secret of deliveries.

    Raises:
        Rejected: a number is set whose deliveries nobody could prove, or a phone is none.
    """
    from adapters.whatsapp.adapter import WhatsAppAdapter  # noqa: PLC0415 - only who talks pays

    if receives:
        check_secrets(settings)
    policy, accounts = policy_of(settings), settings.accounts
    own_channels = _channels(settings) if channels is None else channels
    queue = EmbeddedQueue(time.monotonic)
    wake_ups = _wake_ups(settings, app.now) or queue
    conversations = Conversations(app.log)
    deciding = Deciding(log=app.log, now=app.now, new_id=app.new_id)
    sends = Sends(deciding=deciding, channels=own_channels, policy=policy)
    keep = keeping(app.quarantine, app.now, app.new_id)
    receiving = Receiving(
        log=app.log,
        policy=policy,
        wake_ups=wake_ups,
        keep=keep,
        poison=Poison(app.table, app.now),
        legacy=Legacy(table=app.table, deciding=deciding, now=app.now),
        now=app.now,
        new_id=app.new_id,
    )
    availability = Availability(
        table=app.table,
        now=app.now,
        timezone=app.settings.timezone,
        ttl=timedelta(hours=settings.handoff_operator_availability_ttl_hours),
    )
    token = settings.whatsapp_verify_token
    adapter = WhatsAppAdapter(
        secrets=settings.app_secrets,
        verify_token=token.get_secret_value() if token else "",
        unsigned=receives and settings.env == "dev",
    )
    worker = Worker(
        conversations=conversations,
        deciding=deciding,
        sends=sends,
        channels=own_channels,
        policy=policy,
        agent=agent or _agent(app, settings, model or _model(settings)),
        commands=OperatorCommands(
            availability=availability, conversations=conversations, policy=policy, now=app.now
        ),
    )
    organizations = tuple(sorted({DEFAULT_ORGANIZATION, *accounts.values()}))
    return Talks(
        settings=settings,
        policy=policy,
        organizations=organizations,
        conversations=conversations,
        deciding=deciding,
        receiving=receiving,
        webhook=Webhook(
            adapter=adapter, receiving=receiving, accounts=accounts, keep=keep, now=app.now
        ),
        sends=sends,
        worker=worker,
        availability=availability,
        wake_ups=wake_ups,
        loop=Loop(
            queue=queue,
            worker=worker,
            conversations=conversations,
            organizations=organizations,
            now=app.now,
            jobs=Jobs(
                conversations=conversations,
                deciding=deciding,
                availability=availability,
                wake_ups=wake_ups,
                policy=policy,
            ),
            presence=Presence(table=app.table, now=app.now, name=app.new_id()),
            threads=settings.conversation_threads,
        ),
        release=_releasing([queue, wake_ups, *own_channels.values()]),
    )


def _channels(settings: ConversationSettings) -> dict[str, Channel]:
    """Return the channels that are configured; the console always is."""
    channels: dict[str, Channel] = {"console": ConsoleChannel()}
    if settings.accounts:
        from adapters.whatsapp.client import WhatsAppChannel  # noqa: PLC0415 - it loads httpx2
        from adapters.whatsapp.paced import PacedChannel  # noqa: PLC0415
        from adapters.whatsapp.pacing import Pacing  # noqa: PLC0415

        token = settings.whatsapp_token
        channel = WhatsAppChannel(
            token.get_secret_value() if token else "",
            version=settings.whatsapp_version,
            base_url=settings.whatsapp_url,
        )
        channels["whatsapp"] = PacedChannel(channel, Pacing(time.monotonic))
    return channels


def _agent(app: App, settings: ConversationSettings, model: Model | None) -> Agent | None:
    if model is None:
        return None
    return AgentDesk(
        model=model,
        prompting=Prompting(app.resources),
        reads=app.reads,
        budget=settings.context_budget,
        locale=settings.language,
    )


def _model(settings: ConversationSettings) -> Model | None:
    """Return who answers; the SDK is loaded with the first question."""
    if settings.model == "scripted":
        from adapters.scripted import ScriptedModel  # noqa: PLC0415 - as below

        return ScriptedModel()
    if settings.model == "openai":
        from adapters.openai import OPENAI, OpenAIModel, Prices  # noqa: PLC0415 - for who asks it

        key, prices = settings.openai_key, None
        if settings.openai_input_price is not None and settings.openai_output_price is not None:
            prices = Prices(settings.openai_input_price, settings.openai_output_price)
        return OpenAIModel(
            model=settings.openai_model,
            api_key=key.get_secret_value() if key else "",
            base_url=settings.openai_url or OPENAI,
            timeout_s=settings.openai_timeout_seconds,
            prices=prices,
        )
    return None


def _wake_ups(settings: ConversationSettings, now: Clock) -> WakeUps | None:
    if settings.queue_url is None:
        return None
    from adapters.queues import sqs  # noqa: PLC0415 - it loads boto3

    return sqs.SqsWakeUps(sqs.new_client(os.environ), settings.queue_url, now)


def _releasing(opened: Sequence[object]) -> Callable[[], None]:
    def release() -> None:
        for each in opened:
            getattr(each, "close", lambda: None)()

    return release

"""Whether conversations can be held: what is set, what the webhook answers, and who waits."""

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol, runtime_checkable

from domain import keys
from domain.errors import LeadError, Unavailable, Uncertain
from domain.instants import to_datetime
from domain.ports.effects import Clock
from handlers.conversation_settings import ConversationSettings
from handlers.conversations.webhook import Verdict
from handlers.doctor import Finding, State
from handlers.talks import Talks

EMPTY: Final = b'{"object":"whatsapp_business_account","entry":[]}'
"""A delivery of nothing: genuine, and without any effect."""

_LONG: Final = timedelta(minutes=5)
"""After which somebody should look: the sweeper wakes a lead again after one minute."""

_PUBLIC: Final = "from outside"
_VERDICTS: Final = {200: Verdict.IGNORED, 202: Verdict.QUEUED, 401: Verdict.FORBIDDEN}

Deliver = Callable[[bytes, str | None], Verdict | None]
"""(body, signature) → what comes of it on one way in; None if it does not get there."""


@runtime_checkable
class Reachable(Protocol):
    """A channel that can be asked whether it would take something."""

    def reach(self, account: str) -> str | None:
        """Return what is wrong with an account in a word; None if nothing is."""
        ...


@runtime_checkable
class Knocks(Protocol):
    """A channel that can play its provider, and deliver to a webhook over the network."""

    def knock(self, url: str, body: bytes, signature: str | None) -> int | None:
        """Return the status a delivery is answered, None if there is no answer."""
        ...


@runtime_checkable
class Counts(Protocol):
    """A queue that can be asked how much waits in it."""

    def waiting(self) -> int:
        """Return about how many wake-ups wait."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationDoctor:
    """Looks at the conversations of one deployment. Sends nothing and records nothing.

    Args:
        talks: what conversations need, wired.
        ways_in: how a delivery may come in, by a name: over HTTP, as an event of Lambda's.
        now: the clock.
        public_url: where the webhook is said to be for everybody; it is knocked at.
    """

    talks: Talks
    ways_in: Mapping[str, Deliver]
    now: Clock
    public_url: str | None = None

    def examine(self, organization_id: str) -> Iterator[Finding]:
        """Look at everything; one look that fails leaves the others theirs."""
        looks: dict[str, Callable[[], Iterator[Finding]]] = {
            "channels": self._channels,
            "webhook": self._webhook,
            "model": self._model,
            "graph": self._graph,
            "queue": self._queue,
            "waiting": lambda: self._waiting(organization_id),
        }
        for check, look in looks.items():
            try:
                yield from look()
            except LeadError as error:
                away = isinstance(error, Unavailable | Uncertain)
                state: State = "unavailable" if away else "wrong"
                yield Finding(check=check, state=state, detail=error.detail, hint=error.hint)

    def _channels(self) -> Iterator[Finding]:
        settings = self.talks.settings
        numbers = len(settings.accounts)
        if not numbers:
            yield _fine("channels", "console; no WhatsApp number is set (LEADS_WHATSAPP_NUMBERS)")
            return
        missing = list(_missing(settings))
        yield from missing
        if not missing:
            yield _fine("channels", f"console and WhatsApp, with {numbers} number(s)")

    def _webhook(self) -> Iterator[Finding]:
        """Deliver nothing to ourselves, signed and wrongly signed."""
        settings = self.talks.settings
        if not settings.accounts:
            if self.public_url is not None:
                hint = "Set LEADS_WHATSAPP_NUMBERS."
                yield _wrong("webhook", "No WhatsApp number is set, so nobody delivers.", hint)
            return
        wrong = [*self._handshakes(settings)]
        ways_in = {**self.ways_in, **self._public()}
        for way, deliver in ways_in.items():
            if settings.app_secrets:
                signed = _sign(settings.app_secrets[0])
                wrong += _unlike(way, "a signed delivery", deliver(EMPTY, signed), Verdict.IGNORED)
                forged = deliver(EMPTY, _sign(b"nobody's"))
                wrong += _unlike(way, "a forged delivery", forged, Verdict.FORBIDDEN)
        yield from wrong
        if not wrong:
            ways = ", ".join(ways_in)
            yield _fine("webhook", f"answers the handshake, and tells signed from forged ({ways})")

    def _public(self) -> dict[str, Deliver]:
        """Return the way from outside, past whatever stands between: a firewall, a proxy."""
        channel: object = self.talks.sends.channels.get("whatsapp")
        url = self.public_url
        if url is None or not isinstance(channel, Knocks):
            return {}
        knock = channel.knock
        return {_PUBLIC: lambda body, signature: _VERDICTS.get(knock(url, body, signature) or 0)}

    def _handshakes(self, settings: ConversationSettings) -> Iterator[Finding]:
        token = settings.whatsapp_verify_token
        asked = {"hub.mode": "subscribe", "hub.challenge": "1158201444"}
        ours = asked | {"hub.verify_token": token.get_secret_value() if token else ""}
        others = asked | {"hub.verify_token": "nobody's"}
        if token and self.talks.webhook.challenge(ours) != "1158201444":
            yield _wrong("webhook", "It does not answer its own handshake.")
        if self.talks.webhook.challenge(others) is not None:
            yield _wrong("webhook", "It answers a handshake with another token.")

    def _model(self) -> Iterator[Finding]:
        settings = self.talks.settings
        match settings.model:
            case "none":
                yield Finding(
                    check="model",
                    state="warning" if settings.accounts else "ok",
                    detail="none: every text goes to a human, and the lead is told so",
                    hint="Set LEADS_MODEL if an agent is to answer." if settings.accounts else "",
                )
            case "scripted":
                yield Finding(
                    check="model",
                    state="warning" if settings.accounts else "ok",
                    detail="the scripted agent, which is made for demonstrations",
                    hint="Set LEADS_MODEL=openai for people." if settings.accounts else "",
                )
            case "openai":
                yield from _openai(settings)

    def _graph(self) -> Iterator[Finding]:
        """Ask WhatsApp for each number, where there is one."""
        channel: object = self.talks.sends.channels.get("whatsapp")
        if not isinstance(channel, Reachable):
            return
        for account in self.talks.settings.accounts:
            problem = channel.reach(account)
            if problem is None:
                yield _fine("graph", f"answers for the number {account}")
                continue
            state: State = "unavailable" if problem == "unreachable" else "wrong"
            yield Finding(
                check="graph",
                state=state,
                detail=f"The number {account} cannot be used: {problem}.",
                hint="See LEADS_WHATSAPP_TOKEN, LEADS_WHATSAPP_NUMBERS, LEADS_WHATSAPP_URL.",
            )

    def _queue(self) -> Iterator[Finding]:
        queue = self.talks.wake_ups
        if isinstance(queue, Counts):
            yield _fine("queue", f"SQS answers; about {queue.waiting()} wake-ups wait")
        else:
            yield _fine("queue", "the embedded one, of the process that serves")

    def _waiting(self, organization_id: str) -> Iterator[Finding]:
        partition = keys.pending_turns(organization_id)
        page = self.talks.conversations.table.query_index(partition, limit=1)
        due = page.items[0].gsi1[1] if page.items and page.items[0].gsi1 else None
        now = to_datetime(self.now())
        age = now - to_datetime(due) if due is not None else timedelta()
        if due is None or age <= timedelta():
            yield _fine("waiting", "no lead waits for the service")
            return
        seconds = int(age.total_seconds())
        yield Finding(
            check="waiting",
            state="warning" if age > _LONG else "ok",
            detail=f"the lead that has waited the longest has waited {seconds} s",
            hint="Is `leads serve` running, or the queue's function?" if age > _LONG else "",
        )


def _missing(settings: ConversationSettings) -> Iterator[Finding]:
    if not settings.app_secrets:
        yield Finding(
            check="channels",
            state="warning",
            detail="LEADS_ENV is dev and there is no app secret: anybody may write as anybody.",
            hint="Set LEADS_WHATSAPP_APP_SECRET anywhere but on your own desk.",
        )
    if settings.whatsapp_verify_token is None:
        yield _wrong(
            "channels",
            "LEADS_WHATSAPP_VERIFY_TOKEN is not set: Meta cannot subscribe the webhook.",
            "Set it to a word of your own, and name the same to Meta.",
        )
    if settings.whatsapp_token is None:
        yield _wrong(
            "channels",
            "LEADS_WHATSAPP_TOKEN is not set: nothing can be sent.",
            "Set it to the access token of the number.",
        )


def _openai(settings: ConversationSettings) -> Iterator[Finding]:
    if settings.openai_key is None and settings.openai_url is None:
        hint = "Set it, or LEADS_OPENAI_URL to an endpoint that asks for none."
        yield _wrong("model", "LEADS_OPENAI_KEY is not set: no agent can answer.", hint)
        return
    where = "OpenAI" if settings.openai_url is None else "the endpoint of LEADS_OPENAI_URL"
    yield _fine("model", f"{settings.openai_model} at {where}")


def _unlike(way: str, what: str, got: Verdict | None, wanted: Verdict) -> list[Finding]:
    if got is wanted:
        return []
    told = got.value if got else "not taken at all"
    detail = f"{what.capitalize()} is {told}, not {wanted.value} ({way})."
    if way != _PUBLIC:
        return [_wrong("webhook", detail)]
    hint = "See the URL, and what stands before the service: a firewall or a proxy may eat it."
    return [_wrong("webhook", detail, hint)]


def _sign(secret: bytes) -> str:
    return "sha256=" + hmac.digest(secret, EMPTY, hashlib.sha256).hex()


def _fine(check: str, detail: str) -> Finding:
    return Finding(check=check, state="ok", detail=detail)


def _wrong(check: str, detail: str, hint: str = "This is a bug; report it.") -> Finding:
    return Finding(check=check, state="wrong", detail=detail, hint=hint)

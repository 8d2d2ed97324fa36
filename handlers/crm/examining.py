"""Whether the mirror can do its work: its settings, and what the account says of itself. Reads only."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol, runtime_checkable
from urllib.parse import urlsplit

from domain.crm.desired import STAGES
from domain.crm.replies import Kind, Reply
from domain.crm.visit import Configuration
from domain.errors import Rejected
from domain.ports.effects import Crm
from handlers.crm.control import AccountControl
from handlers.crm_settings import CrmSettings
from handlers.doctor import Finding, State

PropertyState = Literal["stands", "missing", "created", "unfit", "unknown"]

_NOBODYS_ID: Final = "1"
"""Of a record that no account has: whether it may be read is all that is asked."""

_BREAKS: Final = frozenset((Kind.BREAKER, Kind.REFUSED, Kind.INVALID))
_WRITES: Final = "crm.objects.contacts.write and crm.objects.deals.write"


class UniqueProperty(NamedTuple):
    """One of the two properties whose values only one record may have.

    `unfit`: it is there and not unique, which nobody can change. `reason` says why it is unknown.
    """

    of: str
    name: str
    state: PropertyState
    reason: str = ""


Properties = Callable[[bool], tuple[UniqueProperty, ...]]
"""Looks at both; True creates what is missing."""


@runtime_checkable
class Limited(Protocol):
    """An account that tells how fast it may be asked."""

    @property
    def allowed(self) -> tuple[int, float]:
        """Requests, and the seconds they go out in."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Examining:
    """Looks at one deployment's mirror. `crm` is None without a token."""

    settings: CrmSettings
    control: AccountControl
    crm: Crm | None
    properties: Properties | None

    def examine(self, organization_id: str) -> Iterator[Finding]:
        """Yield what is found; the account is not asked where the settings do not allow it."""
        yield from self._settings()
        yield from self._rest(organization_id)
        if self.crm is None:
            hint = "Set HUBSPOT_TOKEN to the access token of a private app."
            yield _found("token", "wrong", "HUBSPOT_TOKEN is not set: nothing is mirrored.", hint)
            return
        stages = self.crm.pipeline()
        if stages.reply is not None and stages.reply.reason != "pipeline_missing":
            yield _refused("token", "The account cannot be used", stages.reply)
            return
        yield from self._stages(frozenset(stages.stage_ids))
        yield from self._scopes(self.crm)
        yield from self._properties(self.crm)
        if isinstance(self.crm, Limited):
            requests, seconds = self.crm.allowed
            detail = f"at most {requests} requests in {seconds:g} s go out from one process"
            yield _found("limits", "ok", detail)

    def bootstrap(self, *, apply: bool) -> tuple[UniqueProperty, ...]:
        """Return the two unique properties as they stand; with `apply` create what is missing.

        Raises:
            Rejected: there is no account.
        """
        if self.properties is None:
            hint = "Set HUBSPOT_TOKEN to the access token of a private app."
            raise Rejected("There is no account of the CRM to prepare.", hint=hint)
        return self.properties(apply)

    def stage_ids(self) -> dict[str, str | None]:
        """Return the CRM's id of each logical stage, None where none is set."""
        return {name: self.settings.stages.get(name) for name in STAGES}

    def _settings(self) -> Iterator[Finding]:
        settings = self.settings
        if not settings.hubspot_enabled:
            hint = "Set HUBSPOT_ENABLED=true to go on."
            detail = "HUBSPOT_ENABLED is false: the mirror waits, and loses nothing."
            yield _found("settings", "warning", detail, hint)
        if settings.hubspot_retry_max is not None:
            detail = "HUBSPOT_RETRY_MAX is read and ignored: only the mirror itself tries again."
            yield _found("settings", "ok", detail)
        host = urlsplit(settings.hubspot_url).hostname or "no host"
        timeout = f"{settings.hubspot_timeout_seconds:g} s"
        detail = f"{host}, version {settings.hubspot_version}, each answer within {timeout}"
        yield _found("address", "ok", detail)

    def _rest(self, organization_id: str) -> Iterator[Finding]:
        rest = self.control.rest(organization_id)
        if rest is None:
            return
        until = f"until {rest.until}" if rest.until else "until a person says otherwise"
        detail = f"The account rests ({rest.why}, {rest.reason}) since {rest.opened_at}, {until}."
        yield _found("account", "warning", detail, "`leads crm resume` uses it again.")

    def _stages(self, there: frozenset[str]) -> Iterator[Finding]:
        """Tell of each stage that is missing, not in the pipeline, or says two things at once."""
        settings = self.settings
        config = Configuration(stages=settings.stages)
        wrong = False
        for name in STAGES:
            variable, stage_id = f"HUBSPOT_STAGE_{name.upper()}", settings.stages.get(name)
            if stage_id is None:
                detail = f"{variable} is not set."
            elif stage_id not in there:
                detail = f"{variable} is no stage of the pipeline {settings.hubspot_pipeline}."
            elif config.is_ambiguous(name):
                detail = f"{variable} names one stage for what is open and for what is closed."
            else:
                continue
            wrong = True
            known = f"The pipeline has: {', '.join(sorted(there)) or 'no stage'}."
            yield _found("stages", "wrong", detail, known)
        if not wrong:
            yield _found("stages", "ok", "all five are stages of the pipeline")

    def _scopes(self, crm: Crm) -> Iterator[Finding]:
        """Ask whether records may be read; that they may be written only a writing would tell."""
        probes = {
            "crm.objects.contacts.read": crm.find_contact(by="id", value=_NOBODYS_ID),
            "crm.objects.deals.read": crm.find_deal(by="id", value=_NOBODYS_ID),
        }
        wrong = {name: each for name, each in probes.items() if each.kind not in _TOLD}
        for name, reply in wrong.items():
            yield _refused("scopes", f"Records cannot be read ({name})", reply)
        if not wrong:
            detail = f"records may be read; {_WRITES} are not tried, a look changes nothing"
            yield _found("scopes", "ok", detail)

    def _properties(self, crm: Crm) -> Iterator[Finding]:
        kinds: tuple[Literal["deal", "contact"], ...] = ("deal", "contact")
        for kind in kinds:
            unique = crm.has_unique_key(kind)
            if isinstance(unique, Reply):
                yield _refused("keys", f"It is not known whether a {kind} has its key", unique)
            elif unique:
                yield _found("keys", "ok", f"the unique property of a {kind} stands")
            else:
                hint = "`leads crm bootstrap` makes it, or says why it cannot be used."
                yield _found("keys", "warning", f"No unique property: {_WITHOUT[kind]}.", hint)


def _found(check: str, state: State, detail: str, hint: str = "") -> Finding:
    return Finding(check=check, state=state, detail=detail, hint=hint)


def _refused(check: str, what: str, reply: Reply) -> Finding:
    state: State = "wrong" if reply.kind in _BREAKS else "unavailable"
    word = reply.reason or str(reply.kind).lower()
    return _found(check, state, f"{what}: {word}.", _HINTS.get(word, "Try again in a minute."))


_TOLD: Final = frozenset((Kind.DONE, Kind.ABSENT))
_WITHOUT: Final = {
    "deal": "a creation in doubt waits for a person (conservative)",
    "contact": "a contact may be made twice",
}
_HINTS: Final = {
    "token_refused": "HUBSPOT_TOKEN is revoked, or of another account: set a new one.",
    "token_expired": "Set HUBSPOT_TOKEN to a token that has not expired.",
    "scopes_missing": "Give the private app the scopes that the readme names.",
    "forbidden": "See what the private app may do in HubSpot's settings.",
    "endpoint_gone": "See HUBSPOT_URL and HUBSPOT_VERSION: nothing answers there.",
    "edge_refused": "See HUBSPOT_URL: what answers there is not HubSpot.",
    "not_sent": "See HUBSPOT_URL, and the network: nothing answers there.",
}

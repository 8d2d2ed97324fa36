"""One visit of the worker to a row: what it was told, what it has learned, what it may do next. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple, Self

from domain.addresses import address
from domain.crm.content import mark
from domain.crm.desired import ACTIVE_STAGES, TERMINAL_STAGES
from domain.crm.replies import Remote, Reply
from domain.crm.sync import CrmSync
from domain.errors import InvalidEvent

Mode = Literal["unique_property", "conservative"]
UNIQUE: Final[Mode] = "unique_property"
CONSERVATIVE: Final[Mode] = "conservative"

Ending = Literal[
    "synced", "deferred", "blocked", "uncertain", "paused", "breaker", "overtaken", "nothing"
]

QUIET: Final = timedelta(seconds=130)
"""After which a request nobody heard of has been done or never will be: longer than the 100 s after
which the edge gives up (research/crm.md §0.3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What the settings and the account say.

    Args:
        stages: the CRM's stage id of each logical stage; what is not configured is missing.
        environment: prefix of the unique key, so that deployments may share an account.
        mode: whether the account has our unique property of deals.
        contact_key: whether it has that of contacts.
        stage_ids: the stages that the pipeline has; None if that is not known.
    """

    stages: Mapping[str, str]
    environment: str = "prod"
    mode: Mode = UNIQUE
    contact_key: bool = True
    stage_ids: frozenset[str] | None = None

    def is_ambiguous(self, stage: str) -> bool:
        """Tell whether a stage has no id, or an id that does not say whether a deal is closed."""
        stage_id = self.stages.get(stage)
        holders = {name for name, each in self.stages.items() if each == stage_id}
        return not stage_id or not (
            holders.isdisjoint(ACTIVE_STAGES) or holders.isdisjoint(TERMINAL_STAGES)
        )


class Fact(NamedTuple):
    """An event to record: its type and what it says beside the session."""

    event_type: str
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What is to be recorded now, all in one commit. With an `ending` the visit is over.

    A deal that a fact links is claimed in the same commit. `reply` is why the account rests
    (paused, breaker).
    """

    facts: tuple[Fact, ...] = ()
    ending: Ending | None = None
    reply: Reply | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request to the account. `step` names what its answer means to the visit.

    `sends` are the properties it writes to a contact or a deal, `restates` those that stand and are
    ours, which it may write again as they are (`content.restated`).
    """

    step: str
    verb: str
    arguments: Mapping[str, Any]
    sends: Mapping[str, str] = field(default_factory=dict)
    restates: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Visit:
    """What a visit knows beside the row: of one revision, the one it began with.

    `now` is the time of its newest step; what was sent in doubt is judged by the time it began.

    `absent` are lookups that found nothing, by step. `contact` and `deal` are what stands there, as
    last read or written; `…_done` that nothing of them is left to write. `reposts` says that a
    creation was begun before this visit, and nobody knows what became of it. `settles` says that
    everything that was sent in doubt has been done by now, or never will be. `contact_made` is the
    id of a contact that the same worker made of the same phone before.
    """

    now: str
    revision: str
    desired: dict[str, Any]
    reposts: bool = False
    settles: bool = False
    ours: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    quarantined: dict[str, str] = field(default_factory=dict)
    contact: Remote | None = None
    contact_done: bool = False
    contact_gone: bool = False
    contact_taken: bool = False
    contact_holder: str = ""
    contact_made: str = ""
    marked: bool = False
    deal: Remote | None = None
    deal_done: bool = False
    deal_taken: bool = False
    deal_holder: str = ""
    deal_moved: bool = False
    associated: bool = False

    @classmethod
    def of(cls, sync: CrmSync, now: str, ours: frozenset[str]) -> Self:
        """Begin a visit; `ours` are marks of values that may have been sent since the shadow."""
        return cls(
            now=now,
            revision=sync.revision,
            desired=sync.desired,
            reposts=bool(sync.creation_started) and not sync.deal_id,
            settles=bool(sync.verify_after) and sync.verify_after <= now,
            ours=set(ours),
        )

    def wanted_contact(self, sync: CrmSync, config: Configuration) -> dict[str, str]:
        """Return what the contact should have; one without anything is named as its deal is."""
        wanted = dict(self.desired["contact"])
        forms = phone_forms(wanted.get("phone", ""))
        if forms and config.contact_key:
            wanted["phone_key"] = f"+{forms[0]}"
        return self._sound("contact", sync, wanted or {"name": self.name(sync)})

    def wanted_deal(self, sync: CrmSync, config: Configuration) -> dict[str, str]:
        """Return what the deal should have, beside its stage."""
        wanted = {"name": self.name(sync), **self.desired["deal"]}
        if config.mode == UNIQUE:
            wanted["key"] = key_of(sync, config)
        return self._sound("deal", sync, wanted)

    def stage_id(self, config: Configuration) -> str:
        """Return the CRM's id of the desired stage."""
        return config.stages[self.desired["stage"]]

    def quarantine(self, owner: str, sync: CrmSync, names: tuple[str, ...]) -> None:
        """Leave properties out from now on, until they have other values."""
        values = {**self.desired[owner], "name": self.name(sync), **self.desired[owner]}
        for name in names:
            path = f"{owner}.{name}"
            self.quarantined[path] = mark(path, values.get(name, ""))

    def _sound(self, owner: str, sync: CrmSync, wanted: dict[str, str]) -> dict[str, str]:
        """Leave out what the CRM refused and has not changed since."""
        known = {**sync.quarantined, **self.quarantined}
        for name, value in list(wanted.items()):
            path = f"{owner}.{name}"
            if known.get(path) == mark(path, value):
                self.quarantined[path] = known[path]
                del wanted[name]
        return wanted

    def name(self, sync: CrmSync) -> str:
        """Return what a deal is called: as its contact, else by the phone, else by the session."""
        contact = self.desired["contact"]
        phone = contact.get("phone", "")
        return contact.get("name") or (f"+{phone}" if phone else f"Lead {sync.session_id[-8:]}")


def key_of(sync: CrmSync, config: Configuration) -> str:
    """Return the unique value of a session's deal: that of its creation, whatever is set since."""
    if sync.create_key and (sync.creation_started or sync.deal_id):
        return sync.create_key
    suffix = f"#{sync.key_suffix}" if sync.key_suffix > 1 else ""
    return base_key(sync.session_id, config) + suffix


def base_key(session_id: str, config: Configuration) -> str:
    """Return the first unique value of a session's deals; those after it have a number behind."""
    return f"{config.environment}:{session_id}".lower()


def is_key_of(key: str, session_id: str, config: Configuration) -> bool:
    """Tell whether a unique value is one of a session's: the first, or one of those after it."""
    first, _, number = key.partition("#")
    return first == base_key(session_id, config) and (not number or number.isdecimal())


def phone_forms(phone: str) -> tuple[str, ...]:
    """Return the digits of a phone in every form it is met in, the canonical one first."""
    try:
        # Without the plus: a channel writes a number with its country code.
        found = address("whatsapp", phone)
    except InvalidEvent:
        return ()
    return (found.identifier, *found.aliases) if found.identifier.isdigit() else ()


def email_of(desired: Mapping[str, str]) -> str:
    """Return the e-mail address a contact can be found by; "" if it has none."""
    try:
        return address("email", desired.get("email", "")).identifier
    except InvalidEvent:
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer, and all it is judged by."""

    sync: CrmSync
    visit: Visit
    config: Configuration
    request: Request
    reply: Reply

    @property
    def told(self) -> dict[str, Any]:
        """What an event says of the answer; what it does not tell is left out."""
        reply = self.reply
        told = {
            "http_status": reply.status,
            "category": reply.category,
            "correlation": reply.correlation,
            "detail": reply.detail,
        }
        return {name: value for name, value in told.items() if value}

"""What a CRM may answer to one request, in our words: the output of every CRM adapter."""

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """What an answer means for the request it answers. Source: research/crm.md §4.4.

    DONE: it was done, `record` has what it is about. ABSENT: there is no such record. CONFLICT: the
    unique value is another record's (`holder_id` if told). NOT_SENT: it certainly never arrived.
    AMBIGUOUS: it may have been done. TRANSIENT: it was not done, or does no harm twice; later.
    PAUSED: refused for a time, for the whole account; not done. BREAKER: the account cannot be used
    until somebody acts; not done. INVALID: properties were refused (`invalid`), nothing was done.
    REFUSED: it will never be done like this (`reason`).
    """

    DONE = "DONE"
    ABSENT = "ABSENT"
    CONFLICT = "CONFLICT"
    NOT_SENT = "NOT_SENT"
    AMBIGUOUS = "AMBIGUOUS"
    TRANSIENT = "TRANSIENT"
    PAUSED = "PAUSED"
    BREAKER = "BREAKER"
    INVALID = "INVALID"
    REFUSED = "REFUSED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """A record of the CRM. `properties` have our logical names, and text; absent ones are missing.

    Contact: phone, phone_key, name, email. Deal: name, stage (the CRM's stage id), key, notes,
    segment, intent. `contact_ids` are those a deal is associated with, where they were asked for.
    """

    id: str
    properties: dict[str, str] = field(default_factory=dict)
    archived: bool = False
    contact_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer. `reason` is a word; `detail` is sanitised, ≤200 characters, without values.

    `records` are all that were found by a search. `wait_s` is how long the CRM asked to be left
    alone (PAUSED, TRANSIENT), None if it did not say. `mode_hint` never decides anything alone.
    """

    kind: Kind
    record: Remote | None = None
    records: tuple[Remote, ...] = ()
    reason: str = ""
    status: int | None = None
    category: str | None = None
    correlation: str | None = None
    detail: str | None = None
    wait_s: int | None = None
    invalid: tuple[str, ...] = ()
    holder_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The stages there are: the ids, in their order. `reply` says why there is none."""

    stage_ids: tuple[str, ...] = ()
    reply: Reply | None = None

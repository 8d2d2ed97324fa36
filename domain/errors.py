"""The error tree: four kinds, told apart by what the caller may do next.

LeadError
├─ Rejected       the request itself is wrong; repeating it will not help
│  ├─ InvalidEvent, MalformedBody, UnsupportedMediaType, LimitExceeded
│  ├─ Unauthenticated, Forbidden, NotFound
├─ Conflict       somebody else was first; look at what stands, then decide again
│  └─ IdempotencyConflict
├─ Unavailable    nothing happened; the same request may be sent again
└─ Uncertain      something may have happened; ask the receipt before sending again

Kinds are translated into HTTP statuses, queue dispositions and exit codes by one table in
`handlers.entrypoints.outcomes`; no transport number appears in this package.
"""

import re
from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple

_IDENTIFIER: Final = re.compile(r"(?!.*[0-9]{4})[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)


class FieldError(NamedTuple):
    """One thing that is wrong with one field.

    `pointer` is a JSON pointer (RFC 6901) into what the sender wrote. Neither it nor `detail`
    ever holds a value the sender wrote.
    """

    pointer: str
    detail: str


def shown_name(name: str) -> str:
    """Return the name of a field nobody declared as errors and warnings may show it.

    A sender who builds names from data puts people into them ("cpf 529…"), so what does not look
    like an identifier, or holds four digits in a row, is shown as `*`.
    """
    return name if _IDENTIFIER.fullmatch(name) else "*"


class LeadError(Exception):
    """Base of every error this service raises on purpose.

    Args:
        detail: what is wrong, without any value from the input.
        hint: what to do next, one sentence.
        fields: the fields concerned, in the order they were found.
    """

    code: ClassVar[str] = "error"
    title: ClassVar[str] = "Error"

    def __init__(self, detail: str, *, hint: str = "", fields: Sequence[FieldError] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint
        self.fields = tuple(fields)

    def __str__(self) -> str:
        where = "; ".join(f"{pointer or '/'}: {detail}" for pointer, detail in self.fields)
        return " ".join(part for part in (self.detail, where and f"[{where}]", self.hint) if part)


class Rejected(LeadError):
    """The request is wrong; sending it again changes nothing."""

    code = "rejected"
    title = "The request cannot be accepted"


class InvalidEvent(Rejected):
    """An envelope or a payload breaks a rule; `fields` says where."""

    code = "invalid-event"
    title = "The event is not valid"


class MalformedBody(Rejected):
    """The bytes are not the document they claim to be."""

    code = "malformed-body"
    title = "The body cannot be read"


class UnsupportedMediaType(Rejected):
    """The media type is none that this operation reads."""

    code = "unsupported-media-type"
    title = "The media type is not supported"


class LimitExceeded(Rejected):
    """Something is larger than a documented limit."""

    code = "limit-exceeded"
    title = "A limit is exceeded"


class Unauthenticated(Rejected):
    """No credential, or one that is unknown, revoked or expired."""

    code = "unauthenticated"
    title = "A valid API key is required"


class Forbidden(Rejected):
    """The credential is valid and does not permit this."""

    code = "forbidden"
    title = "The API key does not permit this"


class NotFound(Rejected):
    """Missing, or another organization's: the two cannot be told apart."""

    code = "not-found"
    title = "Not found"


class Conflict(LeadError):
    """What stands contradicts the request."""

    code = "conflict"
    title = "The request conflicts with what is stored"


class IdempotencyConflict(Conflict):
    """A (source, externalEventId) already names an event with other content, which stands."""

    code = "idempotency-conflict"
    title = "The externalEventId is taken by other content"

    def __init__(self, *, event_id: str, lead: str, sequence: int) -> None:
        super().__init__(
            "This source and externalEventId already name an event with other content.",
            hint="The first event stands. Send other content under an externalEventId of its own.",
        )
        self.event_id = event_id
        self.lead = lead
        self.sequence = sequence


class Unavailable(LeadError):
    """Nothing happened. The same request is safe to send again after `retry_after_s` seconds."""

    code = "unavailable"
    title = "The store cannot answer now"

    def __init__(self, detail: str, *, hint: str = "", retry_after_s: int = 1) -> None:
        super().__init__(detail, hint=hint or "Send the same request again; a retry is safe.")
        self.retry_after_s = retry_after_s


class Outage(Unavailable):
    """The store is not there: it was waited for as long as one request may wait.

    Trying again inside the request only makes its caller wait longer for the same answer.
    """

    title = "The store is out of service"


class Uncertain(LeadError):
    """The outcome is unknown: it may have happened. Receipts and heads tell the truth."""

    code = "uncertain"
    title = "The outcome is not known"


class CorruptEvent(Conflict):
    """A stored event cannot be read back; it is named, and other leads are not affected."""

    code = "corrupt-event"
    title = "A stored event cannot be read"

    def __init__(self, lead: str, sequence: int, reason: str) -> None:
        super().__init__(
            f"Event {sequence} of this lead cannot be read: {reason}.",
            hint="Restore the stored bytes from a backup; nothing here rewrites events.",
        )
        self.lead = lead
        self.sequence = sequence


class ViewBroken(Unavailable):
    """A projection cannot read an event. The event is safe; the view waits for the fix."""

    code = "view-broken"
    title = "A view cannot be built"

    def __init__(self, lead: str, sequence: int, reason: str) -> None:
        super().__init__(
            f"A projection fails on event {sequence} of this lead ({reason}).",
            hint="The event is stored. Fix the projection, then run `leads rebuild`.",
        )
        self.lead = lead
        self.sequence = sequence

"""The quarantine: what could not be translated, kept as it came until an adapter can read it."""

import json
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final, NamedTuple, Protocol

from domain import instants, keys, reading
from domain.errors import FieldError, LeadError, LimitExceeded, NotFound
from domain.ports.effects import IdFactory
from domain.ports.storage import StateTable
from domain.records import Absent, Page, Row, Value
from handlers.ingest import Item, Sender

KEPT_FOR: Final = timedelta(days=30)

MAX_RAW_BYTES: Final = 350 * 1000
"""Of what is kept, compressed. Below DynamoDB's 400 KB an item, with room for the reasons."""

_ID: Final = re.compile(r"[0-9A-Za-z-]{1,64}", re.ASCII)

_STANDS: Final = ("created", "duplicate")
"""What an event is answered that is in the log."""


class Reason(NamedTuple):
    """Why something could not be translated. Holds no value of it."""

    code: str
    detail: str
    fields: tuple[FieldError, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """One thing kept. Instants are fixed-width UTC; after `expires_at` it is gone.

    `size` is that of the raw bytes. Listings leave `raw` out.
    """

    quarantine_id: str
    received_at: str
    expires_at: str
    adapter: str
    reason: Reason
    size: int
    raw: bytes | None = None


class Door(Protocol):
    """Where documents come in: `handlers.ingest.Ingest`."""

    def validate(self, documents: Iterable[Any], sender: Sender) -> list[Item]:
        """Answer as `batch` would, and write nothing."""
        ...

    def batch(self, documents: Iterable[Any], sender: Sender) -> list[Item]:
        """Record documents, each answered for itself."""
        ...


class Redriven(NamedTuple):
    """What reading one thing again changes: why it failed, and what becomes of it now.

    `released`: it stands in the log, and the quarantine holds it no more.
    """

    quarantine_id: str
    before: Reason
    after: Item
    released: bool


@dataclass(frozen=True, slots=True)
class Quarantine:
    """What every organization has in quarantine. `now` is an argument: the store may expire late."""

    table: StateTable

    def keep(
        self,
        organization_id: str,
        raw: bytes,
        reason: LeadError,
        adapter: str,
        *,
        now: str,
        new_id: IdFactory,
    ) -> str:
        """Keep a thing as it came and return its id.

        Raises:
            LimitExceeded: it is larger than `MAX_RAW_BYTES` after compression.
        """
        compressed = zlib.compress(raw)
        if len(compressed) > MAX_RAW_BYTES:
            message = f"A document in quarantine has at most {MAX_RAW_BYTES} bytes compressed."
            raise LimitExceeded(message, hint="Send it again in smaller parts.")
        quarantine_id = new_id()
        expires_at = instants.shift(now, KEPT_FOR)
        row = Row(
            key=keys.quarantine(organization_id, quarantine_id),
            attributes={
                "organizationId": organization_id,
                "receivedAt": now,
                "expiresAt": expires_at,
                "adapter": adapter,
                "code": reason.code,
                "detail": reason.detail,
                "fields": json.dumps(reason.fields),
                "size": len(raw),
                "raw": compressed,
            },
            ttl=int(instants.to_datetime(expires_at).timestamp()),
        )
        self.table.put(row, Absent())
        return quarantine_id

    def list(
        self, organization_id: str, *, now: str, limit: int = 100, cursor: str | None = None
    ) -> Page[Quarantined]:
        """List an organization's quarantine, oldest first. A page may hold fewer than `limit`."""
        partition = keys.quarantines(organization_id)
        page = self.table.query(partition, limit=limit, cursor=cursor)
        kept = [_quarantined(row) for row in page.items]
        return Page([each for each in kept if each.expires_at > now], page.cursor)

    def show(self, organization_id: str, quarantine_id: str, *, now: str) -> Quarantined:
        """Return one thing with its raw bytes.

        Raises:
            NotFound: the organization has no such thing, or has it no more.
        """
        key = keys.quarantine(organization_id, quarantine_id)
        row = self.table.get(key) if _ID.fullmatch(quarantine_id) else None
        found = None if row is None else _quarantined(row)
        if row is None or found is None or found.expires_at <= now:
            hint = f"List the quarantine; it keeps things for {KEPT_FOR.days} days."
            raise NotFound("There is no such thing in quarantine.", hint=hint)
        return replace(found, raw=zlib.decompress(_bytes(row.attributes["raw"])))

    def redrive(
        self, sender: Sender, quarantine_id: str, door: Door, *, now: str, apply: bool = False
    ) -> Redriven:
        """Read one thing again with the adapters of today, and say what changes.

        Nothing is written unless `apply` is set and it can be recorded now; then it is, and leaves
        the quarantine. A crash between the two costs nothing: recording it again is a duplicate.

        Raises:
            NotFound: see `show`.
        """
        kept = self.show(sender.organization_id, quarantine_id, now=now)
        document = _document(kept.raw or b"")
        (after,) = door.validate([document], sender)
        released = False
        if apply and after.status in _STANDS:
            (after,) = door.batch([document], sender)
            released = after.status in _STANDS
        if released:
            self.table.delete(keys.quarantine(sender.organization_id, quarantine_id))
        return Redriven(quarantine_id, kept.reason, after, released)


def _document(raw: bytes) -> Any:
    """Return the document, or the error that says why there is none: a door takes either."""
    try:
        return reading.parse(raw)
    except LeadError as error:
        return error


def _quarantined(row: Row) -> Quarantined:
    attributes = row.attributes
    fields = tuple(FieldError(*each) for each in json.loads(str(attributes["fields"])))
    return Quarantined(
        quarantine_id=row.key.sk,
        received_at=str(attributes["receivedAt"]),
        expires_at=str(attributes["expiresAt"]),
        adapter=str(attributes["adapter"]),
        reason=Reason(str(attributes["code"]), str(attributes["detail"]), fields),
        size=int(attributes["size"]),
    )


def _bytes(value: Value) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()

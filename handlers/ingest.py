"""Taking events in: translate, check, append, and answer each of them for itself."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from domain import reading
from domain.acceptance import ALL_SOURCES, Accepted, accept
from domain.draft import Translator
from domain.errors import (
    FieldError,
    IdempotencyConflict,
    InvalidEvent,
    LeadError,
    Unavailable,
    Uncertain,
)
from domain.event import NewEvent
from domain.outcomes import Appended, Failed, Outcome, outcome_of
from domain.ports.effects import Clock, IdFactory
from projections.lead_log import LeadLog

Status = Literal["created", "duplicate", "conflict", "rejected", "retry"]

Keep = Callable[[str, bytes, LeadError, str], str]
"""(organization, raw, why, form) → the id under which a thing is quarantined."""

_HINT: Final = "Correct the fields named and send the event again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who sends: the organization, and the sources the credential may report for."""

    organization_id: str
    sources: Sequence[str] = ALL_SOURCES


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What became of one event.

    `retry`: nothing was stored and sending it again is safe. `error` says why for conflict,
    rejected and retry. `quarantine_id` names the raw copy kept of what could not be translated.
    """

    index: int
    status: Status
    external_event_id: str | None = None
    event_id: str | None = None
    lead: str | None = None
    sequence: int | None = None
    mapped: bool = True
    warnings: tuple[str, ...] = ()
    error: LeadError | None = None
    quarantine_id: str | None = None


@dataclass(frozen=True, slots=True)
class Ingest:
    """The door of the log. One wrong item never touches the others of its batch."""

    log: LeadLog
    translators: Sequence[Translator]
    keep: Keep
    now: Clock
    new_id: IdFactory

    def one(self, document: Any, sender: Sender, *, idempotency_key: str | None = None) -> Item:
        """Record one event; `idempotency_key` stands in for a missing externalEventId."""
        return self._all([document], sender, idempotency_key, self.log.append)[0]

    def batch(self, documents: Iterable[Any], sender: Sender) -> list[Item]:
        """Record many events, in order, each answered for itself.

        A document that could not even be read is given as the `LeadError` that says so.
        """
        return self._all(documents, sender, None, self.log.append)

    def validate(self, documents: Iterable[Any], sender: Sender) -> list[Item]:
        """Return the answers a batch would get now. Nothing is written, not even quarantined."""
        dry = Ingest(self.log, self.translators, _keep_nothing, self.now, self.new_id)
        return dry._all(documents, sender, None, self._expected)

    def accept(self, document: Any, sender: Sender, idempotency_key: str | None = None) -> Accepted:
        """Translate and check one document.

        Raises:
            InvalidEvent, Forbidden, LimitExceeded: see `domain.acceptance.accept`.
        """
        if isinstance(document, LeadError):
            raise document
        if not isinstance(document, dict):
            problem = FieldError("", "must be a JSON object")
            raise InvalidEvent("The event is not valid.", hint=_HINT, fields=[problem])
        reading.check(document)
        draft = self._translator(document).translate(document)
        return accept(
            draft,
            organization_id=sender.organization_id,
            now=self.now(),
            new_id=self.new_id,
            permitted_sources=sender.sources,
            idempotency_key=idempotency_key,
        )

    def _all(
        self,
        documents: Iterable[Any],
        sender: Sender,
        idempotency_key: str | None,
        append: Callable[[Sequence[NewEvent]], list[Outcome]],
    ) -> list[Item]:
        items: dict[int, Item] = {}
        accepted: list[tuple[int, Accepted]] = []
        for index, document in enumerate(documents):
            try:
                accepted.append((index, self.accept(document, sender, idempotency_key)))
            except LeadError as error:
                items[index] = self._refused(index, document, error, sender)
        outcomes = append([each.event for _, each in accepted])
        for (index, each), outcome in zip(accepted, outcomes, strict=True):
            items[index] = _item(index, each, outcome)
        return [items[index] for index in sorted(items)]

    def _refused(self, index: int, document: Any, error: LeadError, sender: Sender) -> Item:
        quarantine_id = None
        if isinstance(document, dict) and isinstance(error, InvalidEvent):
            form = self._translator(document)
            if form.keeps_raw:
                raw = json.dumps(document).encode()
                quarantine_id = self.keep(sender.organization_id, raw, error, form.name) or None
        return Item(index=index, status="rejected", error=error, quarantine_id=quarantine_id)

    def _translator(self, document: dict[str, Any]) -> Translator:
        return next(
            (each for each in self.translators if each.recognises(document)), self.translators[-1]
        )

    def _expected(self, facts: Sequence[NewEvent]) -> list[Outcome]:
        """Return what an append would answer now, from the receipts alone."""
        outcomes: list[Outcome] = []
        for fact in facts:
            receipt = self.log.store.receipt(fact.receipt_key)
            outcomes.append(
                Appended("", "", 0) if receipt is None else outcome_of(receipt, fact, nonce="")
            )
        return outcomes


def _item(index: int, accepted: Accepted, outcome: Outcome) -> Item:
    fields: dict[str, Any] = {
        "index": index,
        "external_event_id": accepted.event.external_event_id,
        "mapped": accepted.mapped,
        "warnings": accepted.warnings,
    }
    if not isinstance(outcome, Failed):
        status: Status = "created" if isinstance(outcome, Appended) else "duplicate"
        return Item(
            status=status,
            event_id=outcome.event_id or None,
            lead=outcome.lead or None,
            sequence=outcome.sequence or None,
            **fields,
        )
    error = outcome.error
    if isinstance(error, IdempotencyConflict):
        return Item(
            status="conflict",
            event_id=error.event_id,
            lead=error.lead,
            sequence=error.sequence,
            error=error,
            **fields,
        )
    retry = isinstance(error, Unavailable | Uncertain)
    return Item(status="retry" if retry else "rejected", error=error, **fields)


def _keep_nothing(_organization: str, _raw: bytes, _error: LeadError, _form: str) -> str:
    return ""

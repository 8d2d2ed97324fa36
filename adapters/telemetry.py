"""Logging by allow-list: one JSON object a line on stderr, and nothing personal in it.

A field that is not in `LOGGED` is not written; its name is, under `withheld`. Leads that callers
named are written as keyed hashes, exceptions as places in code: their messages may hold values.
"""

import hashlib
import logging
import re
import secrets
import sys
import traceback
from collections.abc import MutableMapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, TextIO

from domain.errors import LeadError, shown_name

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

LOGGED: Final = frozenset(
    (
        *("event", "level", "timestamp", "logger", "exception", "request_id"),
        *("lead", "sequence", "version", "projected", "event_id", "event_type", "schema_version"),
        *(
            "source_type",
            "status",
            "code",
            "method",
            "route",
            "duration_ms",
            "attempt",
            "retry_in_s",
        ),
        *("created", "duplicates", "conflicts", "rejected", "retried", "count", "leads", "events"),
        *("rows", "bytes", "adapter", "quarantine_id", "key_id", "projection", "fold_version"),
        *("store", "host", "port", "variable", "workers", "kind", "lag_s"),
    )
)
"""What may be written: closed words, numbers and identifiers that the service made itself."""

_OUR_ID: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII
)
_WORD: Final = re.compile(r"[A-Za-z0-9_.:/{}*#-]{1,200}", re.ASCII)
_EVENT_NAME: Final = re.compile(r"[a-z][a-z0-9_.]{0,79}", re.ASCII)
_MAX_FRAMES: Final = 30

Fields = MutableMapping[str, Any]


class LeadReference:
    """Names leads in logs: ids that we drew as they are, others as a hash only we can compute."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = (key or secrets.token_bytes(32))[: hashlib.blake2b.MAX_KEY_SIZE]

    def __call__(self, lead: str) -> str:
        """Return the reference of a lead: the same in every line written under one key."""
        if _OUR_ID.fullmatch(lead):
            return lead
        data = lead.encode(errors="surrogatepass")
        return "lead:" + hashlib.blake2b(data, key=self._key, digest_size=8).hexdigest()


def configure(
    *, level: str = "INFO", key: bytes | None = None, stream: TextIO | None = None
) -> None:
    """Set up logging for this process; before it, nothing but bare warnings is written.

    Args:
        level: the lowest level that is written.
        key: of `LeadReference`. Without one each process has its own, and its references cannot be
            compared with those of another.
        stream: where lines go, stderr unless told otherwise.
    """
    import structlog  # noqa: PLC0415 - costs a command that logs nothing a third of its start

    out = stream or sys.stderr
    lowest = logging.getLevelNamesMapping()[level]
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            Redaction(LeadReference(key)),
            structlog.processors.JSONRenderer(sort_keys=True, ensure_ascii=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(lowest),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(handlers=[_Libraries()], level=max(lowest, logging.WARNING), force=True)


class Redaction:
    """A structlog processor that lets through what `LOGGED` lists, and says what it did not."""

    def __init__(self, reference: LeadReference) -> None:
        self._reference = reference

    def __call__(self, _logger: Any, _method: str, fields: Fields) -> Fields:
        """Return the fields that may be written."""
        cause = fields.pop("exc_info", None)
        if cause:
            fields["exception"] = describe(cause if isinstance(cause, BaseException) else None)
        kept = {name: value for name, value in fields.items() if self._may_stand(name, value)}
        if isinstance(kept.get("lead"), str):
            kept["lead"] = self._reference(kept["lead"])
        withheld = sorted({shown_name(name) for name in fields if name not in kept})
        return {**kept, "withheld": withheld} if withheld else kept

    @staticmethod
    def _may_stand(name: str, value: Any) -> bool:
        if name not in LOGGED:
            return False
        if name == "event":
            return isinstance(value, str) and _EVENT_NAME.fullmatch(value) is not None
        if name == "exception":
            return isinstance(value, dict)
        if isinstance(value, str):
            return _WORD.fullmatch(value) is not None
        return value is None or isinstance(value, bool | int | float)


def describe(error: BaseException | None = None) -> dict[str, Any]:
    """Return what may be told of an exception, the current one unless another is given.

    Its class, what our own errors say (they hold no values), the places in code it passed, and the
    same of its causes. The message of any other exception is left out: it may quote its input.
    """
    error = error or sys.exception()
    if error is None:
        return {}
    frames = traceback.extract_tb(error.__traceback__)[-_MAX_FRAMES:]
    told: dict[str, Any] = {
        "type": type(error).__qualname__,
        "at": [f"{PurePath(each.filename).name}:{each.lineno} {each.name}" for each in frames],
    }
    if isinstance(error, LeadError):
        told["detail"] = error.detail
        told["fields"] = [pointer for pointer, _ in error.fields]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and cause is not error:
        told["cause"] = describe(cause)
    return told


class _Libraries(logging.Handler):
    """Passes on that a library complained, without its words: they may quote a request."""

    def emit(self, record: logging.LogRecord) -> None:
        import structlog  # noqa: PLC0415

        logger: FilteringBoundLogger = structlog.get_logger()
        cause = record.exc_info[1] if record.exc_info else None
        logger.log(record.levelno, "library_complained", logger=record.name, exc_info=cause or None)

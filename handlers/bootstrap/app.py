"""An application over the log: what every entry point starts with."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_bytes

from eventsourcing.utils import Environment

from adapters.clock import full_jitter, new_id, utc_now
from adapters.sources import SOURCES
from adapters.telemetry import configure
from domain.errors import LeadError
from domain.ports.effects import Clock, IdFactory
from domain.ports.storage import StateTable
from handlers.api_keys import ApiKeys
from handlers.conversations.receiving import Keep
from handlers.ingest import Ingest
from handlers.maintenance import Maintenance
from handlers.quarantine import Quarantine
from handlers.reads import Reads
from handlers.resources import Resources
from handlers.settings import Settings
from projections.committing import Edition
from projections.lead_log import LeadLog

_MODULES = {"sqlite": "adapters.sqlite", "dynamodb": "adapters.dynamodb"}


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """One deployment, wired: its settings, its log, and the use cases over it."""

    settings: Settings
    log: LeadLog
    table: StateTable
    ingest: Ingest
    reads: Reads
    maintenance: Maintenance
    api_keys: ApiKeys
    quarantine: Quarantine
    resources: Resources
    now: Clock
    new_id: IdFactory

    def close(self) -> None:
        """Let go of the store. Nothing that was acknowledged depends on it."""
        self.log.close()


def build(
    settings: Settings,
    *,
    now: Clock = utc_now,
    ids: IdFactory = new_id,
    pause: Callable[[int], None] = full_jitter,
    edition: Edition | None = None,
    log: LeadLog | None = None,
) -> App:
    """Return the application these settings describe; `log` stands in for the one they name.

    Raises:
        Unavailable: the store cannot be opened.
    """
    environment = {"PERSISTENCE_MODULE": _MODULES[settings.store], **settings.variables()}
    log = log or LeadLog(environment, new_id=ids, pause=pause, edition=edition)
    quarantine = Quarantine(log.table)

    keep = keeping(quarantine, now, ids)
    return App(
        settings=settings,
        log=log,
        table=log.table,
        ingest=Ingest(log, SOURCES, keep, now, ids),
        reads=Reads(log, now, settings.timezone),
        maintenance=Maintenance(log),
        api_keys=ApiKeys(log.table, now, token_bytes),
        quarantine=quarantine,
        resources=Resources(log.table, now),
        now=now,
        new_id=ids,
    )


def clock() -> str:
    """Return the time, for who needs it before there is an application."""
    return utc_now()


def start_logging(settings: Settings) -> None:
    """Log as the settings say, by allow-list, on stderr."""
    key = settings.log_key
    configure(
        level=settings.log_level, key=None if key is None else key.get_secret_value().encode()
    )


def create_tables(settings: Settings) -> list[str]:
    """Make the DynamoDB tables that are missing and return their names.

    Raises:
        Rejected, Unavailable: DynamoDB refuses, or cannot be reached.
    """
    from adapters.dynamodb import Factory  # noqa: PLC0415 - its construction loads boto3

    factory = Factory(Environment(env={**os.environ, **settings.variables()}))
    try:
        return factory.create_tables()
    finally:
        factory.close()


def keeping(quarantine: Quarantine, now: Clock, ids: IdFactory) -> Keep:
    """Return how what cannot be translated is kept."""

    def keep(organization_id: str, raw: bytes, error: LeadError, form: str) -> str:
        return quarantine.keep(organization_id, raw, error, form, now=now(), new_id=ids)

    return keep

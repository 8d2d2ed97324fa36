"""The settings of every entry point: where things are kept, and how the service runs."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from handlers.conversation_settings import ConversationSettings
from handlers.crm_settings import CrmSettings
from handlers.section import FILE, Section, Shown, read_section, variable

__all__ = [
    "FILE",
    "ConversationSettings",
    "CrmSettings",
    "Settings",
    "Shown",
    "read_conversation_settings",
    "read_crm_settings",
    "read_settings",
    "variable",
]


def _zone(name: str) -> str:
    from zoneinfo import ZoneInfo  # noqa: PLC0415

    try:
        ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        message = "must be the name of a time zone, for example America/Sao_Paulo"
        raise ValueError(message) from None
    return name


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


_Table = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{3,255}$")]
_Level = Literal["DEBUG", "INFO", "WARNING", "ERROR"]


class Settings(Section):
    """See `read_settings`. Each field is the variable `LEADS_` and its name in capitals."""

    store: Annotated[Literal["sqlite", "dynamodb"], BeforeValidator(_lower)] = Field(
        default="sqlite", description="Where everything is kept."
    )
    db: Path = Field(default=Path("leads.db"), description="The file of the SQLite store.")
    sqlite_synchronous: Annotated[Literal["FULL", "NORMAL"], BeforeValidator(_upper)] = Field(
        default="FULL", description="FULL survives a power cut; NORMAL may lose the last commits."
    )
    sqlite_busy_ms: int = Field(
        default=5000, ge=0, le=600_000, description="How long to wait for another process's write."
    )
    dynamodb_table: _Table = Field(
        default="gogenetic-agent-dev", description="The DynamoDB table of views and records."
    )
    events_table: _Table = Field(
        default="lead-events-dev", description="The DynamoDB table of the log."
    )
    dynamodb_workers: int = Field(
        default=16, ge=1, le=256, description="Commits of one batch written beside each other."
    )
    dynamodb_validate: bool = Field(
        default=False, description="Check requests before they are sent; for tests."
    )
    settle_seconds: float = Field(
        default=2.0, ge=0, le=60, description="Until a DynamoDB commit is taken for visible."
    )
    timezone: Annotated[str, AfterValidator(_zone)] = Field(
        default="America/Sao_Paulo", description="What days and midnights mean."
    )
    host: str = Field(default="127.0.0.1", min_length=1, description="Where the API listens.")
    port: int = Field(default=8000, ge=0, le=65535, description="0 takes a free port.")
    auth: Annotated[Literal["required", "open"], BeforeValidator(_lower)] = Field(
        default="required", description="Whether the API asks for a key; `open` is for one's desk."
    )
    worker_threads: int = Field(
        default=16, ge=1, le=256, description="Requests the API works on at the same time."
    )
    log_level: Annotated[_Level, BeforeValidator(_upper)] = Field(
        default="INFO", description="The lowest level that is logged."
    )
    log_key: SecretStr | None = Field(
        default=None, description="Makes the lead references of several processes comparable."
    )


def read_settings(
    environ: Mapping[str, str] | None = None,
    *,
    file: Path = FILE,
    also_known: Collection[str] = (),
    **flags: Any,
) -> Settings:
    """Return the settings; see `read_section`."""
    return read_section(Settings, environ, file=file, also_known=also_known, **flags)


def read_conversation_settings(
    environ: Mapping[str, str] | None = None, *, file: Path = FILE, **flags: Any
) -> ConversationSettings:
    """Return the settings of conversations; see `read_section`."""
    return read_section(ConversationSettings, environ, file=file, **flags)


def read_crm_settings(
    environ: Mapping[str, str] | None = None, *, file: Path = FILE, **flags: Any
) -> CrmSettings:
    """Return the settings of the CRM's mirror; see `read_section`."""
    return read_section(CrmSettings, environ, file=file, **flags)

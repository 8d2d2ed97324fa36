"""The composition root: settings in, a wired application out. The only place that names adapters."""

from typing import TYPE_CHECKING, Any

from handlers.bootstrap.app import App, build, clock, create_tables, start_logging
from handlers.bootstrap.crm import build_crm, open_account

if TYPE_CHECKING:
    from handlers.bootstrap.talks import build_talks

__all__ = [
    "App",
    "build",
    "build_crm",
    "build_talks",
    "clock",
    "create_tables",
    "open_account",
    "start_logging",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Load what conversations need for who asks for it; the CRM's worker does without."""
        if name != "build_talks":
            raise AttributeError(name)
        from handlers.bootstrap.talks import build_talks  # noqa: PLC0415

        return build_talks

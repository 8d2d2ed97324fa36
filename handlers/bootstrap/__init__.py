"""The composition root: settings in, a wired application out. The only place that names adapters."""

from handlers.bootstrap.app import App, build, clock, create_tables, start_logging
from handlers.bootstrap.crm import build_crm, open_account
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

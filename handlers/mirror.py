"""What the CRM's mirror needs, wired, and the loop that works on it where a process is served."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from domain.errors import LeadError
from domain.ports.effects import Crm
from handlers.crm.control import AccountControl
from handlers.crm.tally import Tally
from handlers.crm.worker import CrmSyncProcessor
from handlers.crm_settings import CrmSettings

EVERY_S: Final = 60.0
"""Between two runs (seed 001)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """The use cases of the CRM's mirror. Without a token there is no account and nobody works."""

    settings: CrmSettings
    organizations: tuple[str, ...]
    control: AccountControl
    crm: Crm | None
    processor: CrmSyncProcessor | None
    release: Callable[[], None]
    tally: Tally = field(default_factory=Tally)

    def close(self) -> None:
        """Let go of the account's connections."""
        self.release()

    def run_until(self, stop: threading.Event, every_s: float = EVERY_S) -> None:
        """Work on what is due now and every minute, until `stop` is set."""
        import structlog  # noqa: PLC0415 - costs a command that logs nothing a third of its start

        while self.processor is not None and not stop.is_set():
            try:
                self.tally.add(self.processor.run(), self.control.now())
            except LeadError as error:
                structlog.get_logger().warning("crm_sync_run_failed", code=error.code)
            except Exception:  # noqa: BLE001 - a bug in one run must not end the runs to come
                structlog.get_logger().exception("crm_sync_run_failed")
            if stop.wait(every_s):
                return

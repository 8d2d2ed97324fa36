"""The CRM mirror's worker as a function: every minute it sends what is due, and tells how it stands."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import structlog

from domain.errors import FieldError, LeadError, Rejected
from handlers.bootstrap import App, build, build_crm, start_logging
from handlers.crm.metrics import Totals, of_account, of_confirmed, of_runs, of_standing
from handlers.crm.standing import look
from handlers.crm.worker import BUDGET_S, RunReport
from handlers.entrypoints.lambdas.emission import emit, function_name
from handlers.mirror import Mirror
from handlers.settings import read_crm_settings, read_settings


class CrmSyncFailed(Exception):
    """A run did not come to its end. Says nothing: Lambda logs the words of an error."""


class Container(NamedTuple):
    """One deployment's mirror, wired."""

    app: App
    mirror: Mirror


_built: Final[list[Container]] = []


def lambda_handler(_event: Mapping[str, object], context: object) -> dict[str, int]:
    """Work on what is due for seventy seconds and return how often each thing became of a row.

    Raises:
        CrmSyncFailed: nothing is known of the run. Lambda counts it, which an alarm stands on.
    """
    try:
        return _run(function_name(context, "leads-crm"))
    except LeadError as error:
        structlog.get_logger().warning("crm_sync_worker_failed", code=error.code)
    except Exception:  # noqa: BLE001 - see above
        structlog.get_logger().exception("crm_sync_worker_failed")
    raise CrmSyncFailed


def close_all() -> None:
    """Close what was built; the next call builds anew."""
    while _built:
        own = _built.pop()
        own.mirror.close()
        own.app.close()


def _run(named: str) -> dict[str, int]:
    mirror = _mirror()
    report = RunReport(stopped="disabled")
    if mirror.processor is not None:
        report = mirror.processor.run(max_seconds=BUDGET_S)
    did = Totals()
    did.add(report)
    stands = look(mirror.control, mirror.organizations)
    now = [*of_standing(stands), *of_account(mirror.crm)]
    measures = [*of_confirmed(report), *of_runs(did), *now]
    emit(measures, mirror.settings.crm_metrics_namespace, named)
    structlog.get_logger().info(
        "crm_sync_run_done",
        rows=report.rows,
        count=report.endings["synced"],
        kind=report.stopped or "done",
        duration_ms=round(report.took_s * 1000),
    )
    return dict(+report.endings)


def _mirror() -> Mirror:
    """Return the mirror of this container, the same at every call."""
    if not _built:
        _built.append(_build())
    return _built[0].mirror


def _build() -> Container:
    """Build a mirror from the settings of HubSpot and of the store, and no other.

    Raises:
        Rejected, Unavailable: the environment does not describe a worker that can start.
    """
    settings = read_settings()
    start_logging(settings)
    mirroring = read_crm_settings()
    if mirroring.hubspot_enabled and mirroring.hubspot_token is None:
        raise Rejected(
            "The mirror has no token.",
            hint="Set HUBSPOT_TOKEN, or HUBSPOT_ENABLED=false to pause it.",
            fields=[FieldError("HUBSPOT_TOKEN", "is not set")],
        )
    app = build(settings)
    try:
        return Container(app, build_crm(app, mirroring))
    except LeadError:
        app.close()
        raise

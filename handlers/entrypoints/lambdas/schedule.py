"""The minute's round as a function: what time brings about, and leads that lag or wait."""

from collections import Counter
from collections.abc import Mapping

import structlog

from domain.errors import LeadError
from handlers.conversations import numbers
from handlers.entrypoints.lambdas.container import Container, container
from handlers.entrypoints.lambdas.emission import emit, function_name
from handlers.sweeping import Sweeper


def lambda_handler(_event: Mapping[str, object], context: object) -> dict[str, int]:
    """Do a round for every organization, tell how conversations stand, and return what was done.

    `failed` counts organizations whose round ended early; the next minute has its own. Once the
    function is built it never raises: Lambda would log the words of an error, and try again at once.
    """
    own = container(sends=True)
    done: Counter[str] = Counter()
    Sweeper(own.app.maintenance).round()
    for organization_id in own.talks.organizations:
        try:
            done.update(own.talks.jobs.round(organization_id))
        except LeadError as error:
            done["failed"] += 1
            structlog.get_logger().warning("jobs_failed", code=error.code)
        except Exception:  # noqa: BLE001 - see above
            done["failed"] += 1
            structlog.get_logger().exception("jobs_failed")
    if own.talks.settings.queue_url is None:
        done["worked"] += _work(own)
    _tell(own, function_name(context, "leads-schedule"))
    structlog.get_logger().info("jobs_done", count=done.total())
    return dict(+done)


def _work(own: Container) -> int:
    """Work here on the leads that wait, where there is no queue to wake anybody through."""
    worked = 0
    try:
        own.talks.loop.look()
    except LeadError as error:
        structlog.get_logger().warning("sweep.failed", code=error.code)
    while own.talks.loop.step():
        worked += 1
    return worked


def _tell(own: Container, named: str) -> None:
    """Write how conversations stand for CloudWatch; where nobody knows, no number is made up."""
    talks = own.talks
    try:
        told = numbers.measure(talks.conversations, talks.organizations, own.app.now())
        emit(told, talks.settings.metrics_namespace, named)
    except LeadError as error:
        structlog.get_logger().warning("numbers_not_told", code=error.code)
    except Exception:  # noqa: BLE001 - see above
        structlog.get_logger().exception("numbers_not_told")

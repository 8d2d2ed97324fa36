"""The worker as a function: wake-ups of an SQS FIFO queue, and what is due for their leads."""

from collections.abc import Mapping
from typing import Any, Final

import structlog
from aws_lambda_powertools.utilities.batch import (
    SqsFifoPartialProcessor,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from domain.errors import LeadError, Unavailable
from handlers.conversations.waking import Postpones, Waking
from handlers.entrypoints.lambdas.container import container

_LONGEST_WAIT_S: Final = 60


def lambda_handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Work on the leads that were woken; name the messages that are to come again.

    One that fails takes the later ones of its own group with it, and no other group's.
    """
    processor = SqsFifoPartialProcessor(skip_group_on_error=True)
    # Lambda deletes what is not named, so a batch that failed whole needs no exception.
    processor.raise_on_entire_batch_failure = False
    answer = process_partial_response(event=dict(event), record_handler=_work, processor=processor)
    return dict(answer)


def _work(record: SQSRecord) -> int:
    talks = container(sends=True).talks
    waking = Waking(
        conversations=talks.conversations, worker=talks.worker, organizations=talks.organizations
    )
    try:
        return waking.work(record.body)
    except Unavailable as error:
        _postpone(talks.wake_ups, record, error)
        raise
    except LeadError as error:
        structlog.get_logger().warning("process_immediate_turn_failed", code=error.code)
        raise
    except Exception:
        structlog.get_logger().exception("process_immediate_turn_failed")
        raise


def _postpone(wake_ups: object, record: SQSRecord, error: Unavailable) -> None:
    """Let a message come again when that may help, not when the queue's own time is over."""
    tries = int(record.attributes.approximate_receive_count or 1)
    wait_s = min(_LONGEST_WAIT_S, max(1, error.retry_after_s) * 2 ** min(tries - 1, 10))
    structlog.get_logger().warning(
        "process_immediate_turn_failed", code=error.code, attempt=tries, retry_in_s=wait_s
    )
    if not isinstance(wake_ups, Postpones):
        return
    try:
        wake_ups.postpone(record.receipt_handle, wait_s)
    except Unavailable as failure:
        structlog.get_logger().warning("wake_up_not_postponed", code=failure.code)

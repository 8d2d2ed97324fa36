"""The webhook as a function: behind an HTTP API, a REST API or a function URL."""

from collections.abc import Mapping
from typing import Any

import structlog

from domain.errors import LeadError
from handlers.conversations.webhook import Verdict
from handlers.entrypoints.deliveries import (
    SIGNATURE,
    Answer,
    answer_delivery,
    answer_handshake,
    stated_signature,
)
from handlers.entrypoints.gateway import Request, read_request, write_answer
from handlers.entrypoints.lambdas.container import container
from handlers.talks import Talks


def lambda_handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Answer a handshake or a delivery. Never raises: Lambda would log the words of an error."""
    try:
        return write_answer(_answer(read_request(event), container(sends=False).talks))
    except LeadError as error:
        structlog.get_logger().warning("webhook_failed", code=error.code)
    except Exception:  # noqa: BLE001 - see above
        structlog.get_logger().exception("webhook_failed")
    return write_answer(answer_delivery(Verdict.RETRY, 202))


def _answer(request: Request, talks: Talks) -> Answer:
    acknowledged = talks.settings.webhook_ack_status
    if request.method in {"GET", "HEAD"}:
        return answer_handshake(talks.webhook.challenge(request.query))
    if request.body is None:
        return answer_delivery(Verdict.FORBIDDEN, acknowledged)
    signature = stated_signature(request.headers.get(SIGNATURE, []))
    verdict = talks.webhook.post(request.body, signature)
    return answer_delivery(verdict, acknowledged)

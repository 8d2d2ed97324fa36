"""The route that channels deliver to. No API key: a delivery proves itself by its signature."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from handlers.conversations.webhook import MAX_BODY_BYTES, Verdict
from handlers.entrypoints.deliveries import (
    SIGNATURE,
    Answer,
    answer_delivery,
    answer_handshake,
    stated_signature,
)
from handlers.entrypoints.http import examples
from handlers.entrypoints.http.doors import doors, read_raw

router = APIRouter(prefix="/v1/channels", tags=["channels"])


@router.get("/whatsapp", responses=examples.HANDSHAKE, openapi_extra=examples.GET_HANDSHAKE)
async def whatsapp_handshake(request: Request) -> Response:
    """Answer the handshake of a subscription: the challenge, if it names our verify token."""
    talks = doors(request).talks
    challenge = None if talks is None else talks.webhook.challenge(request.query_params)
    return _response(answer_handshake(challenge))


@router.post("/whatsapp", responses=examples.DELIVERY, openapi_extra=examples.POST_DELIVERY)
async def whatsapp_delivery(request: Request) -> Response:
    """Take a delivery of WhatsApp's: messages, statuses, echoes and whatever else it reports.

    Signed by `X-Hub-Signature-256` over the bytes as they are; no API key. 202: messages are
    queued. 200: recorded, or nothing to record. 503: not all of it is durable, deliver it again.
    """
    own = doors(request)
    if own.talks is None:
        return _response(answer_delivery(Verdict.FORBIDDEN, 202))
    acknowledged = own.talks.settings.webhook_ack_status
    raw = await read_raw(request, MAX_BODY_BYTES)
    signature = stated_signature(request.headers.getlist(SIGNATURE))
    verdict = await own.run(own.talks.webhook.post, raw, signature)
    return _response(answer_delivery(verdict, acknowledged))


def _response(answer: Answer) -> Response:
    return Response(answer.body, answer.status, headers=answer.headers)

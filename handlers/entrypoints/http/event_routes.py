"""Routes that take events in, and that find one by its key."""

from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import Response

from domain import reading
from domain.errors import FieldError, InvalidEvent, LeadError, LimitExceeded
from handlers.entrypoints.http import examples
from handlers.entrypoints.http.answers import json_answer, problem_answer
from handlers.entrypoints.http.doors import (
    JSON,
    NDJSON,
    EventReader,
    Writer,
    doors,
    read_body,
)
from handlers.entrypoints.outcomes import said
from handlers.ingest import Item, Sender
from handlers.shapes import JsonObject, event_json, item_json

router = APIRouter(prefix="/v1", tags=["events"])

_STORED = ("created", "duplicate")


@router.post("/events", openapi_extra=examples.POST_EVENT, responses=examples.ONE_ANSWER)
async def post_event(request: Request, credential: Writer) -> Response:
    """Record one event, at most once per source and externalEventId.

    201: recorded, its address in `Location`. 200: the same event again. 409: other content under a
    used externalEventId; the first stands. An `Idempotency-Key` header stands in for a missing
    externalEventId.
    """
    own = doors(request)
    body, _ = await read_body(request, reading.MAX_EVENT_BYTES, JSON)
    key = request.headers.get("idempotency-key")
    sender = Sender(organization_id=credential.organization_id, sources=credential.sources)
    item = await own.run(own.app.ingest.one, reading.parse(body), sender, idempotency_key=key)
    return _one(request, item)


@router.post("/events:batch", openapi_extra=examples.POST_BATCH, responses=examples.MANY_ANSWERS)
async def post_batch(request: Request, credential: Writer) -> Response:
    """Record up to 500 events, each answered for itself, in the order sent.

    200: all recorded or duplicates. 207: mixed. 422: none valid. 503: none recorded, send it again.
    """
    own = doors(request)
    documents = await _documents(request)
    sender = Sender(organization_id=credential.organization_id, sources=credential.sources)
    items = await own.run(own.app.ingest.batch, documents, sender)
    status = _status_of(items)
    headers = {"Retry-After": "1"} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
    return json_answer(_report(items), status, headers)


@router.post("/events:validate", openapi_extra=examples.POST_BATCH, responses=examples.MANY_ANSWERS)
async def post_validate(request: Request, credential: Writer) -> Response:
    """Answer what a batch would be answered now. Nothing is written."""
    own = doors(request)
    documents = await _documents(request)
    sender = Sender(organization_id=credential.organization_id, sources=credential.sources)
    items = await own.run(own.app.ingest.validate, documents, sender)
    return json_answer(_report(items) | {"dryRun": True})


@router.get("/events", responses=examples.EVENT)
async def find_event(
    request: Request,
    credential: EventReader,
    source: str,
    externalEventId: str,  # noqa: N803
) -> Response:
    """Find the event that a source and externalEventId name, through its receipt."""
    own = doors(request)
    event = await own.run(
        own.app.reads.event_by_key, credential.organization_id, source.lower(), externalEventId
    )
    return json_answer(event_json(event))


async def _documents(request: Request) -> list[Any]:
    """Return the events of a batch; a line that cannot be read stands as its error.

    Raises:
        MalformedBody, InvalidEvent: the batch as a whole is not one.
        LimitExceeded: more events than a batch may hold.
    """
    body, media_type = await read_body(request, reading.MAX_BATCH_BYTES, JSON, NDJSON)
    documents = _lines(body) if media_type == NDJSON else _events(reading.parse(body))
    if len(documents) > reading.MAX_BATCH_EVENTS:
        message = f"A batch holds at most {reading.MAX_BATCH_EVENTS} events."
        raise LimitExceeded(message, hint="Send the rest in batches of their own.")
    if not documents:
        problem = FieldError("/events", "must hold at least one event")
        hint = "Send one event or more."
        raise InvalidEvent("The batch is empty.", hint=hint, fields=[problem])
    return documents


def _events(document: Any) -> list[Any]:
    events = document.get("events") if isinstance(document, dict) else None
    if not isinstance(events, list):
        problem = FieldError("/events", "must be a list of events")
        hint = 'Send {"events": […]}, or one event a line as application/x-ndjson.'
        raise InvalidEvent("The batch is not valid.", hint=hint, fields=[problem])
    return events


def _lines(body: bytes) -> list[Any]:
    documents: list[Any] = []
    for _, line in reading.read_ndjson(body):
        try:
            documents.append(reading.parse(line))
        except LeadError as error:
            documents.append(error)
    return documents


def _one(request: Request, item: Item) -> Response:
    if item.error is not None:
        more: JsonObject = {"quarantineId": item.quarantine_id} if item.quarantine_id else {}
        if item.event_id is not None:
            more = {"id": item.event_id, "leadOrganizationId": item.lead, **more}
        return problem_answer(request, item.error, **more)
    body: JsonObject = {
        "status": item.status,
        "id": item.event_id,
        "leadOrganizationId": item.lead,
        "sequence": item.sequence,
        "mapped": item.mapped,
    }
    if item.warnings:
        body["warnings"] = list(item.warnings)
    if item.status == "duplicate":
        return json_answer(body)
    location = {"Location": f"/v1/leads/{quote(item.lead or '', safe='')}/events/{item.sequence}"}
    return json_answer(body, HTTPStatus.CREATED, location)


def _report(items: list[Item]) -> JsonObject:
    statuses = [item.status for item in items]
    return {
        "accepted": statuses.count("created"),
        "duplicates": statuses.count("duplicate"),
        "conflicts": statuses.count("conflict"),
        "rejected": statuses.count("rejected"),
        "retry": statuses.count("retry"),
        "results": [
            item_json(item, said(item.error).status if item.error else HTTPStatus.OK)
            for item in items
        ],
    }


def _status_of(items: list[Item]) -> HTTPStatus:
    statuses = {item.status for item in items}
    if statuses <= {*_STORED}:
        return HTTPStatus.OK
    if statuses == {"retry"}:
        return HTTPStatus.SERVICE_UNAVAILABLE
    if statuses == {"rejected"}:
        return HTTPStatus.UNPROCESSABLE_ENTITY
    return HTTPStatus.MULTI_STATUS

"""Routes about the service: the schemas of its events, and whether it is up."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from domain import catalog
from domain.errors import LeadError
from handlers.entrypoints.http import examples
from handlers.entrypoints.http.answers import json_answer, problem_answer
from handlers.entrypoints.http.doors import doors
from handlers.shapes import schema_json

router = APIRouter(tags=["service"])


@router.get("/v1/schemas", responses=examples.SCHEMAS)
async def list_schemas() -> Response:
    """List every event type that the catalog declares."""
    return json_answer({"schemas": [schema_json(each) for each in catalog.TYPES.values()]})


@router.get("/v1/schemas/{event_type}", responses=examples.SCHEMA)
async def get_schema(event_type: str, version: int | None = None) -> Response:
    """Return the JSON Schema (2020-12) of a type's payload."""
    return json_answer(catalog.json_schema(event_type, version))


@router.get("/healthz", responses=examples.HEALTH)
async def healthz() -> Response:
    """Tell that the process answers."""
    return json_answer({"status": "ok"})


@router.get("/readyz", responses=examples.HEALTH)
async def readyz(request: Request) -> Response:
    """Tell whether the store answers; 503 if it does not."""
    own = doors(request)
    try:
        await own.run(own.app.maintenance.ping)
    except LeadError as error:
        return problem_answer(request, error)
    return json_answer({"status": "ok"})

"""What the routes of every simulator's own need: who may ask, what is asked, and JSON as an answer."""

import json
from http import HTTPStatus
from typing import Any, Final

from handlers.simulators.server import JSON, Reply, Request

ROOT: Final = "/_simulator"

JsonObject = dict[str, Any]


def refusal(request: Request) -> Reply | None:
    """Return how a request of a foreign page is refused; None if it is none."""
    if not request.is_local:
        return as_json({"error": "Only this machine may ask."}, HTTPStatus.FORBIDDEN)
    # A foreign page cannot send this media type without being asked first.
    media = request.headers.get("content-type", "").partition(";")[0].strip()
    if request.method != "GET" and media != JSON:
        return as_json({"error": f"Send {JSON}."}, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
    return None


def document_of(request: Request) -> JsonObject:
    """Return the object in a body; an empty one if there is none."""
    try:
        document = json.loads(request.body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def as_json(document: JsonObject, status: int = 200) -> Reply:
    """Return an answer that is a document."""
    return Reply(status=status, body=json.dumps(document).encode())


def no_route() -> Reply:
    """Return the answer where there is nothing."""
    return as_json({"error": "There is no such route."}, HTTPStatus.NOT_FOUND)

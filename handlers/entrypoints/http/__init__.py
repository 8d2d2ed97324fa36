"""The HTTP API: an ASGI application over a wired `App`."""

import re
import time
from typing import Final

import structlog
from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handlers.bootstrap import App
from handlers.entrypoints.http import (
    answers,
    channel_routes,
    event_routes,
    lead_routes,
    metrics_routes,
    service_routes,
)
from handlers.entrypoints.http.doors import Doors
from handlers.mirror import Mirror
from handlers.talks import Talks

__all__ = ["create_api"]

_REQUEST_ID: Final = re.compile(rb"[0-9a-fA-F-]{16,64}|[0-9A-HJKMNP-TV-Z]{26}")
"""UUIDs, trace ids, ULIDs. Nothing shorter: telephone numbers are digits too."""

_ABOUT: Final = """Everything that happens to a lead, recorded once and forever, and what follows from it.

Send events to `POST /v1/events`; read timelines, memories, contexts and features under
`/v1/leads/{lead}`. Errors are problems (RFC 9457) that name fields and never show their values."""


def create_api(app: App, talks: Talks | None = None, mirror: Mirror | None = None) -> FastAPI:
    """Return the ASGI application over a wired application. The caller closes that one.

    Without `talks` every delivery of a channel is refused; without `mirror` its numbers are left out.
    """
    api = FastAPI(
        title="Lead domain service",
        version="1",
        description=_ABOUT,
        openapi_url="/v1/openapi.json",
    )
    api.state.doors = Doors(app, talks, mirror)
    api.add_middleware(_Outermost, app=app)
    answers.install(api)
    for module in (event_routes, lead_routes, channel_routes, metrics_routes, service_routes):
        api.include_router(module.router)
    return api


class _Outermost:
    """Names every request, and answers what nothing else did.

    Caught here, an unexpected error never reaches the server's log, which would print its message
    and with it whatever the request held.
    """

    def __init__(self, inner: ASGIApp, app: App) -> None:
        self._inner = inner
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        request_id = _given_id(scope) or self._app.new_id()
        scope.setdefault("state", {})["request_id"] = request_id
        began, status = time.perf_counter(), 0

        async def named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"x-request-id", request_id.encode()),
                ]
            await send(message)

        try:
            await self._inner(scope, receive, named)
        except Exception as error:
            if status:
                raise
            await answers.unexpected(request_id, error)(scope, receive, named)
        finally:
            _log_answer(scope, request_id, status, time.perf_counter() - began)


def _log_answer(scope: Scope, request_id: str, status: int, seconds: float) -> None:
    """Log a request by its route: a path may hold what a caller put into it."""
    route = scope.get("route")
    structlog.get_logger().info(
        "request.answered",
        request_id=request_id,
        method=scope["method"],
        route=getattr(route, "path", "none"),
        status=int(status),
        duration_ms=round(seconds * 1000, 1),
    )


def _given_id(scope: Scope) -> str:
    """Return the caller's own request id if it is one: logs show it, so it may not be anything."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return bytes(value).decode()
    return ""

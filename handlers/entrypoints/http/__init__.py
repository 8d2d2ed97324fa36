"""The HTTP API: an ASGI application over a wired `App`."""

from typing import Final

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handlers.bootstrap import App
from handlers.entrypoints.http import answers, event_routes, lead_routes, service_routes
from handlers.entrypoints.http.doors import Doors

__all__ = ["create_api"]

_MAX_REQUEST_ID: Final = 100

_ABOUT: Final = """Everything that happens to a lead, recorded once and forever, and what follows from it.

Send events to `POST /v1/events`; read timelines, memories, contexts and features under
`/v1/leads/{lead}`. Errors are problems (RFC 9457) that name fields and never show their values."""


def create_api(app: App) -> FastAPI:
    """Return the ASGI application over a wired application. The caller closes that one."""
    api = FastAPI(
        title="Lead domain service",
        version="1",
        description=_ABOUT,
        openapi_url="/v1/openapi.json",
    )
    api.state.doors = Doors(app)
    api.add_middleware(_Outermost, app=app)
    answers.install(api)
    for module in (event_routes, lead_routes, service_routes):
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
        started = False

        async def named(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"x-request-id", request_id.encode()),
                ]
            await send(message)

        try:
            await self._inner(scope, receive, named)
        except Exception as error:
            if started:
                raise
            await answers.unexpected(request_id, error)(scope, receive, named)


def _given_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and 0 < len(value) <= _MAX_REQUEST_ID:
            text: str = value.decode("latin-1")
            return text if text.isascii() and text.isprintable() else ""
    return ""

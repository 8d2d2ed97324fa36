"""What stands before every use case: the credential, the size of the body, a bounded thread pool."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import anyio
import anyio.to_thread
from fastapi import Depends, Request

from domain.errors import LimitExceeded, UnsupportedMediaType
from handlers.api_keys import Credential, everything
from handlers.bootstrap import App
from handlers.mirror import Mirror
from handlers.talks import Talks

_T = TypeVar("_T")

JSON = "application/json"
NDJSON = "application/x-ndjson"

OPEN_ORGANIZATION = "default"
"""Whose leads an API without keys serves: the organization the command line defaults to."""


class Doors:
    """The application, and how many requests it works on at once.

    `talks` is None where no conversations are served, `mirror` where nothing is told of the CRM's.
    """

    def __init__(self, app: App, talks: Talks | None = None, mirror: Mirror | None = None) -> None:
        self.app = app
        self.talks = talks
        self.mirror = mirror
        self._limiter = anyio.CapacityLimiter(app.settings.worker_threads)

    async def run(self, use_case: Callable[..., _T], *arguments: Any, **named: Any) -> _T:
        """Run a use case in the pool; the core is synchronous."""
        return await anyio.to_thread.run_sync(
            lambda: use_case(*arguments, **named), limiter=self._limiter
        )


def doors(request: Request) -> Doors:
    """Return the doors of the application that serves this request."""
    found: Doors = request.app.state.doors
    return found


def _with(scope: str) -> Callable[[Request], Awaitable[Credential]]:
    """Return a dependency: the caller's credential, which must have the scope."""

    async def credential(request: Request) -> Credential:
        own = doors(request)
        if own.app.settings.auth == "open":
            return everything(OPEN_ORGANIZATION)
        header = request.headers.get("authorization")
        found = await own.run(own.app.api_keys.authenticate, header)
        found.require(scope)
        return found

    return credential


Writer = Annotated[Credential, Depends(_with("events:write"))]
EventReader = Annotated[Credential, Depends(_with("events:read"))]
MemoryReader = Annotated[Credential, Depends(_with("memories:read"))]
MetricsReader = Annotated[Credential, Depends(_with("metrics:read"))]


async def read_body(request: Request, limit: int, *media_types: str) -> tuple[bytes, str]:
    """Return the body and its media type.

    Raises:
        UnsupportedMediaType: none of those named.
        LimitExceeded: longer than `limit` bytes; reading stops there.
    """
    media_type = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if media_type not in media_types:
        message = "The media type of the body is not one this operation reads."
        raise UnsupportedMediaType(message, hint=f"Send one of: {', '.join(media_types)}.")
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"", "identity"}:
        message = "The content encoding of the body is not one this operation reads."
        raise UnsupportedMediaType(message, hint="Send the body as it is.")
    body = await read_raw(request, limit)
    if len(body) > limit:
        message = f"The body is longer than {limit} bytes."
        raise LimitExceeded(message, hint="Send less at once.")
    return body, media_type


async def read_raw(request: Request, limit: int) -> bytes:
    """Return the body as it came. Reading stops soon after `limit` bytes: a longer one is cut."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            break
    return bytes(body)

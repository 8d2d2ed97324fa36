"""Answers of the API: JSON bodies, problems, and the errors of the framework in our words."""

from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from domain import canonical
from domain.errors import FieldError, InvalidEvent, LeadError, Unavailable, Uncertain
from handlers.entrypoints.outcomes import said
from handlers.shapes import problem_json

_PROBLEM = "application/problem+json"
_UNCERTAIN_RETRY_S = 1


def json_answer(
    body: Any, status: int = HTTPStatus.OK, headers: dict[str, str] | None = None
) -> Response:
    """Return a JSON response."""
    return Response(canonical.dumps(body), status, headers=headers, media_type="application/json")


def problem_answer(request: Request, error: LeadError, **more: Any) -> Response:
    """Return an error as a problem response, with when to come back where that helps."""
    status = said(error).status
    body = problem_json(error, status) | {
        "instance": request.url.path,
        "requestId": request.state.request_id,
        **more,
    }
    headers: dict[str, str] = {}
    if isinstance(error, Unavailable):
        headers["Retry-After"] = str(error.retry_after_s)
    elif isinstance(error, Uncertain):
        headers["Retry-After"] = str(_UNCERTAIN_RETRY_S)
    elif status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(canonical.dumps(body), status, headers=headers, media_type=_PROBLEM)


def install(api: FastAPI) -> None:
    """Let every error of the API be answered as a problem, without any value from the request."""
    api.add_exception_handler(LeadError, _lead_error)
    api.add_exception_handler(RequestValidationError, _invalid_parameters)
    api.add_exception_handler(HTTPException, _framework_error)


def unexpected(request_id: str, error: Exception) -> Response:
    """Return the answer to what nobody foresaw, and log its kind: its text may hold anything."""
    structlog.get_logger().error(
        "request.failed", request_id=request_id, error=type(error).__name__
    )
    body = {
        "type": "/problems/internal-error",
        "title": "Something in the service is wrong",
        "status": 500,
        "detail": "The request was not the cause. Tell an operator the requestId.",
        "requestId": request_id,
    }
    return Response(canonical.dumps(body), 500, media_type=_PROBLEM)


async def _lead_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, LeadError):
        raise error
    return problem_answer(request, error)


async def _invalid_parameters(request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    fields = [
        FieldError("/" + "/".join(str(part) for part in each["loc"]), str(each["type"]))
        for each in error.errors()
    ]
    hint = "Correct the parameters named; the OpenAPI document describes them."
    return problem_answer(
        request, InvalidEvent("A parameter is not valid.", hint=hint, fields=fields)
    )


async def _framework_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    phrase = HTTPStatus(error.status_code).phrase
    body = {
        "type": f"/problems/{phrase.lower().replace(' ', '-')}",
        "title": phrase,
        "status": error.status_code,
        "detail": "See /v1/openapi.json for the paths and methods there are.",
        "instance": request.url.path,
        "requestId": request.state.request_id,
    }
    headers = dict(error.headers or {})
    return Response(canonical.dumps(body), error.status_code, headers=headers, media_type=_PROBLEM)

"""HTTP requests and answers as API Gateway (payloads 1.0 and 2.0) and function URLs hand them over.

Source: AWS Lambda developer guide, "Lambda function URLs", and Amazon API Gateway developer guide,
"AWS Lambda proxy integrations for HTTP APIs" and "… for REST APIs".
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, NamedTuple

from handlers.entrypoints.deliveries import Answer


class Request(NamedTuple):
    """What was asked. `body` is None if it is not what the event says it is."""

    method: str
    query: dict[str, str]
    headers: dict[str, list[str]]
    """Under lower-case names: every value that came."""
    body: bytes | None


def read_request(event: Mapping[str, Any]) -> Request:
    """Return the request of an event. Total: what is missing is empty."""
    asked = _part(_part(event, "requestContext"), "http")
    return Request(
        method=str(asked.get("method") or event.get("httpMethod") or "").upper(),
        query={name: str(value) for name, value in _part(event, "queryStringParameters").items()},
        headers=_headers(event),
        body=_body(event),
    )


def write_answer(answer: Answer) -> dict[str, Any]:
    """Return an answer in the form that both payload versions take."""
    return {
        "statusCode": answer.status,
        "headers": answer.headers,
        "body": answer.body.decode(),
        "isBase64Encoded": False,
    }


def _headers(event: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return every value: a REST API tells only the last one of a name under `headers`."""
    found: dict[str, list[str]] = {}
    several = _part(event, "multiValueHeaders")
    for name, values in several.items():
        found.setdefault(name.lower(), []).extend(map(str, values))
    if not several:
        for name, value in _part(event, "headers").items():
            found.setdefault(name.lower(), []).append(str(value))
    return found


def _body(event: Mapping[str, Any]) -> bytes | None:
    body = event.get("body") or ""
    if not isinstance(body, str):
        return None
    if not event.get("isBase64Encoded"):
        return body.encode(errors="surrogatepass")
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return None


def _part(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = event.get(name)
    return part if isinstance(part, Mapping) else {}

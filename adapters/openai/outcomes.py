"""What the SDK's errors mean: one place that turns them into the two that the port knows.

| what came | what it is |
|---|---|
| time is over, on our side or theirs (408, 504) | ModelUnavailable timeout |
| no connection, or one that broke | ModelUnavailable connection |
| 429 | ModelUnavailable rate_limited, with Retry-After |
| 429 insufficient_quota, 402 | ModelUnavailable quota |
| 409 and other 5xx | ModelUnavailable server_error, with Retry-After |
| 200 that is no chat completion, or too large | ModelUnavailable bad_response |
| 400, 401, 403, 404, 422 and other 4xx | ModelUnavailable configuration |
| a content filter, the model's own refusal | ModelRefused content_filter, refusal |
| 400 or 413 because the conversation is too long | ModelRefused too_long |

A wrong setting is "unavailable", since the same request is answered once it is put right; until
then conversations go to people like in any outage. The messages of errors are not passed on: some
quote what was sent.
"""

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

from domain.conversation.model import ModelRefused, ModelUnavailable

_FILTERED: Final = frozenset(
    (
        "content_filter",
        "content_policy_violation",
        "invalid_prompt",
        "ResponsibleAIPolicyViolation",
    )
)
_TOO_LONG: Final = frozenset(("context_length_exceeded", "string_above_max_length"))
_TOO_LONG_WORDS: Final = "maximum context length"
_LONGEST_WAIT_S: Final = 24 * 3600


def answered(
    status: int, body: object, headers: Mapping[str, str]
) -> ModelRefused | ModelUnavailable:
    """Return what an HTTP error means.

    Args:
        status: 4xx or 5xx.
        body: the error object as the SDK found it, None or text where there was none.
        headers: of the answer.
    """
    codes = _codes(body)
    if status in {400, 403, 422} and codes & _FILTERED:
        return ModelRefused("content_filter")
    if status == 413 or (status in {400, 422} and _is_too_long(codes, body)):
        return ModelRefused("too_long")
    wait = retry_after(headers)
    return ModelUnavailable(_reason(status, codes), retry_after_s=wait)


def broken(error: Exception) -> ModelUnavailable:
    """Return what an error means that came while the connection was used."""
    return ModelUnavailable("timeout" if "Timeout" in type(error).__name__ else "connection")


def retry_after(headers: Mapping[str, str]) -> int | None:
    """Return the seconds that were asked for, rounded up, None if none were.

    A date is compared with the answer's own, so that no clock of ours is needed.
    """
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        seconds = _seconds(headers.get(name), headers.get("date"), unit)
        if seconds is not None and 0 <= seconds <= _LONGEST_WAIT_S:
            return math.ceil(seconds)
    return None


def _seconds(text: str | None, now: str | None, unit: int) -> float | None:
    try:
        return None if text is None else float(text) / unit
    except ValueError:
        pass
    try:
        return (
            parsedate_to_datetime(text or "") - parsedate_to_datetime(now or "")
        ).total_seconds()
    except (TypeError, ValueError):
        return None


def _reason(status: int, codes: set[str]) -> str:
    if status == 402 or "insufficient_quota" in codes:
        return "quota"
    if status in {408, 504}:
        return "timeout"
    if status == 429:
        return "rate_limited"
    return "server_error" if status == 409 or status >= 500 else "configuration"


def _is_too_long(codes: set[str], body: object) -> bool:
    told = body.get("message") if isinstance(body, dict) else body
    return bool(codes & _TOO_LONG) or _TOO_LONG_WORDS in str(told)


def _codes(body: object) -> set[str]:
    """Return every code an error object names, those of Azure's inner one too."""
    found: set[str] = set()
    inner: Any = body
    while isinstance(inner, dict):
        found |= {str(inner.get(name)) for name in ("code", "type")}
        inner = inner.get("innererror")
    return found

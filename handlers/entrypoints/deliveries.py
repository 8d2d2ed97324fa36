"""How a delivery of a channel is answered over HTTP, by whatever serves it.

Every body is constant: what is wrong with a delivery is in the log, and nothing of it in the answer.
"""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from domain import canonical
from handlers.conversations.webhook import Verdict

SIGNATURE: Final = "x-hub-signature-256"
"""The header that proves a delivery of Meta's, in lower case."""

RETRY_AFTER_S: Final = 1

_JSON: Final = "application/json"
_PROBLEM: Final = "application/problem+json"


class Answer(NamedTuple):
    """What is sent back. The names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


def stated_signature(headers: Sequence[str]) -> str | None:
    """Return the signature a delivery states; one that states several states none."""
    return headers[0] if len(headers) == 1 else None


def answer_delivery(verdict: Verdict, acknowledged: Literal[200, 202]) -> Answer:
    """Return how a delivery is answered.

    Args:
        verdict: what came of it.
        acknowledged: the status where messages are queued.
    """
    match verdict:
        case Verdict.FORBIDDEN:
            return _FORBIDDEN
        case Verdict.TOO_LARGE:
            return _TOO_LARGE
        case Verdict.RETRY:
            return _RETRY
        case Verdict.QUEUED:
            return _said(acknowledged, verdict)
        case Verdict.IGNORED | Verdict.RECORDED:
            return _said(200, verdict)


def answer_handshake(challenge: str | None) -> Answer:
    """Return how a subscription's handshake is answered; None is not ours to answer."""
    if challenge is None:
        return _NOT_OURS
    headers = {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}
    return Answer(200, headers, challenge.encode())


def _said(status: int, verdict: Verdict) -> Answer:
    return Answer(status, {"content-type": _JSON}, canonical.dumps({"status": verdict.value}))


def _refused(status: int, name: str, title: str, retry_after_s: int | None = None) -> Answer:
    body = {"type": f"/problems/{name}", "title": title, "status": status}
    headers = {"content-type": _PROBLEM}
    if retry_after_s is not None:
        headers["retry-after"] = str(retry_after_s)
    return Answer(status, headers, canonical.dumps(body))


_FORBIDDEN: Final = _refused(401, "unsigned", "The delivery is not signed as it must be")
_TOO_LARGE: Final = _refused(413, "limit-exceeded", "The delivery is larger than any may be")
_RETRY: Final = _refused(
    503, "not-durable", "Not all of it could be kept; deliver it again", RETRY_AFTER_S
)
_NOT_OURS: Final = _refused(403, "unknown-handshake", "The handshake does not name our token")

"""What every answer and every failure means for the request it belongs to: one table for each.

Source: research/crm.md §4.4, measured there on real sockets. Where the table says of a write
"transient, and verify", it is AMBIGUOUS here: it may have been done, and may yet be done late.
"""

from typing import Final

import httpx2

from adapters.hubspot.readonly import WriteRefused
from adapters.hubspot.told import Told, correlation, is_missing, limit_of, told, wait_s
from adapters.hubspot.wire import Answer, Verb
from domain.crm.replies import Kind, Reply

_NOT_SENT: Final = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
)
_NO_REQUEST: Final = (httpx2.UnsupportedProtocol, httpx2.InvalidURL, httpx2.LocalProtocolError)
_LONGER_THAN_A_LOCK_S: Final = 2
"""Source: research/crm.md §1.4, status 423."""

# What may have been done, and what that means for whoever asked.
_UNCLEAR: Final = {
    Verb.READ: Kind.TRANSIENT,
    Verb.WRITE: Kind.AMBIGUOUS,
    Verb.CREATE: Kind.AMBIGUOUS,
}
_NEVER_REACHED: Final = frozenset((521, 523))
"""The edge found nobody behind it. A creation is left in doubt all the same: it costs one read."""
_EDGE_BROKEN: Final = frozenset((525, 526, 530))
_ACCOUNT: Final = {402: "account_refused", 410: "endpoint_gone", 451: "account_refused"}
_WRONG_CONTENT: Final = frozenset((400, 413, 422))

_Verdict = tuple[Kind, str]


def failed(error: Exception, verb: Verb) -> Reply:
    """Return what a request means that no whole answer came to.

    Only what certainly was not sent is NOT_SENT. All that is not known here counts as sent, a
    `WriteError` too: the bytes before it may have been a whole request.
    """
    if isinstance(error, WriteRefused):
        return Reply(kind=Kind.REFUSED, reason="read_only")
    if isinstance(error, _NO_REQUEST):
        return not_made()
    if isinstance(error, _NOT_SENT):
        return Reply(kind=Kind.NOT_SENT, reason="not_sent")
    timed_out = isinstance(error, httpx2.TimeoutException)
    return Reply(kind=_UNCLEAR[verb], reason="timeout" if timed_out else "connection_lost")


def not_made() -> Reply:
    """Return what a request means that cannot be made of what it was asked for with."""
    return Reply(kind=Kind.REFUSED, reason="client_bug")


def unreadable(answer: Answer, verb: Verb, reason: str) -> Reply:
    """Return what a success means that does not hold what was asked for."""
    return Reply(
        kind=_UNCLEAR[verb],
        reason="answer_too_large" if answer.too_large else reason,
        status=answer.status,
        correlation=correlation(answer),
    )


def refused(answer: Answer, verb: Verb, *, searches: bool = False) -> Reply:
    """Return what an answer means that is no success. `invalid` has HubSpot's names."""
    said = told(answer)
    kind, reason = _verdict(answer, said, verb, searches=searches)
    waits = wait_s(answer)
    if answer.status == 423:
        waits = max(waits or 0, _LONGER_THAN_A_LOCK_S)
    return Reply(
        kind=kind,
        reason=reason,
        status=answer.status,
        category=said.category,
        correlation=correlation(answer),
        detail=said.detail,
        wait_s=waits,
        invalid=said.invalid,
        holder_id=said.holder_id if kind is Kind.CONFLICT else None,
    )


def _verdict(answer: Answer, said: Told, verb: Verb, *, searches: bool) -> _Verdict:
    status = answer.status
    if status == 429:
        return Kind.PAUSED, limit_of(answer, searches=searches)
    if status == 477:
        return Kind.PAUSED, "migration"
    if status == 423:
        return Kind.TRANSIENT, "locked"
    if 400 <= status < 500 and status != 408:
        return _of_the_request(answer, said, verb)
    return _of_the_way(status, verb)


def _of_the_request(answer: Answer, said: Told, verb: Verb) -> _Verdict:
    status = answer.status
    if status in {401, 403}:
        return _forbidden(answer, said, verb)
    if status in _ACCOUNT:
        return Kind.BREAKER, _ACCOUNT[status]
    if status == 404 or (status == 400 and is_missing(answer)):
        return _missing(answer, verb)
    if status in {400, 409}:
        return _conflicting(status, said, verb)
    return Kind.REFUSED, "validation" if status in _WRONG_CONTENT else "request_refused"


def _of_the_way(status: int, verb: Verb) -> _Verdict:
    """Return what it means that something between here and the records failed, or points elsewhere."""
    creates = verb is Verb.CREATE
    if 300 <= status < 400:
        # Its next reading opens the breaker; whether something was created is looked up after it.
        return (Kind.AMBIGUOUS if creates else Kind.BREAKER), "redirected"
    if status in _EDGE_BROKEN and not creates:
        return Kind.BREAKER, "edge_refused"
    if status in _NEVER_REACHED and not creates:
        return Kind.TRANSIENT, "server_error"
    return _UNCLEAR[verb], "request_timeout" if status == 408 else "server_error"


def _forbidden(answer: Answer, said: Told, verb: Verb) -> _Verdict:
    if answer.status == 401:
        expired = said.category == "EXPIRED_AUTHENTICATION"
        return Kind.BREAKER, "token_expired" if expired else "token_refused"
    if not answer.fields:
        # No word of HubSpot's: something before it refuses, and may have passed it on.
        return (Kind.AMBIGUOUS if verb is Verb.CREATE else Kind.BREAKER), "edge_refused"
    return Kind.BREAKER, "scopes_missing" if said.category == "MISSING_SCOPES" else "forbidden"


def _missing(answer: Answer, verb: Verb) -> _Verdict:
    if not is_missing(answer):
        return Kind.BREAKER, "endpoint_gone"
    return Kind.ABSENT, "association_target_missing" if verb is Verb.CREATE else "not_found"


def _conflicting(status: int, said: Told, verb: Verb) -> _Verdict:
    if verb is Verb.READ:
        return (Kind.TRANSIENT, "busy") if status == 409 else (Kind.REFUSED, "validation")
    if verb is Verb.WRITE and status == 409 and said.holder_id is None and not said.invalid:
        return Kind.TRANSIENT, "busy"
    if said.taken or status == 409:
        return Kind.CONFLICT, "unique_value"
    return (Kind.INVALID if said.invalid else Kind.REFUSED), "validation"

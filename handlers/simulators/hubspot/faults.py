"""What goes wrong on purpose, and the script of when."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final

from handlers.simulators.server import Reply

_CORRELATION: Final = "00000000-0000-4000-8000-000000000000"
_HTML: Final = "text/html; charset=UTF-8"

Perform = Callable[[], Reply]
Later = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """The connection ends without an answer.

    Args:
        executed: the request was carried out before that.
        reset: it is torn down (RST) instead of closed (FIN).
        unread: before the body was read; then nothing is carried out.
        hang_s: how long nothing happens before that, in real seconds: a stall.
    """

    executed: bool = False
    reset: bool = False
    unread: bool = False
    hang_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """The connection ends without an answer, and the request is carried out later.

    Args:
        after_s: how much later, on the account's clock.
        hang_s: how long the connection stays open, in real seconds.
    """

    after_s: float = 30.0
    hang_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mangle:
    """The request is carried out, and its answer cannot be read.

    `cut`: its body ends early; `gzip`: it says it is compressed and is not; `garbage`: it is no
    HTTP; `html`, `empty`: its status is right and its body no JSON.
    """

    how: str = "cut"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of what stands in front of HubSpot instead of an answer; `executed` or not."""

    status: int = 502
    executed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer from this script; nothing is carried out."""

    status: int
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Twice:
    """The request is carried out twice, as by a proxy that repeats it; the second answer counts."""


def _answer(status: int, message: str, **more: str) -> Answer:
    document = {"status": "error", "message": message, "correlationId": _CORRELATION, **more}
    return Answer(status=status, body=json.dumps(document).encode())


def _limited(policy: str, **more: str) -> Answer:
    named = {"policyName": policy} if "errorType" in more else {}
    return _answer(429, f"You have reached your {policy.lower()} limit.", **more, **named)


Fault = Drop | Late | Mangle | Page | Answer | Twice

NEVER_SENT: Final = Drop(reset=True, unread=True)
"""It certainly is not carried out; who sent it cannot know."""
REPLY_LOST: Final = Drop(executed=True)
"""It is carried out, and who sent it cannot know."""
LOCKED: Final = _answer(423, "Locked", category="LOCKED")
FAILING: Final = _answer(500, "internal error", category="INTERNAL_ERROR")
SEARCH_LIMITED: Final = _limited("SECONDLY", category="RATE_LIMITS")
BURST_LIMITED: Final = _limited("TEN_SECONDLY_ROLLING", errorType="RATE_LIMIT")
DAILY_LIMITED: Final = _limited("DAILY", errorType="RATE_LIMIT")


def migrating(retry_after: int | str) -> Answer:
    """Return the answer of an account that is being moved: seconds, or an HTTP date."""
    answer = _answer(477, "Migration in progress", category="MIGRATION")
    return replace(answer, headers={"Retry-After": str(retry_after)})


NAMED: Final[dict[str, Fault]] = {
    "never_sent": NEVER_SENT,
    "reply_lost": REPLY_LOST,
    "late": Late(),
    "twice": Twice(),
    "cut": Mangle(),
    "gzip": Mangle(how="gzip"),
    "html": Mangle(how="html"),
    "502": Page(),
    "524": Page(status=524, executed=True),
    "423": LOCKED,
    "429": BURST_LIMITED,
    "477": migrating(60),
    "500": FAILING,
}
"""By the name `/_simulator/faults` knows them under."""


@dataclass(slots=True, kw_only=True)
class _Rule:
    fault: Fault
    method: str | None
    path: str
    skip: int
    times: int


class Script:
    """What is to happen to which requests. Safe between threads."""

    def __init__(self) -> None:
        self._rules: list[_Rule] = []
        self._lock = threading.Lock()

    def add(
        self,
        fault: Fault,
        *,
        method: str | None = None,
        path: str = "*",
        nth: int = 1,
        times: int = 1,
    ) -> None:
        """Let it happen to the nth request from now on, and the next so many.

        Args:
            fault: what happens.
            method: which verb; any unless given.
            path: a pattern (`*/deals/*`) of the path without its query.
            nth: 1 is the next one that fits.
            times: how often.
        """
        rule = _Rule(fault=fault, method=method, path=path, skip=nth - 1, times=times)
        with self._lock:
            self._rules.append(rule)

    def take(self, method: str, path: str) -> Fault | None:
        """Return what is to happen to this request. Each rule that fits counts it, the first is used."""
        with self._lock:
            fitting = [rule for rule in self._rules if _fits(rule, method, path)]
            fault = None
            for rule in fitting:
                if rule.skip:
                    rule.skip -= 1
                elif fault is None:
                    fault, rule.times = rule.fault, rule.times - 1
            self._rules = [rule for rule in self._rules if rule.times > 0]
            return fault

    def clear(self) -> None:
        """Forget what was to happen."""
        with self._lock:
            self._rules.clear()


def meet(fault: Fault | None, perform: Perform, later: Later) -> Reply:
    """Return what a request is answered with.

    Args:
        fault: what happens to it.
        perform: carries it out.
        later: carries it out so many seconds later.
    """
    match fault:
        case None:
            return perform()
        case Twice():
            perform()
            return perform()
        case Late():
            later(fault.after_s)
            return Reply(drop=True, hang_s=fault.hang_s)
        case Drop():
            if fault.executed:
                perform()
            return Reply(drop=True, reset=fault.reset, hang_s=fault.hang_s)
        case _:
            return _answered(fault, perform)


def _fits(rule: _Rule, method: str, path: str) -> bool:
    return rule.method in {None, method} and fnmatchcase(path, rule.path)


def _answered(fault: Mangle | Page | Answer, perform: Perform) -> Reply:
    if isinstance(fault, Answer):
        return Reply(status=fault.status, body=fault.body, headers=fault.headers)
    if isinstance(fault, Mangle):
        return _mangled(fault.how, perform())
    if fault.executed:
        perform()
    page = f"<html><head><title>{fault.status}</title></head><body>cloudflare</body></html>"
    return Reply(status=fault.status, body=page.encode(), content_type=_HTML)


def _mangled(how: str, reply: Reply) -> Reply:
    if how == "html":
        return Reply(status=reply.status, body=b"<html>OK</html>", content_type=_HTML)
    if how == "empty":
        return Reply(status=reply.status)
    if how == "gzip":
        return Reply(status=reply.status, body=b"no gzip", headers={"Content-Encoding": "gzip"})
    if how == "garbage":
        return Reply(raw=b"\x16\x03\x01 no HTTP\r\n\r\n")
    half = reply.body[: len(reply.body) // 2]
    head = f"HTTP/1.1 {reply.status} OK\r\nContent-Length: {len(reply.body) + 1}\r\n\r\n"
    return Reply(status=reply.status, raw=head.encode() + half)

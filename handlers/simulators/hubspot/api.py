"""The API as a whole: paths, versions, tokens and limits in front of its handlers."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import UUID

from handlers.simulators.hubspot import answers, batches, objects, schemas
from handlers.simulators.hubspot.account import Account
from handlers.simulators.hubspot.answers import JsonObject, Refused, error
from handlers.simulators.hubspot.calls import Call, Result
from handlers.simulators.hubspot.journal import is_write
from handlers.simulators.hubspot.limits import Limits
from handlers.simulators.hubspot.portal import KINDS, TYPE_IDS
from handlers.simulators.hubspot.records import API, Write
from handlers.simulators.server import Reply, Request

STRICT_SINCE: Final = "2026-09"
"""The version that enforces what administrators require. Source: research/crm.md §1.1."""

_DATED: Final = frozenset({"2025-09", "2026-03", "2026-09"})
_NUMBERED: Final = {"v3": ("objects", "properties", "pipelines"), "v4": ("objects",)}
_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")

Handler = Callable[[Call], Result]

_ASSOCIATED: Final = "{kind}/{id}/associations/{to}/{to_id}"
_STAGE: Final = "{kind}/{id}/stages/{stage}"
# The first that fits counts, so fixed words stand before what they could be taken for.
_ROUTES: Final[tuple[tuple[str, str, str, Handler], ...]] = (
    ("objects", "POST", "{kind}/search", objects.search),
    ("objects", "POST", "{kind}/merge", objects.merge),
    ("objects", "POST", "{kind}/batch/read", batches.read),
    ("objects", "POST", "{kind}/batch/update", batches.update),
    ("objects", "POST", "{kind}/batch/upsert", batches.upsert),
    ("objects", "POST", "{kind}", objects.create),
    ("objects", "GET", "{kind}", objects.listing),
    ("objects", "GET", "{kind}/{id}", objects.read),
    ("objects", "PATCH", "{kind}/{id}", objects.update),
    ("objects", "DELETE", "{kind}/{id}", objects.archive),
    ("objects", "PUT", "{kind}/{id}/associations/default/{to}/{to_id}", objects.associate),
    ("objects", "GET", "{kind}/{id}/associations/{to}", objects.associations),
    ("objects", "DELETE", _ASSOCIATED, objects.dissociate),
    ("properties", "GET", "{kind}/groups", schemas.groups),
    ("properties", "POST", "{kind}/groups", schemas.add_group),
    ("properties", "GET", "{kind}", schemas.properties),
    ("properties", "POST", "{kind}", schemas.add_property),
    ("properties", "GET", "{kind}/{name}", schemas.read_property),
    ("properties", "PATCH", "{kind}/{name}", schemas.change_property),
    ("properties", "DELETE", "{kind}/{name}", schemas.archive_property),
    ("pipelines", "GET", "{kind}", schemas.pipelines),
    ("pipelines", "POST", "{kind}", schemas.add_pipeline),
    ("pipelines", "GET", "{kind}/{id}", schemas.read_pipeline),
    ("pipelines", "PATCH", "{kind}/{id}", schemas.change_pipeline),
    ("pipelines", "DELETE", "{kind}/{id}", schemas.remove_pipeline),
    ("pipelines", "GET", "{kind}/{id}/stages", schemas.stages),
    ("pipelines", "POST", "{kind}/{id}/stages", schemas.add_stage),
    ("pipelines", "GET", _STAGE, schemas.read_stage),
    ("pipelines", "PATCH", _STAGE, schemas.change_stage),
    ("pipelines", "DELETE", _STAGE, schemas.remove_stage),
)


class Route(NamedTuple):
    """Where a request goes."""

    family: str
    version: str
    path: dict[str, str]
    handler: Handler

    @property
    def kind(self) -> str:
        """What it is about: contacts, deals, or something this account does not have."""
        return TYPE_IDS.get(self.path["kind"], self.path["kind"])


@dataclass(frozen=True, slots=True)
class Api:
    """Answers the requests of programs, one at a time."""

    account: Account
    limits: Limits

    def answer(self, request: Request, at: str) -> Reply:
        """Carry one request out, at a time of the account."""
        headers: dict[str, str] = {}
        with self.account.lock:
            try:
                status, document = self._carry_out(request, at, headers)
            except Refused as refused:
                status = refused.status
                headers.update(refused.headers)
                document = {**refused.document, "correlationId": self._correlation(request)}
        body = b"" if document is None else json.dumps(document).encode()
        return Reply(status=status, body=body, headers=headers)

    def _carry_out(self, request: Request, at: str, headers: dict[str, str]) -> Result:
        address = urlsplit(request.path)
        route = _route(request.method, address.path)
        token = self._token(request, at)
        if route.version in self.account.setup.gone:
            raise answers.gone()
        search = route.handler is objects.search
        headers.update(self.limits.admit(self.account.setup, token, at, search=search))
        self._check_scope(route, request, token)
        if route.kind not in KINDS:
            message = f"Unable to infer object type from: {route.kind}"
            raise error(400, "VALIDATION_ERROR", message)
        call = Call(
            account=self.account,
            kind=route.kind,
            how=Write(API, at, _is_dated(route.version) and route.version >= STRICT_SINCE),
            path=route.path,
            query=dict(parse_qsl(address.query, keep_blank_values=True)),
            body=request.body,
        )
        return route.handler(call)

    def _token(self, request: Request, at: str) -> str:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        known = {each.token: each for each in self.account.setup.access}
        if scheme.lower() != "bearer" or token not in known:
            raise answers.unauthenticated()
        expired_at = known[token].expired_at
        if expired_at is not None and expired_at <= at:
            raise answers.expired(expired_at)
        return token

    def _check_scope(self, route: Route, request: Request, token: str) -> None:
        granted = next(each.scopes for each in self.account.setup.access if each.token == token)
        verb = "write" if is_write(request.method, urlsplit(request.path).path) else "read"
        area = "objects" if route.family == "objects" else "schemas"
        wanted = {f"crm.{area}.{route.kind}.{verb}"}
        if route.family == "pipelines" and verb == "read":
            wanted.add(f"crm.objects.{route.kind}.read")
        if not wanted & granted:
            raise answers.out_of_scope(wanted)

    def _correlation(self, request: Request) -> str:
        dice = self.account.dice.roll(f"{request.method} {request.path}")
        return str(UUID(int=dice.getrandbits(128), version=4))


def _route(method: str, path: str) -> Route:
    """Return where a request goes.

    Raises:
        Refused: there is no such path, or not with this verb.
    """
    family, version, rest = _parts(path)
    allowed = False
    for of, verb, pattern, handler in _ROUTES:
        found = _fit(pattern, rest) if of == family else None
        if found is not None and verb == method:
            return Route(family, version, found, handler)
        allowed = allowed or found is not None
    if allowed:
        raise Refused(405, {"status": "error", "message": "HTTP 405 Method Not Allowed"})
    raise answers.gone()


def _parts(path: str) -> tuple[str, str, list[str]]:
    crm, first, second, *rest = [*path.removeprefix("/").split("/"), "", "", ""]
    rest = [unquote(each) for each in rest[: len(rest) - 3]]
    if crm == "crm" and second in _NUMBERED.get(first, ()):
        return second, first, rest
    if crm == "crm" and _is_dated(second):
        return first, second, rest
    raise answers.gone()


def _is_dated(version: str) -> bool:
    return version in _DATED


def _fit(pattern: str, rest: list[str]) -> dict[str, str] | None:
    words = pattern.split("/")
    if len(words) != len(rest) or "" in rest:
        return None
    found: JsonObject = {}
    for word, part in zip(words, rest, strict=True):
        name = _PLACEHOLDER.fullmatch(word)
        if name is not None:
            found[name[1]] = part
        elif word != part:
            return None
    return found

"""API keys: who may report which events, and read what, for which organization.

A key is `lk_{keyId}_{secret}`. Only the SHA-256 of the secret is stored, which is enough for 32
random bytes. Every request reads its key, so that a revoked one is refused from then on.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from domain import instants, keys
from domain.acceptance import ALL_SOURCES, check_organization
from domain.errors import FieldError, Forbidden, NotFound, Rejected, Unauthenticated, Unavailable
from domain.ports.effects import Clock
from domain.ports.storage import StateTable
from domain.records import Absent, Equal, Row, every

SCOPES: Final = ("events:write", "events:read", "memories:read", "metrics:read", "admin")
"""What a key may be for. `admin` is all of them."""

DEFAULT_SCOPES: Final = ("events:write", "events:read", "memories:read")

_ID_CHARACTERS: Final = 12
_SECRET_BYTES: Final = 32
_KEY: Final = re.compile(r"lk_([a-z2-7]{12})_([A-Za-z0-9_-]{43})", re.ASCII)
_KEY_ID: Final = re.compile(r"[a-z2-7]{12}", re.ASCII)
_SOURCE_PATTERN: Final = re.compile(r"\*|[a-z0-9][a-z0-9_.:-]{0,99}\*?", re.ASCII)
_TRIES: Final = 3
_NO_DIGEST: Final = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What a request may do. `sources` are exact names or `prefix*`."""

    organization_id: str
    key_id: str
    scopes: frozenset[str]
    sources: tuple[str, ...]

    def require(self, scope: str) -> None:
        """Let through what the key is for.

        Raises:
            Forbidden: the key is not for this.
        """
        if scope not in self.scopes and "admin" not in self.scopes:
            raise Forbidden(
                f"The API key lacks the scope {scope}.", hint="Use a key that has the scope."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key as it is listed: everything but its secret. Instants are fixed-width UTC."""

    key_id: str
    organization_id: str
    scopes: tuple[str, ...]
    sources: tuple[str, ...]
    created_at: str
    expires_at: str | None = None
    revoked_at: str | None = None


def everything(organization_id: str) -> Credential:
    """Return the credential of who needs no key: the command line, an API that is open.

    Raises:
        InvalidEvent: the organization's id cannot stand in keys.
    """
    return Credential(
        organization_id=check_organization(organization_id),
        key_id="none",
        scopes=frozenset(SCOPES),
        sources=ALL_SOURCES,
    )


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """The keys of a deployment.

    `random_bytes` draws as many bytes as it is told; secrets come from it.
    """

    table: StateTable
    now: Clock
    random_bytes: Callable[[int], bytes]

    def create(
        self,
        organization_id: str,
        *,
        scopes: Sequence[str] = DEFAULT_SCOPES,
        sources: Sequence[str] = ALL_SOURCES,
        expires_at: str | None = None,
    ) -> tuple[str, ApiKey]:
        """Make a key and return it, the only time it can be read, with its description.

        Args:
            organization_id: whose events and leads the key opens.
            scopes: of `SCOPES`; none means `DEFAULT_SCOPES`.
            sources: names or `prefix*`; none means all.
            expires_at: an instant after which the key is refused.

        Raises:
            Rejected: a scope, a source or the organization's id is none.
        """
        key = ApiKey(
            key_id="",
            organization_id=check_organization(organization_id),
            scopes=tuple(dict.fromkeys(scopes)) or DEFAULT_SCOPES,
            sources=tuple(dict.fromkeys(sources)) or ALL_SOURCES,
            created_at=self.now(),
            expires_at=None if expires_at is None else _instant(expires_at),
        )
        _check(key)
        secret = base64.urlsafe_b64encode(self.random_bytes(_SECRET_BYTES)).decode().rstrip("=")
        for _ in range(_TRIES):
            drawn = base64.b32encode(self.random_bytes(_ID_CHARACTERS)).decode().lower()
            key = replace(key, key_id=drawn[:_ID_CHARACTERS])
            if self.table.put(_row(key, _digest(secret)), Absent()):
                return f"lk_{key.key_id}_{secret}", key
        raise Unavailable("No free key id was found.")

    def list(self, organization_id: str) -> list[ApiKey]:
        """Return an organization's keys, revoked and expired ones too, oldest first."""
        partition = keys.api_keys(organization_id)
        listed = every(lambda cursor: self.table.query_index(partition, cursor=cursor))
        # The index may lag; the rows themselves say what holds.
        rows = [self.table.get(row.key) for row in listed]
        return [_key(row) for row in rows if row is not None]

    def revoke(self, organization_id: str, key_id: str) -> ApiKey:
        """Revoke a key for good and return it; one that is revoked already stays as it is.

        Raises:
            NotFound: the organization has no such key.
        """
        row = self.table.get(keys.api_key(key_id)) if _KEY_ID.fullmatch(key_id) else None
        if row is None or row.attributes["organizationId"] != organization_id:
            raise NotFound("There is no such API key.", hint="List the keys to see their ids.")
        key = _key(row)
        if key.revoked_at is not None:
            return key
        revoked = replace(key, revoked_at=self.now())
        changed = _row(revoked, str(row.attributes["secretHash"]))
        # Somebody else was first: what he wrote stands.
        if not self.table.put(changed, Equal("revokedAt", "")):
            return self.revoke(organization_id, key_id)
        return revoked

    def authenticate(self, header: str | None) -> Credential:
        """Return what the sender of an `Authorization` header may do.

        Raises:
            Unauthenticated: there is no key, or none that holds now. Why is not told.
        """
        scheme, _, token = (header or "").partition(" ")
        match = _KEY.fullmatch(token.strip()) if scheme.lower() == "bearer" else None
        row = None if match is None else self.table.get(keys.api_key(match[1]))
        secret = "" if match is None else match[2]
        stored = _NO_DIGEST if row is None else str(row.attributes["secretHash"])
        genuine = hmac.compare_digest(_digest(secret), stored)
        key = _key(row) if row is not None and genuine else None
        if key is None or not self._holds(key):
            raise Unauthenticated(
                "The request carries no API key that is valid.",
                hint="Send `Authorization: Bearer lk_…` with a key that is neither revoked nor expired.",
            )
        return Credential(
            organization_id=key.organization_id,
            key_id=key.key_id,
            scopes=frozenset(key.scopes),
            sources=key.sources,
        )

    def _holds(self, key: ApiKey) -> bool:
        if key.revoked_at is not None:
            return False
        return key.expires_at is None or self.now() < key.expires_at


def _check(key: ApiKey) -> None:
    problems = [
        FieldError(f"/scopes/{index}", "is no scope")
        for index, scope in enumerate(key.scopes)
        if scope not in SCOPES
    ]
    problems.extend(
        FieldError(f"/sources/{index}", "must be a source, or its beginning and *")
        for index, source in enumerate(key.sources)
        if not _SOURCE_PATTERN.fullmatch(source)
    )
    if problems:
        hint = f"The scopes are {', '.join(SCOPES)}."
        raise Rejected("The API key cannot be made.", hint=hint, fields=problems)


def _instant(text: str) -> str:
    try:
        return instants.parse_instant(text)
    except ValueError as error:
        problem = FieldError("/expiresAt", str(error))
        hint = "Write the time with its offset, for example 2027-01-01T00:00:00Z."
        raise Rejected("The API key cannot be made.", hint=hint, fields=[problem]) from None


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _row(key: ApiKey, digest: str) -> Row:
    return Row(
        key=keys.api_key(key.key_id),
        attributes={
            "keyId": key.key_id,
            "organizationId": key.organization_id,
            "secretHash": digest,
            "scopes": " ".join(key.scopes),
            "sources": " ".join(key.sources),
            "createdAt": key.created_at,
            "expiresAt": key.expires_at or "",
            # Present from the start: a condition on it says that nobody revoked the key meanwhile.
            "revokedAt": key.revoked_at or "",
        },
        gsi1=(keys.api_keys(key.organization_id), f"{key.created_at}#{key.key_id}"),
    )


def _key(row: Row) -> ApiKey:
    attributes = row.attributes
    return ApiKey(
        key_id=str(attributes["keyId"]),
        organization_id=str(attributes["organizationId"]),
        scopes=tuple(str(attributes["scopes"]).split()),
        sources=tuple(str(attributes["sources"]).split()),
        created_at=str(attributes["createdAt"]),
        expires_at=str(attributes["expiresAt"]) or None,
        revoked_at=str(attributes["revokedAt"]) or None,
    )

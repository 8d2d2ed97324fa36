"""The way out to HubSpot: one request, made once, and what came of it. Nothing here is logged."""

import ipaddress
import json
import re
import ssl
import time
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final
from urllib.parse import urlsplit

import httpx2

from adapters.hubspot.classification import failed, not_made, refused
from adapters.hubspot.pacing import Pacer
from adapters.hubspot.readonly import ReadOnly
from adapters.hubspot.wire import Answer, Request, decode
from domain.crm.replies import Reply
from domain.errors import Rejected

BASE_URL: Final = "https://api.hubapi.com"

CONNECT_S: Final = 2.0
READ_S: Final = 10.0
WRITE_S: Final = 5.0
POOL_S: Final = 1.0
"""Source of these and of the next two: research/crm.md §5."""

MAX_CONNECTIONS: Final = 4
_KEPT_ALIVE_S: Final = 20.0

MAX_ANSWER_BYTES: Final = 1024 * 1024
"""Of an answer, unpacked."""

USER_AGENT: Final = "leads-crm-mirror"

_TOKEN: Final = re.compile(r"[!-~]{1,1000}", re.ASCII)


class HubSpotClient:
    """Makes requests of one account. Threads may share one, which goes through one pacer.

    Args:
        token: the access token of a private app.
        base_url: of the API, or of what stands in for it. Plain http is for this machine only.
        read_s: seconds to wait for each part of an answer, and for all of it.
        pacer: shared by all clients of the account in this process.
        read_only: refuse every request that could change something.

    Raises:
        Rejected: no request could be made with this token, or to this address.
    """

    def __init__(
        self,
        token: str,
        *,
        base_url: str = BASE_URL,
        read_s: float = READ_S,
        pacer: Pacer | None = None,
        read_only: bool = False,
    ) -> None:
        if not _TOKEN.fullmatch(token):
            message = "The CRM's token cannot be used."
            raise Rejected(message, hint="Set it to the access token of a private app, one line.")
        self._base_url = _address(base_url)
        self._read_s = read_s
        self._pacer = pacer or Pacer()
        transport: httpx2.BaseTransport = httpx2.HTTPTransport(
            verify=_trusted(),
            # Nothing of the shell that started it: neither its proxies nor its certificates.
            trust_env=False,
            http2=False,
            retries=0,
            limits=httpx2.Limits(
                max_connections=MAX_CONNECTIONS,
                max_keepalive_connections=MAX_CONNECTIONS,
                keepalive_expiry=_KEPT_ALIVE_S,
            ),
        )
        if read_only:
            transport = ReadOnly(transport, urlsplit(self._base_url).path)
        self._http = httpx2.Client(
            transport=transport,
            trust_env=False,
            follow_redirects=False,
            # What the edge would have us carry from one request to the next.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            timeout=httpx2.Timeout(read_s, connect=CONNECT_S, write=WRITE_S, pool=POOL_S),
            headers={"Authorization": f"Bearer {token}", "User-Agent": USER_AGENT},
        )

    @property
    def allowed(self) -> tuple[int, float]:
        """See `Pacer.allowed`."""
        return self._pacer.allowed

    @property
    def day_left(self) -> float | None:
        """See `Pacer.day_left`."""
        return self._pacer.day_left

    def close(self) -> None:
        """Close what connections are open."""
        self._http.close()

    def ask(self, request: Request) -> Answer | Reply:
        """Make one request, once, when it is its turn; return its answer if it is a success.

        Never raises for the network or for what is answered: the reply says what it means.
        """
        try:
            prepared = self._prepared(request)
        except Exception:  # noqa: BLE001 - whatever it is, nothing was sent
            prepared = None
        if prepared is None:
            return not_made()
        self._pacer.hold(searches=request.searches)
        try:
            answer = self._sent(prepared)
        except Exception as error:  # noqa: BLE001 - what nobody knows may have been sent
            return failed(error, request.verb)
        self._pacer.told(answer.headers)
        if 200 <= answer.status < 300:
            return answer
        return refused(answer, request.verb, searches=request.searches)

    def _prepared(self, request: Request) -> httpx2.Request | None:
        if request.path is None:
            return None
        has_body = request.body is not None
        return self._http.build_request(
            request.method,
            f"{self._base_url}{request.path}",
            params=dict(request.params) or None,
            # In ASCII: half of a surrogate pair is no reason to fail before anything was sent.
            content=json.dumps(request.body).encode() if has_body else None,
            headers={"Content-Type": "application/json"} if has_body else None,
        )

    def _sent(self, prepared: httpx2.Request) -> Answer:
        response = self._http.send(prepared, stream=True)
        try:
            content = self._content(response)
        finally:
            response.close()
        return Answer(
            status=response.status_code,
            headers=dict(response.headers),
            body=decode(content) if content else None,
            too_large=content is None,
        )

    def _content(self, response: httpx2.Response) -> bytes | None:
        """Read an answer that neither grows without end nor trickles without end."""
        deadline = time.monotonic() + self._read_s
        content = bytearray()
        for some in response.iter_bytes():
            content += some
            if len(content) > MAX_ANSWER_BYTES:
                return None
            if time.monotonic() > deadline:
                message = "the answer trickles"
                raise httpx2.ReadTimeout(message, request=response.request)
        return bytes(content)


@cache
def _trusted() -> ssl.SSLContext:
    # Reading all certificates takes as long as a request, so it is done once.
    return httpx2.create_ssl_context(trust_env=False)


def _address(base_url: str) -> str:
    """Return a base URL that a token may be sent to.

    Raises:
        Rejected: it is none, or plain http to another machine.
    """
    try:
        parts = urlsplit(base_url.strip())
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    plain = parts.scheme == "http" and _is_this_machine(host)
    bare = not (parts.query or parts.fragment or parts.username or parts.password)
    if not host or not bare or not (parts.scheme == "https" or plain):
        message = "The CRM's address cannot be used."
        raise Rejected(message, hint="Give an https:// URL; plain http is for this machine only.")
    return base_url.strip().rstrip("/")


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

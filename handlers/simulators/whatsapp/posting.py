"""One request to the webhook, over HTTP."""

import http.client
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

USER_AGENT: Final = "facebookexternalua"
"""What Meta's requests call themselves. Source: chatwoot/chatwoot#13556."""

_CONNECTIONS: Final = {
    "http": http.client.HTTPConnection,
    "https": http.client.HTTPSConnection,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the webhook answered; no status if no answer came, and then the kind of error."""

    status: int | None = None
    body: bytes = b""
    error: str = ""

    @property
    def good(self) -> bool:
        """Tell whether Meta would take it for received: any 2xx."""
        return self.status is not None and 200 <= self.status < 300


def is_web_address(url: str) -> bool:
    """Tell whether a URL is one that can be posted to."""
    try:
        parts = urlsplit(url)
        return parts.scheme in _CONNECTIONS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def request(
    method: str, url: str, *, body: bytes | None, headers: dict[str, str], timeout_s: float
) -> Answer:
    """Send one request and return its answer. Follows no redirect, and never raises."""
    parts = urlsplit(url)
    target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    connection = _CONNECTIONS[parts.scheme](
        parts.hostname or "", parts.port or None, timeout=timeout_s
    )
    try:
        connection.request(method, target, body, {"User-Agent": USER_AGENT, **headers})
        response = connection.getresponse()
        return Answer(status=response.status, body=response.read())
    except (OSError, http.client.HTTPException) as error:
        return Answer(error=type(error).__name__)
    finally:
        connection.close()

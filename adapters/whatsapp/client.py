"""The way out to WhatsApp: one text, handed over once, and what came of it.

Whatever may have been sent is `Unknown`, and never sent again here. Bodies are never logged.
"""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import httpx2

from adapters.whatsapp.bodies import decode
from adapters.whatsapp.cleaning import clean_text, id_of, number
from adapters.whatsapp.errors import classify, told
from adapters.whatsapp.people import Fields, forms_of
from domain.conversation.delivery import (
    Accepted,
    ErrorClass,
    NotAccepted,
    OutboundText,
    SendResult,
    Unknown,
)

BASE_URL: Final = "https://graph.facebook.com"

CONNECT_S: Final = 3.0
READ_S: Final = 10.0
"""Source of both: research/whatsapp.md §5.2."""

TYPING_S: Final = 3.0
"""For all of a best effort that a turn waits for."""

REACH_S: Final = 3.0
"""For a look at whether the API answers, which somebody waits for."""

_MAX_ANSWER_BYTES: Final = 64 * 1024
_MAX_RETRY_AFTER_S: Final = 24 * 60 * 60

_NOT_SENT: Final = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
)
# A base URL or a token that no request can be made of: a fault of the settings.
_NO_REQUEST: Final = (
    httpx2.InvalidURL,
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
    UnicodeEncodeError,
    LookupError,
)


class _Answer(NamedTuple):
    status: int
    retry_after: str | None
    content: bytes


class WhatsAppChannel:
    """See `domain.ports.effects.Channel`. Threads may share one.

    Args:
        token_of: returns the access token of a number of ours, LookupError if there is none; or the
            one token of all of them.
        version: of the Graph API, such as v24.0.
        base_url: of the Graph API, or of what stands in for it.
        connect_s: seconds to connect, and to wait for a free connection.
        read_s: seconds for each read and write, and for all of an answer's body.
    """

    def __init__(
        self,
        token_of: Callable[[str], str] | str,
        *,
        version: str,
        base_url: str = BASE_URL,
        connect_s: float = CONNECT_S,
        read_s: float = READ_S,
    ) -> None:
        self._token_of = token_of if callable(token_of) else lambda _account: token_of
        self._root = f"{base_url.rstrip('/')}/{version}"
        self._timeout = httpx2.Timeout(read_s, connect=connect_s, pool=connect_s)
        # Nothing of the shell that started it: neither its proxies nor its .netrc.
        self._http = httpx2.Client(trust_env=False, follow_redirects=False)

    def close(self) -> None:
        """Close what connections are open."""
        self._http.close()

    def send(self, text: OutboundText) -> SendResult:
        """See `Channel.send`."""
        body = {
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            _addressing(text.to): text.to,
            "type": "text",
            "text": {"preview_url": False, "body": clean_text(text.text)},
            "biz_opaque_callback_data": text.outbound_id,
        }
        try:
            answer = self._post(text.account, body, self._timeout)
        except _NOT_SENT:
            return NotAccepted(error_class=ErrorClass.NOT_SENT)
        except _NO_REQUEST:
            return NotAccepted(error_class=ErrorClass.ACCOUNT)
        except httpx2.TimeoutException:
            return Unknown(reason="timeout")
        except httpx2.HTTPError:
            return Unknown(reason="connection_lost")
        return _result(answer)

    def typing(self, account: str, message_id: str) -> None:
        """See `Channel.typing`."""
        body = {
            "messaging_product": "whatsapp",
            "status": "read",
            "message_id": message_id,
            "typing_indicator": {"type": "text"},
        }
        # A courtesy: nothing depends on it, so nothing it meets is worth an error.
        with suppress(Exception):
            self._post(account, body, httpx2.Timeout(TYPING_S))

    def reach(self, account: str) -> str | None:
        """Ask for one of our numbers; return what is wrong in a word, None if nothing is."""
        try:
            answer = self._http.get(
                f"{self._root}/{quote(account, safe='')}",
                params={"fields": "id"},
                headers={"Authorization": f"Bearer {self._token_of(account)}"},
                timeout=httpx2.Timeout(REACH_S),
            )
        except _NO_REQUEST:
            return "settings_unfit"
        except httpx2.HTTPError:
            return "unreachable"
        if answer.status_code >= 500:
            return "unreachable"
        return _unfit(answer.status_code, decode(answer.content[:_MAX_ANSWER_BYTES]), account)

    def knock(self, url: str, body: bytes, signature: str | None) -> int | None:
        """Deliver to a webhook as WhatsApp does; return the status, None if none came."""
        headers = {"Content-Type": "application/json"}
        if signature is not None:
            headers["X-Hub-Signature-256"] = signature
        try:
            answer = self._http.post(
                url, content=body, headers=headers, timeout=httpx2.Timeout(REACH_S)
            )
        except (*_NO_REQUEST, httpx2.HTTPError):
            return None
        return answer.status_code

    def _post(self, account: str, body: dict[str, Any], timeout: httpx2.Timeout) -> _Answer:
        with self._http.stream(
            "POST",
            f"{self._root}/{quote(account, safe='')}/messages",
            # In ASCII: half of a surrogate pair is no reason to fail before anything was sent.
            content=json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self._token_of(account)}",
                "Content-Type": "application/json",
            },
            timeout=timeout,
        ) as response:
            content = _limited(response, timeout.read or READ_S)
            return _Answer(response.status_code, response.headers.get("retry-after"), content)


def _limited(response: httpx2.Response, read_s: float) -> bytes:
    """Read an answer that neither grows without end nor trickles without end."""
    deadline = time.monotonic() + read_s
    content = b""
    for some in response.iter_bytes():
        content += some
        if len(content) > _MAX_ANSWER_BYTES:
            return b""
        if time.monotonic() > deadline:
            message = "the answer trickles"
            raise httpx2.ReadTimeout(message, request=response.request)
    return content


def _result(answer: _Answer) -> SendResult:
    body = decode(answer.content)
    fields = body if isinstance(body, dict) else {}
    if 200 <= answer.status < 300:
        return _accepted(fields)
    error = fields.get("error")
    if not isinstance(error, dict) and answer.status >= 500:
        return Unknown(reason="server_error")
    said = told(error)
    transient = isinstance(error, dict) and error.get("is_transient") is True
    return NotAccepted(
        error_class=classify(said.code, answer.status, transient),
        error_code=said.code,
        error_title=said.title,
        error_details=said.details,
        retry_after_s=_seconds(answer.retry_after),
    )


def _unfit(status: int, body: Any, account: str) -> str | None:
    """Return why an answer about a number is not the one that is hoped for."""
    fields = body if isinstance(body, dict) else {}
    if status == 200 and id_of(fields.get("id")) == account:
        return None
    if status in {401, 403}:
        return "token_refused"
    return "number_unknown" if isinstance(fields.get("error"), dict) else "no_graph_api"


def _accepted(fields: dict[str, Any]) -> SendResult:
    message_id = id_of(_first(fields, "messages").get("id"))
    if message_id is None:
        return Unknown(reason="no_message_id")
    contact = _first(fields, "contacts")
    return Accepted(
        message_id=message_id,
        wa_id=id_of(contact.get("wa_id")),
        user_id=id_of(contact.get("user_id")),
    )


def _first(fields: dict[str, Any], name: str) -> Fields:
    members = fields.get(name)
    first = members[0] if isinstance(members, list) and members else None
    return first if isinstance(first, dict) else {}


def _seconds(header: str | None) -> int | None:
    # A date is not read: Meta sends seconds, and its clock is not ours.
    seconds = number(header)
    return None if seconds is None or seconds < 0 else min(seconds, _MAX_RETRY_AFTER_S)


def _addressing(to: str) -> str:
    """Return the field an address is sent in: phones have another than user ids."""
    forms = forms_of(to)
    return "recipient" if forms and not forms[0].isdigit() else "to"

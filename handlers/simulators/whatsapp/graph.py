"""The Graph API's side of a send: what a body must say, and how it is refused."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from handlers.simulators.whatsapp.people import USER_ID, JsonObject

PATH: Final = re.compile(r"/v[0-9]{1,3}\.[0-9]{1,2}/([0-9]{1,32})/messages", re.ASCII)
NUMBER_PATH: Final = re.compile(r"/v[0-9]{1,3}\.[0-9]{1,2}/([0-9]{1,32})", re.ASCII)

LONGEST_TEXT: Final = 4096
"""Source: research/whatsapp.md §5.2. Counted in UTF-16 units, the strictest reading of the limit."""
LONGEST_TRACKER: Final = 512

_PHONE: Final = re.compile(r"[0-9]{7,15}", re.ASCII)
_SPACING: Final = re.compile(r"[ ()+-]")


class Kind(NamedTuple):
    """What a code is called, and the HTTP status it comes with."""

    http_status: int
    title: str


# Source: Meta's page of error codes, as far as research/whatsapp.md §5.1 lists them. Meta itself says
# that statuses and titles may change and that only the code counts.
KINDS: Final = {
    1: Kind(400, "API Unknown"),
    2: Kind(503, "API Service"),
    4: Kind(400, "API Too Many Calls"),
    10: Kind(403, "Permission Denied"),
    33: Kind(400, "Parameter value is not valid"),
    100: Kind(400, "Invalid parameter"),
    190: Kind(401, "Access token has expired"),
    368: Kind(403, "Temporarily blocked for policies violations"),
    80007: Kind(400, "Rate limit issues"),
    130429: Kind(429, "Rate limit hit"),
    130472: Kind(400, "User's number is part of an experiment"),
    131000: Kind(500, "Something went wrong"),
    131005: Kind(403, "Access denied"),
    131008: Kind(400, "Required parameter is missing"),
    131009: Kind(400, "Parameter value is not valid"),
    131016: Kind(500, "Service unavailable"),
    131021: Kind(400, "Recipient cannot be sender"),
    131026: Kind(400, "Message undeliverable"),
    131031: Kind(403, "Account has been locked"),
    131042: Kind(400, "Business eligibility payment issue"),
    131047: Kind(400, "Re-engagement message"),
    131048: Kind(400, "Spam rate limit hit"),
    131049: Kind(400, "Meta chose not to deliver"),
    131050: Kind(400, "User has stopped marketing messages"),
    131051: Kind(400, "Unsupported message type"),
    131056: Kind(400, "(Business Account, Consumer Account) pair rate limit hit"),
    131057: Kind(500, "Account in maintenance mode"),
}
_UNKNOWN: Final = Kind(400, "Unknown error")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRequest:
    """A text to send. `to` is a phone's digits, or a user id."""

    to: str
    text: str
    tracker: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest:
    """A message was read; `typing`: an answer is being written."""

    message_id: str
    typing: bool


class Refused(Exception):
    """The request is answered with a Graph error."""

    def __init__(self, code: int, details: str, http_status: int | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.details = details
        self.http_status = http_status or kind(code).http_status


def kind(code: int) -> Kind:
    """Return what a code is called."""
    return KINDS.get(code, _UNKNOWN)


def read(body: bytes) -> TextRequest | ReadRequest:
    """Return what a request to send asks for.

    Raises:
        Refused: it asks for nothing that this API, or this simulator of it, does.
    """
    document = _document(body)
    if document.get("messaging_product") != "whatsapp":
        raise Refused(100, "The parameter messaging_product is required.")
    if "status" in document:
        return _read_receipt(document)
    return _text(document)


def error_json(refused: Refused, trace: str) -> JsonObject:
    """Return the document of a Graph error."""
    return {
        "error": {
            "message": f"(#{refused.code}) {kind(refused.code).title}",
            "type": "OAuthException",
            "code": refused.code,
            "error_data": {"messaging_product": "whatsapp", "details": refused.details},
            "fbtrace_id": trace,
        }
    }


def status_error_json(code: int) -> JsonObject:
    """Return the error that a failed status carries."""
    title = kind(code).title
    return {
        "code": code,
        "title": title,
        "message": title,
        "error_data": {"details": f"{title}."},
        "href": "https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/",
    }


def _document(body: bytes) -> JsonObject:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise Refused(100, "The body is not a JSON object.")
    return document


def _read_receipt(document: JsonObject) -> ReadRequest:
    if document["status"] != "read":
        raise Refused(131009, "status must be read.")
    typing = document.get("typing_indicator")
    if typing is not None and typing != {"type": "text"}:
        raise Refused(131009, "typing_indicator must be of the type text.")
    return ReadRequest(
        message_id=_string(document, "message_id"),
        typing=typing is not None,
    )


def _text(document: JsonObject) -> TextRequest:
    if document.get("recipient_type", "individual") != "individual":
        raise Refused(131009, "recipient_type must be individual.")
    if document.get("type", "text") != "text":
        raise Refused(131051, "This simulator sends text only.")
    content = document.get("text")
    if not isinstance(content, dict):
        raise Refused(131008, "text is missing.")
    body = _string(content, "body")
    if len(body.encode("utf-16-le", "surrogatepass")) // 2 > LONGEST_TEXT:
        raise Refused(100, f"text.body must be at most {LONGEST_TEXT} characters long.")
    return TextRequest(to=_recipient(document), text=body, tracker=_tracker(document))


def _recipient(document: JsonObject) -> str:
    if "to" in document:
        digits = _SPACING.sub("", _string(document, "to"))
        if not _PHONE.fullmatch(digits):
            raise Refused(131009, "to is not a phone number.")
        return digits
    if "recipient" not in document:
        raise Refused(131008, "to or recipient is missing.")
    user_id = _string(document, "recipient")
    if not USER_ID.fullmatch(user_id):
        raise Refused(131009, "recipient is not a user id.")
    return user_id


def _tracker(document: JsonObject) -> str | None:
    if "biz_opaque_callback_data" not in document:
        return None
    tracker = _string(document, "biz_opaque_callback_data")
    if len(tracker) > LONGEST_TRACKER:
        raise Refused(131009, f"biz_opaque_callback_data is longer than {LONGEST_TRACKER}.")
    return tracker


def _string(document: JsonObject, name: str) -> str:
    value: Any = document.get(name)
    if not isinstance(value, str) or not value:
        raise Refused(131008 if value in (None, "") else 131009, f"{name} must be text.")
    return value

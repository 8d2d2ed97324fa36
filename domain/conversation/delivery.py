"""Handing text to a channel, and what the channel may answer."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class ErrorClass(StrEnum):
    """What a failure means for the next try. Source: research/whatsapp.md §5.1."""

    PAIR = "PAIR"
    THROUGHPUT = "THROUGHPUT"
    TRANSIENT = "TRANSIENT"
    NOT_SENT = "NOT_SENT"
    ACCOUNT = "ACCOUNT"
    WINDOW = "WINDOW"
    RECIPIENT = "RECIPIENT"
    CONSENT = "CONSENT"
    SPAM = "SPAM"
    REQUEST = "REQUEST"
    MEDIA = "MEDIA"


RETRIED: Final = frozenset(
    (
        ErrorClass.PAIR,
        ErrorClass.THROUGHPUT,
        ErrorClass.TRANSIENT,
        ErrorClass.NOT_SENT,
        ErrorClass.ACCOUNT,
    )
)
"""Classes in which the same text may go later; in all others another try would fail again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundText:
    """One text for one person. `to` is the address exactly as last seen; ≤ 4096 characters."""

    outbound_id: str
    account: str
    to: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The channel took it. `wa_id`, `user_id`: addresses the channel named for the person."""

    message_id: str
    wa_id: str | None = None
    user_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAccepted:
    """It was certainly not sent. `retry_after_s`: what the channel asked for, if it did."""

    error_class: ErrorClass
    error_code: int | None = None
    error_title: str | None = None
    error_details: str | None = None
    retry_after_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """It may have been sent. `reason` is a word for the log."""

    reason: str


SendResult = Accepted | NotAccepted | Unknown

"""Where leads are met, in one normal form per address, so that one person is found as one lead.

What WhatsApp and people write for one mobile number differs by country: Brazil's ninth digit,
Mexico's 1 and Argentina's 9 behind the country code come and go. One form is canonical, the others
are aliases; every one of them is looked up and claimed, so neither kind of sender makes a second
lead. A changed normal form must keep the older ones among its aliases: identities are never rewritten.
"""

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

from domain import keys
from domain.errors import FieldError, InvalidEvent
from domain.event import MAX_ID_CHARACTERS, Address

CHANNEL_POINTER: Final = "/lead/channel"
IDENTIFIER_POINTER: Final = "/lead/channelIdentifier"

_CHANNEL: Final = re.compile(r"[a-z][a-z0-9_]{0,49}", re.ASCII)
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# Everything people put into a number beside its digits.
_NUMBER: Final = re.compile(r"\+?[0-9(][0-9 ()./\u00a0-]*", re.ASCII)
# WhatsApp's business-scoped user ids, and our own prefixes: letters, a separator, the id. Words
# such as "null" or "unknown" are none: they would make one lead of many people.
_USER_ID: Final = re.compile(r"[A-Za-z]{2,16}[.:][A-Za-z0-9._:-]{1,200}", re.ASCII)
_NATIONAL_DIGITS: Final = 11
"""Of the longest number in Brazil without its country code."""

_NO_NUMBER: Final = "must be a phone number with its country code, for example +55 11 …"


class _Variant(NamedTuple):
    """Two forms of one mobile number; the canonical is the one subscribers are told to dial."""

    canonical: re.Pattern[str]
    other: re.Pattern[str]
    to_other: str
    to_canonical: str


# Source: research/whatsapp.md §6.2 (wa_id as WhatsApp sends it, against E.164). Brazil: only lines
# 6-9 were given the ninth digit; a line 9 [2-5]… without its 9 would be somebody's landline.
_VARIANTS: Final = (
    _Variant(
        canonical=re.compile(r"55([1-9][1-9])9([6-9][0-9]{7})", re.ASCII),
        other=re.compile(r"55([1-9][1-9])([6-9][0-9]{7})", re.ASCII),
        to_other=r"55\1\2",
        to_canonical=r"55\g<1>9\2",
    ),
    _Variant(
        canonical=re.compile(r"52([0-9]{10})", re.ASCII),
        other=re.compile(r"521([0-9]{10})", re.ASCII),
        to_other=r"521\1",
        to_canonical=r"52\1",
    ),
    _Variant(
        canonical=re.compile(r"54([0-9]{10})", re.ASCII),
        other=re.compile(r"549([0-9]{10})", re.ASCII),
        to_other=r"549\1",
        to_canonical=r"54\1",
    ),
)


def address(channel: Any, identifier: Any) -> Address:
    """Return the normal form of an address as a sender wrote it.

    Phone and WhatsApp numbers become the digits of E.164, e-mail addresses lower case; an
    identifier of any other channel keeps its case. Surrounding space never counts. A number without
    a plus is international on WhatsApp, which writes them so; on `phone` it is taken for one only
    if it is too long to be national, since 51 9… is Porto Alegre to some and Peru to others.

    Raises:
        InvalidEvent: names /lead/channel or /lead/channelIdentifier, never what stood there.
    """
    if not isinstance(channel, str) or not _CHANNEL.fullmatch(channel.lower()):
        raise _invalid(CHANNEL_POINTER, "must be a lower-case word of at most 50 characters")
    text = identifier.strip() if isinstance(identifier, str) else ""
    if not text or len(text) > MAX_ID_CHARACTERS or _UNPRINTABLE.search(text):
        detail = f"must be text of 1 to {MAX_ID_CHARACTERS} printable characters"
        raise _invalid(IDENTIFIER_POINTER, detail)
    return _normal(channel.lower(), text)


def identity_keys(organization_id: str, of: Address) -> tuple[str, ...]:
    """Return the identity key of every form of an address, the canonical one first, each once."""
    forms = dict.fromkeys((of.identifier, *of.aliases))
    return tuple(keys.identity(organization_id, of.channel, form) for form in forms)


@lru_cache(maxsize=8192)
def _normal(channel: str, text: str) -> Address:
    # A lead writes more than once, and reading a phone number costs as much as storing its event.
    if channel == "email":
        return Address(channel=channel, identifier=_email(text))
    if channel == "phone" or (channel == "whatsapp" and not _USER_ID.fullmatch(text)):
        canonical, *aliases = _forms(_digits(text, stated=channel == "whatsapp"))
        return Address(channel=channel, identifier=canonical, aliases=tuple(aliases))
    return Address(channel=channel, identifier=text)


def _email(text: str) -> str:
    if not _EMAIL.fullmatch(text):
        raise _invalid(IDENTIFIER_POINTER, "must be an e-mail address")
    return text.lower()


def _forms(digits: str) -> list[str]:
    """Return the canonical digits of a number, then each other form it may be met in."""
    for variant in _VARIANTS:
        if variant.canonical.fullmatch(digits):
            return [digits, variant.canonical.sub(variant.to_other, digits)]
        if variant.other.fullmatch(digits):
            return [variant.other.sub(variant.to_canonical, digits), digits]
    return [digits]


def _digits(text: str, *, stated: bool) -> str:
    """Return the E.164 digits of a number; `stated` if it has its country code without a plus."""
    # Its import costs as much as the rest of a start; only those pay who meet a number.
    import phonenumbers  # noqa: PLC0415

    plain = _NUMBER.fullmatch(text)
    if text.startswith(("+", "00")):
        text, stated = text.removeprefix("00"), True
    try:
        number = phonenumbers.parse(f"+{text.removeprefix('+')}") if plain else None
    except phonenumbers.NumberParseException:
        number = None
    if number is None:
        raise _invalid(IDENTIFIER_POINTER, _NO_NUMBER)
    digits = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)[1:]
    # The library calls WhatsApp's own variants invalid, so it judges lengths, and not of those.
    possible = phonenumbers.is_possible_number(number) or _is_variant(digits)
    if not possible or not (stated or len(digits) > _NATIONAL_DIGITS):
        raise _invalid(IDENTIFIER_POINTER, _NO_NUMBER)
    return digits


def _is_variant(digits: str) -> bool:
    return any(variant.other.fullmatch(digits) for variant in _VARIANTS)


def _invalid(pointer: str, detail: str) -> InvalidEvent:
    return InvalidEvent(
        "The lead's address cannot be used.",
        hint="Correct the field and send the event again.",
        fields=[FieldError(pointer, detail)],
    )

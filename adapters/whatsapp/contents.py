"""What a message is and says, whoever wrote it: the part that all of its directions share."""

from collections.abc import Callable
from typing import Final, NamedTuple

from adapters.whatsapp.cleaning import id_of, text_of, word_of
from adapters.whatsapp.people import Fields


class Content(NamedTuple):
    """`media_type` in the words of `domain.conversation.inbound`, and what can be read of it."""

    media_type: str
    text: str = ""
    media_id: str | None = None


MEDIA: Final = frozenset(("image", "video", "document", "sticker", "audio", "voice"))


def type_of(message: Fields) -> str | None:
    """Return a message's type; if it states none, the one whose object it has."""
    stated = message.get("type")
    if stated is not None:
        return word_of(stated)
    return next((name for name in (*_READERS, *SPECIAL) if name in message), None)


def content_of(message: Fields) -> Content | None:
    """Return the content of a message of a type that has one, None for every other type."""
    kind = type_of(message)
    read = _READERS.get(kind) if kind else None
    return read(message) if read else None


def any_content_of(message: Fields) -> Content:
    """Return what can be read of a message of any type, the ones of tomorrow included."""
    known = content_of(message)
    if known is not None:
        return known
    return Content(type_of(message) or "unknown", edited_text(message) or emoji_of(message))


def edited_text(message: Fields) -> str:
    """Return the text or caption that an edit puts in place of what stood there."""
    inner = content_of(part(part(message, "edit"), "message"))
    return inner.text if inner else ""


def emoji_of(message: Fields) -> str:
    """Return the emoji of a reaction, "" where it was taken away."""
    return text_of(part(message, "reaction").get("emoji"), _EMOJI)


def part(of: Fields, name: str) -> Fields:
    """Return an object inside another, an empty one if there is none."""
    value = of.get(name)
    return value if isinstance(value, dict) else {}


SPECIAL: Final = ("reaction", "edit", "revoke", "system", "unsupported", "request_welcome")
"""Types without a content of their own."""

_EMOJI: Final = 100
"""Characters; one emoji of a family with skin tones has 15. Source: `domain.catalog`, words."""


def _text(message: Fields) -> Content:
    return Content("text", text_of(part(message, "text").get("body")))


def _media(message: Fields) -> Content:
    kind = type_of(message) or ""
    media = part(message, kind)
    spoken = kind == "voice" or (kind == "audio" and media.get("voice") is True)
    # Its address is never kept for use: media are fetched by id alone, from Meta alone.
    return Content(
        "voice" if spoken else kind, text_of(media.get("caption")), id_of(media.get("id"))
    )


def _location(message: Fields) -> Content:
    place = part(message, "location")
    named = filter(None, (text_of(place.get(name)).strip() for name in ("name", "address")))
    return Content("location", text_of(", ".join(named)))


def _contacts(message: Fields) -> Content:
    cards = message.get("contacts")
    named = (
        text_of(part(card, "name").get("formatted_name")).strip()
        for card in (cards if isinstance(cards, list) else ())
        if isinstance(card, dict)
    )
    return Content("contacts", text_of(", ".join(filter(None, named))))


def _interactive(message: Fields) -> Content:
    chosen = part(message, "interactive")
    for name, media_type, told in _CHOICES:
        if name in chosen:
            return Content(media_type, text_of(part(chosen, name).get(told)))
    return Content(word_of(chosen.get("type")) or "interactive")


def _button(message: Fields) -> Content:
    button = part(message, "button")
    return Content("button", text_of(button.get("text")) or text_of(button.get("payload")))


def _order(message: Fields) -> Content:
    return Content("order", text_of(part(message, "order").get("text")))


_CHOICES: Final = (
    ("button_reply", "button", "title"),
    ("list_reply", "list", "title"),
    ("nfm_reply", "form", "body"),
)
"""What an interactive message may hold, our word for it, and where its text stands."""

_READERS: Final[dict[str, Callable[[Fields], Content]]] = {
    "text": _text,
    **dict.fromkeys(MEDIA, _media),
    "location": _location,
    "contacts": _contacts,
    "interactive": _interactive,
    "button": _button,
    "order": _order,
}

"""What people and the business can do, as the parts of a message that say it.

Shapes as of August 2026. Source: research/whatsapp.md §1.2 and §1.4; the media and everything else
in them is made up.
"""

import base64
import hashlib
import json
from typing import Final

from handlers.simulators.whatsapp.people import JsonObject, Number, Person

UNSUPPORTED: Final = 131051

_MIME: Final = {
    "image": "image/jpeg",
    "video": "video/mp4",
    "document": "application/pdf",
    "sticker": "image/webp",
    "audio": "audio/ogg; codecs=opus",
}
_MEDIA_HOST: Final = "https://lookaside.fbsbx.com/whatsapp_business/attachments/"
_MEDIA_ID_DIGITS: Final = 16


def text(body: str) -> JsonObject:
    """Return a text."""
    return {"type": "text", "text": {"body": body}}


def media(
    kind: str, key: str, caption: str | None = None, filename: str | None = None
) -> JsonObject:
    """Return a file of a kind of media; the same key is the same file."""
    digest = hashlib.sha256(key.encode()).digest()
    number = int.from_bytes(digest[:8], "big") % 10**_MEDIA_ID_DIGITS
    media_id = f"{number:0{_MEDIA_ID_DIGITS}d}"
    about: JsonObject = {
        "mime_type": _MIME[kind],
        "sha256": base64.b64encode(digest).decode(),
        "id": media_id,
        "url": f"{_MEDIA_HOST}?mid={media_id}",
    }
    if kind == "audio":
        about["voice"] = True
    for name, value in (("caption", caption), ("filename", filename)):
        if value is not None:
            about[name] = value
    return {"type": kind, kind: about}


def location(latitude: float, longitude: float, name: str) -> JsonObject:
    """Return a place, in degrees."""
    about = {"latitude": latitude, "longitude": longitude, "name": name}
    return {"type": "location", "location": about}


def contacts(name: str, phone: str) -> JsonObject:
    """Return somebody's card."""
    card = {
        "name": {"formatted_name": name, "first_name": name.split(maxsplit=1)[0]},
        "phones": [{"phone": f"+{phone}", "wa_id": phone, "type": "CELL"}],
    }
    return {"type": "contacts", "contacts": [card]}


def button_reply(key: str, title: str) -> JsonObject:
    """Return the choice of a button of an interactive message."""
    return _interactive("button_reply", {"id": key, "title": title})


def list_reply(key: str, title: str, description: str | None = None) -> JsonObject:
    """Return the choice of a row of a list; it may have no description."""
    row = {"id": key, "title": title}
    return _interactive(
        "list_reply", row if description is None else {**row, "description": description}
    )


def form_reply(answers: JsonObject) -> JsonObject:
    """Return the answers of a form (a flow); they are JSON inside the JSON."""
    about = {"name": "flow", "body": "Sent", "response_json": json.dumps(answers)}
    return _interactive("nfm_reply", about)


def template_button(payload: str, title: str) -> JsonObject:
    """Return the quick reply of a template."""
    return {"type": "button", "button": {"payload": payload, "text": title}}


def reaction(message_id: str, emoji: str | None) -> JsonObject:
    """Return a reaction; without an emoji it is taken away."""
    about = {"message_id": message_id}
    return {
        "type": "reaction",
        "reaction": about if emoji is None else {**about, "emoji": emoji},
    }


def edit(message_id: str, message: JsonObject) -> JsonObject:
    """Return the change of a message that was sent: what it says now."""
    return {"type": "edit", "edit": {"original_message_id": message_id, "message": message}}


def revoke(message_id: str) -> JsonObject:
    """Return that a message was taken back."""
    return {"type": "revoke", "revoke": {"original_message_id": message_id}}


def unsupported(kind: str) -> JsonObject:
    """Return something that Meta does not hand on."""
    error = {
        "code": UNSUPPORTED,
        "title": "Message type unknown",
        "message": "Message type unknown",
        "error_data": {"details": "Message type is currently not supported."},
    }
    return {"type": "unsupported", "errors": [error], "unsupported": {"type": kind}}


def order(product_id: str, quantity: int, item_price: float) -> JsonObject:
    """Return an order from the catalog."""
    item = {
        "product_retailer_id": product_id,
        "quantity": quantity,
        "item_price": item_price,
        "currency": "BRL",
    }
    about = {"catalog_id": "194836987003835", "text": "", "product_items": [item]}
    return {"type": "order", "order": about}


def number_change(old: Person, new: Person) -> JsonObject:
    """Return that a person has another number; with it the user id is another one too."""
    about: JsonObject = {
        "type": "user_changed_number",
        "body": f"User {old.name} changed from {old.phone} to {new.phone}",
        "wa_id": new.phone,
    }
    return {"type": "system", "system": {**about, **_rotation(old, new)}}


def user_id_change(old: Person, new: Person) -> JsonObject:
    """Return that a person has another user id."""
    about: JsonObject = {
        "type": "user_changed_user_id",
        "body": f"User changed from {old.user_id} to {new.user_id}",
    }
    return {"type": "system", "system": {**about, **_rotation(old, new)}}


def preference(person: Person, value: str, timestamp: int) -> JsonObject:
    """Return that a person wants no more marketing, or wants it again. Its time is an integer."""
    ids = {"wa_id": person.phone, "user_id": person.user_id}
    return {
        **{name: each for name, each in ids.items() if each is not None},
        "detail": f"User requested to {value} marketing messages",
        "category": "marketing_messages",
        "value": value,
        "timestamp": timestamp,
    }


def history(person: Person, messages: list[JsonObject]) -> JsonObject:
    """Return what was said before the number was connected."""
    return {
        "metadata": {"phase": 0, "chunk_order": 1, "progress": 100},
        "threads": [{"id": person.address, "messages": messages}],
    }


def history_message(sender: str, message_id: str, timestamp: str, body: str) -> JsonObject:
    """Return one message of a history; its sender is a phone, the business's or the person's."""
    return {
        "from": sender,
        "id": message_id,
        "timestamp": timestamp,
        **text(body),
        "history_context": {"status": "READ"},
    }


def echo(number: Number, person: Person, message_id: str, timestamp: str) -> JsonObject:
    """Return the head of what the business wrote in its phone's app."""
    return {
        "from": number.display_phone_number,
        **person.target(),
        "id": message_id,
        "timestamp": timestamp,
    }


def _interactive(kind: str, about: JsonObject) -> JsonObject:
    return {"type": "interactive", "interactive": {"type": kind, kind: about}}


def _rotation(old: Person, new: Person) -> JsonObject:
    if new.user_id is None:
        return {}
    previous = {} if old.user_id is None else {"previous_user_id": old.user_id}
    return {"user_id": new.user_id, **previous}

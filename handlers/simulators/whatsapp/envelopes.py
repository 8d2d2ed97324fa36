"""What a webhook is made of: changes, laid out as one envelope, as the bytes that are signed."""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from handlers.simulators.whatsapp.people import JsonObject, Number

Layout = Literal["messages", "changes", "entries"]
"""Where several items of one webhook meet: in one list of a value, as changes, or as entries."""

LAYOUTS: Final[tuple[Layout, ...]] = ("messages", "changes", "entries")
MESSAGES: Final = "messages"

_OBJECT: Final = "whatsapp_business_account"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One item: what happened at a number.

    `field` is what the webhook is subscribed under, `slot` the list in its value that the item
    stands in; without a slot the item is the whole value.
    """

    number: Number
    body: JsonObject
    field: str = MESSAGES
    slot: str | None = MESSAGES
    contact: JsonObject | None = None

    @property
    def item_id(self) -> str:
        """Return the item's own id; empty if it has none."""
        return str(self.body.get("id", ""))


def assemble(changes: Sequence[Change], layout: Layout = "messages") -> JsonObject:
    """Return the envelope of one webhook. No item is left out, and their order is kept.

    What cannot share a value, because number or field differ, stands in changes of its own, and
    what belongs to different accounts in entries of its own, whatever the layout.
    """
    if layout == "messages":
        parts = [list(same) for _, same in groupby(changes, key=_place)]
    else:
        parts = [[change] for change in changes]
    entries: list[JsonObject] = []
    for part in parts:
        account = part[0].number.account_id
        if layout == "entries" or not entries or entries[-1]["id"] != account:
            entries.append({"id": account, "changes": []})
        entries[-1]["changes"].append({"value": _value(part), "field": part[0].field})
    return {"object": _OBJECT, "entry": entries}


def to_bytes(envelope: JsonObject, *, sort_keys: bool = False) -> bytes:
    r"""Return the bytes Meta would send: ASCII, every slash written as `\/`.

    Whoever checks the signature of a document written anew, and not of these bytes, fails.
    """
    text = json.dumps(envelope, separators=(",", ":"), sort_keys=sort_keys)
    # A slash can only stand inside a string; JSON lets it be escaped there.
    return text.replace("/", "\\/").encode("ascii")


def sign(secret: str, body: bytes) -> str:
    """Return the value of X-Hub-Signature-256."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def _place(change: Change) -> tuple[str, str, bool]:
    return change.number.phone_number_id, change.field, change.slot is None


def _value(part: Sequence[Change]) -> JsonObject:
    first = part[0]
    if first.slot is None:
        return dict(first.body)
    value: JsonObject = {
        "messaging_product": "whatsapp",
        "metadata": first.number.metadata(),
    }
    contacts = _contacts(part)
    if contacts:
        value["contacts"] = contacts
    for change in part:
        value.setdefault(change.slot or MESSAGES, []).append(change.body)
    return value


def _contacts(part: Sequence[Change]) -> list[JsonObject]:
    """Return each contact once: `contacts` and `messages` do not go by the same index."""
    found: list[JsonObject] = []
    for change in part:
        if change.contact is not None and change.contact not in found:
            found.append(change.contact)
    return found

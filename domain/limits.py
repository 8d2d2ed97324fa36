"""DynamoDB's limits as pure code, applied by every recorder: what a laptop takes, AWS takes.

Source of the numbers: Amazon DynamoDB developer guide, "Service, account, and table quotas" and
"DynamoDB item sizes and formats". Sizes are of the flat items of `domain.items`.
"""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Final

from domain.errors import LimitExceeded

MAX_ACTIONS: Final = 100
MAX_TRANSACTION_BYTES: Final = 4 * 1024 * 1024
MAX_ITEM_BYTES: Final = 400 * 1024
MAX_PARTITION_KEY_BYTES: Final = 2048
MAX_SORT_KEY_BYTES: Final = 1024
MAX_INTEGER: Final = 10**38 - 1

_SURELY_SHORT: Final = MAX_SORT_KEY_BYTES // 4
"""Characters that fit either part of a key, whatever they are."""

Item = Mapping[str, str | int | bytes]


def item_size(item: Item) -> int:
    """Return the stored size of a flat item in bytes, attribute names included."""
    size = 0
    for name, value in item.items():
        # Most values are ASCII text, and every commit measures all of its items.
        if type(value) is str and value.isascii():
            size += len(name) + len(value)
        else:
            size += len(name) + _value_size(value)
    return size


def write_units(size: int, *, transactional: bool = True) -> int:
    """Return the write units one item of `size` bytes costs, without index entries."""
    units = max(1, ceil(size / 1024))
    return 2 * units if transactional else units


def check_key(pk: str, sk: str, *, index: str = "the table") -> None:
    """Refuse a key DynamoDB would refuse.

    Raises:
        LimitExceeded: a part is empty or too long; the message names the part.
    """
    if 0 < len(pk) <= _SURELY_SHORT and 0 < len(sk) <= _SURELY_SHORT:
        return
    for name, value, limit in (
        ("partition", pk, MAX_PARTITION_KEY_BYTES),
        ("sort", sk, MAX_SORT_KEY_BYTES),
    ):
        if not value:
            message = f"The {name} key of {index} is empty."
            raise LimitExceeded(message, hint="Give every key a value.")
        if len(value) * 4 > limit and len(value.encode()) > limit:
            message = f"The {name} key of {index} is longer than {limit} bytes."
            raise LimitExceeded(message, hint="Shorten the identifier.")


def check_item(item: Item) -> int:
    """Return the size of an item that DynamoDB would take.

    Raises:
        LimitExceeded: the item is too large, or holds a value of a kind that is not stored.
    """
    size = item_size(item)
    if size > MAX_ITEM_BYTES:
        message = f"An item would be larger than {MAX_ITEM_BYTES} bytes."
        raise LimitExceeded(message, hint="Send less in one event.")
    return size


def check_transaction(actions: int, sizes: Iterable[int], targets: Iterable[object]) -> None:
    """Refuse a transaction DynamoDB would refuse.

    Args:
        actions: puts, deletes and condition checks together.
        sizes: of the items put.
        targets: the table and key of each action.

    Raises:
        LimitExceeded: too many actions, too many bytes, or one item named twice.
    """
    check_actions(actions)
    if sum(sizes) > MAX_TRANSACTION_BYTES:
        message = f"A transaction would be larger than {MAX_TRANSACTION_BYTES} bytes."
        raise LimitExceeded(message, hint="Commit less at once.")
    seen = list(targets)
    if len(set(seen)) != len(seen):
        message = "A transaction would name one item twice."
        raise LimitExceeded(message, hint="Merge the two writes.")


def check_actions(actions: int) -> None:
    """Refuse more actions than one transaction holds.

    Raises:
        LimitExceeded: there are too many.
    """
    if actions > MAX_ACTIONS:
        message = f"A transaction would hold more than {MAX_ACTIONS} actions."
        raise LimitExceeded(message, hint="Commit less at once.")


def _value_size(value: object) -> int:
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode())
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) > MAX_INTEGER:
            message = "A number has more than 38 digits."
            raise LimitExceeded(message, hint="Send it as text.")
        # About one byte for two significant digits, and one more.
        return len(str(abs(value))) // 2 + 2
    message = "An attribute is neither text, an integer nor bytes."
    raise LimitExceeded(message, hint="Store fractions as text or as integers of a smaller unit.")

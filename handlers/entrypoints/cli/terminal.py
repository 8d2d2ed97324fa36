"""Somebody at a terminal: lines as they are typed, news as it comes, until the end of input."""

import contextlib
import queue
import sys
import threading
import time
from typing import TYPE_CHECKING, Final, Protocol

from handlers.entrypoints.cli.output import printable

if TYPE_CHECKING:
    from domain.conversation.messages import Message

_LOOK_EVERY_S: Final = 0.2
_LAST_LOOKS_S: Final = 30.0
"""How long an answer is waited for when nothing more will be typed."""


class Talker(Protocol):
    """Somebody at the terminal."""

    def typed(self, line: str) -> bool:
        """Take a line; False ends it."""
        ...

    def look(self) -> None:
        """Show what is new."""
        ...

    def is_waiting(self) -> bool:
        """Tell whether an answer is still to come."""
        ...


def talk(talker: Talker) -> bool:
    """Let somebody type and see, until the end of input; False if an answer is still to come."""
    lines: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_read, args=(lines,), name="stdin", daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=_LOOK_EVERY_S)
        except queue.Empty:
            talker.look()
            continue
        if line is None:
            return _last_looks(talker)
        if line.strip() and not talker.typed(line.strip()):
            return True
        talker.look()


def said(message: "Message") -> str:
    """Return a message as a line: who, and what, harmless to a terminal."""
    who = message.author or message.contact_name
    who = who or ("lead" if message.direction == "inbound" else "service")
    text = "\n  ".join(printable(line) for line in message.text.splitlines())
    return f"{printable(who)}: {text or f'[{printable(message.kind)}]'}"


def _read(lines: "queue.Queue[str | None]") -> None:
    with contextlib.suppress(ValueError, OSError):
        for line in sys.stdin:
            lines.put(line)
    lines.put(None)


def _last_looks(talker: Talker) -> bool:
    until = time.monotonic() + _LAST_LOOKS_S
    while talker.is_waiting() and time.monotonic() < until:
        talker.look()
        time.sleep(_LOOK_EVERY_S)
    talker.look()
    return not talker.is_waiting()

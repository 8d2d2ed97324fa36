"""What an import reads and keeps beside it: lines, the position it has reached, what was refused."""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, Protocol, Self

from domain.errors import Conflict
from domain.reading import MAX_EVENT_BYTES

_SKIPPED_AT_ONCE: Final = 1024 * 1024
_HEAD_BYTES: Final = 64 * 1024
_FORMAT: Final = 1
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r\n"
_LONGEST: Final = MAX_EVENT_BYTES + len(_BYTE_ORDER_MARK) + len(b"\r\n")
"""Of a line that is read whole."""


class Line(NamedTuple):
    """One line that is not blank: its number, the first being 1, and the bytes from `start` to `end`.

    `data` is None for a line longer than an event may be. `cut`: the file ends in it.
    """

    number: int
    start: int
    end: int
    data: bytes | None
    cut: bool


@dataclass(slots=True, kw_only=True)
class Counts:
    """What became of the lines so far."""

    created: int = 0
    duplicate: int = 0
    conflict: int = 0
    rejected: int = 0

    @property
    def lines(self) -> int:
        """All of them."""
        return self.created + self.duplicate + self.conflict + self.rejected


@dataclass(slots=True, kw_only=True)
class Position:
    """How far an import has come: everything before `offset` is durable and counted.

    `line` is the number of the last line before it; `rejects` the size of the file of those.
    """

    offset: int = 0
    line: int = 0
    rejects: int = 0
    counts: Counts = field(default_factory=Counts)


class Tracker(Protocol):
    """Keeps the position of an import."""

    def load(self) -> Position | None:
        """Return the position that was kept for this very file."""
        ...

    def save(self, position: Position) -> None:
        """Keep a position; it survives a crash whole, or the one before does."""
        ...

    def clear(self) -> None:
        """Keep none."""
        ...


def read_lines(stream: BinaryIO, *, offset: int = 0, line: int = 0) -> Iterator[Line]:
    """Yield lines one by one; the stream stands at `offset`, after that many lines."""
    while data := stream.readline(_LONGEST + 1):
        start, line = offset, line + 1
        offset += len(data)
        fits, ended = len(data) <= _LONGEST, data.endswith(b"\n")
        if not fits and not ended:
            skipped, ended = _skip(stream)
            offset += skipped
        text = data.removeprefix(_BYTE_ORDER_MARK if start == 0 else b"").strip(_BLANK)
        if text:
            fits = fits and len(text) <= MAX_EVENT_BYTES
            yield Line(line, start, offset, text if fits else None, not ended)


def _skip(stream: BinaryIO) -> tuple[int, bool]:
    """Read to the end of the line; return how many bytes that was, and whether it had an end."""
    skipped = 0
    while data := stream.readline(_SKIPPED_AT_ONCE):
        skipped += len(data)
        if data.endswith(b"\n"):
            return skipped, True
    return skipped, False


class ProgressFile:
    """The position in a small file of JSON, with a fingerprint of the head of the file it is of."""

    def __init__(self, path: Path, imported: BinaryIO) -> None:
        self.path = path
        self._imported = imported

    def load(self) -> Position | None:
        """Return the position that was kept, None if none was.

        Raises:
            Conflict: it is of another file, or cannot be read.
        """
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            kept = {}
        try:
            position = Position(
                offset=kept["offset"],
                line=kept["line"],
                rejects=kept["rejects"],
                counts=Counts(**kept["counts"]),
            )
            same = (
                kept["format"] == _FORMAT
                and kept["head"] == self._head(position.offset)
                and os.fstat(self._imported.fileno()).st_size >= position.offset
            )
        except (KeyError, TypeError):
            same, position = False, Position()
        if not same:
            raise Conflict(
                "The position that was kept is not one of this file.",
                hint="Import it without --resume: what is there already counts as duplicate.",
            )
        return position

    def save(self, position: Position) -> None:
        """See `Tracker.save`."""
        kept = {"format": _FORMAT, **asdict(position), "head": self._head(position.offset)}
        beside = self.path.with_name(f"{self.path.name}.new")
        beside.write_text(json.dumps(kept), encoding="utf-8")
        beside.replace(self.path)

    def clear(self) -> None:
        """See `Tracker.clear`."""
        self.path.unlink(missing_ok=True)

    def _head(self, offset: int) -> dict[str, Any]:
        """Return what tells this file from another: of what was read of it, the beginning."""
        size = min(offset, _HEAD_BYTES)
        data = os.pread(self._imported.fileno(), size, 0)
        return {"bytes": size, "sha256": hashlib.sha256(data).hexdigest()}


class NoProgress:
    """Keeps no position: of what cannot be read twice."""

    def load(self) -> Position | None:
        """Return none."""
        return None

    def save(self, position: Position) -> None:
        """Forget it."""

    def clear(self) -> None:
        """Do nothing."""


class Rejects:
    """The file of refused lines, one JSON object each. It is made with the first of them."""

    def __init__(self, path: Path, *, keep: int = 0) -> None:
        self.path = path
        self._file: BinaryIO | None = None
        self.size = keep
        if keep:
            # What a batch wrote that was not counted any more comes again.
            with contextlib.suppress(FileNotFoundError):
                os.truncate(path, keep)
        else:
            path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        """Begin; nothing is opened yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def write(self, refused: list[dict[str, Any]]) -> int:
        """Append lines and return the size of the file."""
        if refused:
            if self._file is None:
                self._file = self.path.open("ab")
            for each in refused:
                self._file.write(json.dumps(each, ensure_ascii=False).encode("utf-8", "replace"))
                self._file.write(b"\n")
            self._file.flush()
            self.size = self._file.tell()
        return self.size

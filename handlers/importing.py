"""Importing a file of events: line by line, in batches, going on where it was stopped.

Memory stays flat however long the file is. Nothing depends on the position that is kept: an event
that was recorded already is a duplicate.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Final, NamedTuple, Protocol

from domain import reading
from domain.errors import LeadError, LimitExceeded, MalformedBody, Unavailable
from handlers.import_files import Counts, Line, Position, Rejects, Tracker, read_lines
from handlers.ingest import Item, Sender

MAX_TRIES: Final = 12
"""Of what the store could not take, each after a longer wait: some ten seconds together."""


class Door(Protocol):
    """Where documents come in: `handlers.ingest.Ingest`."""

    def batch(self, documents: Iterable[Any], sender: Sender) -> list[Item]:
        """Record documents, each answered for itself."""
        ...


class Refused(NamedTuple):
    """A line that was not recorded, and why."""

    line: Line
    document: Any
    item: Item

    def shown(self, problem: dict[str, Any]) -> dict[str, Any]:
        """Return the entry of the file of rejects: the line as it was, as far as it can be read."""
        entry: dict[str, Any] = {
            "line": self.line.number,
            "offset": self.line.start,
            "status": self.item.status,
            "problem": problem,
        }
        if isinstance(self.document, dict | list):
            entry["event"] = self.document
        elif self.line.data is not None:
            entry["raw"] = self.line.data.decode("utf-8", "replace")
        return entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How an import ended.

    `finished` is False if it was asked to stop before the end. `cut`: the last line was refused
    since the file ends in the middle of it; the position that was kept is the one before it.
    """

    counts: Counts
    finished: bool
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Importing:
    """An import into one organization.

    `problem` makes the problem of an error as readers see it; `pause` waits before the next try of
    what the store could not take, told how many there were.
    """

    door: Door
    sender: Sender
    problem: Callable[[LeadError], dict[str, Any]]
    pause: Callable[[int], None]

    def run(
        self,
        stream: BinaryIO,
        position: Position,
        tracker: Tracker,
        rejects: Rejects,
        after_batch: Callable[[Position], bool],
    ) -> Report:
        """Import what the stream holds from the position on.

        Args:
            stream: standing at `position.offset`.
            position: where to begin, with the counts so far.
            tracker: is given the position after each batch, once the batch is durable.
            rejects: takes the lines that are refused or in conflict.
            after_batch: is told the position after each batch; False asks to stop.

        Raises:
            Unavailable: the store stayed away; `tracker` has the position to go on from.
        """
        cut = False
        for batch in _batches(read_lines(stream, offset=position.offset, line=position.line)):
            last, counts = batch[-1], replace(position.counts)
            refused = self._send(batch, counts)
            size = rejects.write([each.shown(self._problem(each.item)) for each in refused])
            position = Position(offset=last.end, line=last.number, rejects=size, counts=counts)
            cut = last.cut and bool(refused)
            if not cut:
                tracker.save(position)
            if not after_batch(position):
                return Report(counts=counts, finished=False)
        if not cut:
            tracker.clear()
        return Report(counts=position.counts, finished=True, cut=cut)

    def _send(self, batch: list[Line], counts: Counts) -> list[Refused]:
        """Record a batch and count it; return what was not recorded, in the order of the lines."""
        waiting = [(line, _document(line)) for line in batch]
        refused: list[Refused] = []
        for attempt in range(1, MAX_TRIES + 1):
            again: list[tuple[Line, Any]] = []
            for (line, document), item in zip(waiting, self._answers(waiting), strict=True):
                if item.status == "retry":
                    again.append((line, document))
                    continue
                setattr(counts, item.status, getattr(counts, item.status) + 1)
                if item.error is not None:
                    refused.append(Refused(line, document, item))
            if not again:
                return sorted(refused, key=lambda each: each.line.number)
            waiting = again
            self.pause(attempt)
        message = "The store did not take the events, however often they were sent."
        raise Unavailable(
            message, hint="Import again with --resume when it answers; nothing is lost."
        )

    def _answers(self, waiting: list[tuple[Line, Any]]) -> list[Item]:
        try:
            return self.door.batch([document for _, document in waiting], self.sender)
        except Unavailable as error:
            return [Item(index=index, status="retry", error=error) for index in range(len(waiting))]

    def _problem(self, item: Item) -> dict[str, Any]:
        return {} if item.error is None else self.problem(item.error)


def _batches(lines: Iterator[Line]) -> Iterator[list[Line]]:
    batch: list[Line] = []
    size = 0
    for line in lines:
        length = len(line.data or b"")
        full = len(batch) == reading.MAX_BATCH_EVENTS or size + length > reading.MAX_BATCH_BYTES
        # A last line without its end stands alone: it may be one that is still being written.
        if batch and (full or line.cut):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += length
    if batch:
        yield batch


def _document(line: Line) -> Any:
    """Return the document of a line, or the error that says why there is none."""
    if line.data is None:
        message = f"Line {line.number} is longer than {reading.MAX_EVENT_BYTES} bytes."
        return LimitExceeded(message, hint="An event may not be longer.")
    try:
        return reading.parse(line.data)
    except MalformedBody as error:
        if line.cut:
            detail = f"Line {line.number}, the last one, ends before its JSON does."
            return MalformedBody(detail, hint="Complete the file and import it again.")
        return MalformedBody(f"Line {line.number}: {error.detail}", hint="Write one event a line.")

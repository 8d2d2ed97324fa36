"""How far a long job is: a bar for people, a line now and then for a log."""

import time
from typing import TYPE_CHECKING, Final, Self

from handlers.entrypoints.cli.words import Words

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_LINE_EVERY_S: Final = 5.0
_ENOUGH: Final = 0.02
"""Of the whole, before it says how long the rest will take."""


class Progress:
    """Tells how far a job is, how fast, and how long it will still take.

    Args:
        words: where it is told; nothing under --quiet.
        title: what is being done.
        unit: what `done` of `advance` counts, in the plural.
        total: of what `reached` counts; None if nobody knows.
        start: what of it was behind us before.
    """

    def __init__(
        self, words: Words, title: str, unit: str, total: int | None, *, start: int = 0
    ) -> None:
        self._words = words
        self._title = title
        self._unit = unit
        self._total = total
        self._start = start
        self._began = self._told = time.monotonic()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        """Begin to tell."""
        if self._words.to_people and not self._words.quiet:
            self._bar = self._new_bar()
            self._bar.start()
            self._task = self._bar.add_task(
                self._title, total=self._total, completed=self._start, told=""
            )
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def advance(self, reached: int, done: int, more: str = "") -> None:
        """Tell that `reached` of the total is behind us, with `done` units, and something more."""
        now = time.monotonic()
        rate = done / max(now - self._began, 1e-6)
        told = f"{done:,} {self._unit} · {rate:,.0f}/s{f' · {more}' if more else ''}"
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=reached, told=told)
        elif now - self._told >= _LINE_EVERY_S:
            self._told = now
            self._words.say(f"{self._title}: {told}{self._left(reached, now)}")

    def _left(self, reached: int, now: float) -> str:
        if not self._total:
            return ""
        if reached - self._start < _ENOUGH * (self._total - self._start):
            return f" · {100 * reached // self._total}%"
        seconds = (now - self._began) * (self._total - reached) / (reached - self._start)
        return f" · {100 * reached // self._total}%, about {seconds:,.0f} s left"

    def _new_bar(self) -> "Bar":
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(
            file=self._words.stream, no_color=None if self._words.colored else True, highlight=False
        )
        return Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[told]}"),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
        )

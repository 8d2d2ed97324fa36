"""The loop of the mirror: one run after the other, whatever becomes of one."""

import threading
from typing import Any

import pytest

from domain.errors import Unavailable
from handlers.crm.worker import RunReport
from handlers.mirror import Mirror


class Processor:
    """What a run does is given, run by run."""

    def __init__(self, *runs):
        self.runs = list(runs)
        self.made = 0

    def run(self):
        self.made += 1
        error = self.runs.pop(0)
        if error is not None:
            raise error
        return RunReport()


class Minutes(threading.Event):
    """Lets so many waits pass, and is set then."""

    def __init__(self, count):
        super().__init__()
        self.left = count
        self.waited: list[float | None] = []

    def is_set(self):
        return self.left <= 0

    def wait(self, timeout=None):
        self.waited.append(timeout)
        self.left -= 1
        return self.is_set()


class Control:
    def now(self):
        return "2026-03-20T12:00:00.000000Z"


def mirror(processor: Any) -> Mirror:
    parts: dict[str, Any] = {
        "settings": None,
        "organizations": (),
        "crm": None,
        "release": lambda: None,
        "control": Control(),
        "processor": processor,
    }
    return Mirror(**parts)


@pytest.mark.parametrize("error", [None, Unavailable("down"), ZeroDivisionError("a bug")])
def test_every_minute_has_a_run_whatever_became_of_the_one_before(error):
    processor, minutes = Processor(error, None, None), Minutes(3)

    mirror(processor).run_until(minutes)

    assert processor.made == 3
    assert minutes.waited == [60.0] * 3


def test_without_an_account_nobody_waits():
    minutes = Minutes(3)

    mirror(None).run_until(minutes)

    assert minutes.waited == []

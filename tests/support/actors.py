"""Processes that a test runs in turns, call by call: a thread each, of which only one ever runs.

An actor stops after every call of a port, when what it did is done and it has not heard of it. There
it can be left as long as the test likes, or die. The order is the test's alone, so a seed repeats it.
"""

import threading
from collections.abc import Callable
from typing import Any

from tests.support.stepping import Died


class Actor:
    """One process under way. It runs only inside `step`."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._dies = False
        self.done = False
        self.error: BaseException | None = None
        self.answer: Any = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def step(self) -> bool:
        """Let it run until after its next call; tell whether it is still there."""
        if not self.done:
            self._go.release()
            self._back.acquire()
        return not self.done

    def finish(self) -> None:
        """Let it run to its end."""
        while self.step():
            pass

    def kill(self) -> None:
        """Let it die where it is."""
        self._dies = True
        self.finish()

    def stop_here(self, answer: Any = None) -> Any:
        """Stop the calling actor, whose call has just been answered."""
        self._back.release()
        self._go.acquire()
        if self._dies:
            raise Died
        return answer

    def _run(self) -> None:
        self._go.acquire()
        try:
            if not self._dies:
                self.answer = self._work()
        except Died:
            pass
        except BaseException as error:  # noqa: BLE001 - the test's to raise
            self.error = error
        self.done = True
        self._back.release()


class Stopped:
    """A port whose calls stop their actor when they are answered."""

    def __init__(self, port: Any, stop: Callable[[Any], Any]) -> None:
        self._port = port
        self._stop = stop

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._port, name)

        def stopping(*args: Any, **kwargs: Any) -> Any:
            return self._stop(call(*args, **kwargs))

        return stopping

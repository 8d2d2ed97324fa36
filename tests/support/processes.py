"""The command line as a process of its own, the way a shell starts it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

LEADS = [sys.executable, "-c", "from handlers.entrypoints.cli import main; main()"]
ROOT = Path(__file__).parents[2]
PATIENCE_S = 50


def environment(**more: str) -> dict[str, str]:
    """The shell's, without what would choose data or colours, and with this project to import."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("LEADS_") and name not in {"NO_COLOR", "FORCE_COLOR"}
    }
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def run(*arguments: object, cwd: Path, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*LEADS, *map(str, arguments)],
        cwd=cwd,
        env=environment(**env),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


def start(*arguments: object, cwd: Path, **env: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*LEADS, *map(str, arguments)],
        cwd=cwd,
        env=environment(**env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_until(happened: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    """Wait for something that a process is to do; fails if it ends without."""
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)


def interrupted(process: "subprocess.Popen[str]", number: signal.Signals) -> tuple[int, str, str]:
    """Send a signal to a process and return how it ended."""
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, err

"""ministack, the DynamoDB that tests run on: started once, stopped with the process that started it.

It lives in an environment of its own because it pins its own botocore, and it forgets everything when
it stops. A 12-digit access key is an account: give each test its own and none sees another's tables.
"""

import itertools
import os
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VENV = Path(__file__).parents[2] / ".venv-ministack"

# Ends when its standard input closes, so a test run that is killed leaves no server behind.
_LAUNCHER = """
import os, runpy, sys, threading
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
sys.argv = ["ministack"]
runpy.run_module("ministack", run_name="__main__")
"""

_READY_WITHIN_SECONDS = 30.0
_ATTEMPTS = 3

# No proxy of the machine stands between a test and its own loopback.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_accounts = itertools.count(100_000_000_001)


class MinistackMissingError(RuntimeError):
    """The environment of ministack is not installed."""

    def __init__(self) -> None:
        super().__init__(
            f"ministack is not installed in {VENV.name}. Run `make test`: it installs ministack and"
            " then runs the tests."
        )


class MinistackDownError(RuntimeError):
    """ministack did not start; carries the end of what it printed."""


def new_account() -> str:
    """Give a 12-digit account that no other test of this process was given."""
    return str(next(_accounts))


@contextmanager
def running_ministack() -> Iterator[str]:
    """Run ministack on a free loopback port and lend its endpoint."""
    python = VENV / "bin" / "python"
    if not python.exists():
        raise MinistackMissingError
    with tempfile.TemporaryDirectory(prefix="ministack-") as folder:
        process, endpoint = _start(python, Path(folder))
        try:
            yield endpoint
        finally:
            _stop(process)


def _start(python: Path, folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    # Between choosing a free port and listening on it, another process may take it: then once more.
    for _ in range(_ATTEMPTS):
        port = _free_port()
        endpoint = f"http://127.0.0.1:{port}"
        process = _spawn(python, folder, port)
        if _is_ready(process, endpoint):
            return process, endpoint
        _stop(process)
    printed = (folder / "output.log").read_text(errors="replace")[-2000:]
    message = f"ministack did not become ready. It printed:\n{printed}"
    raise MinistackDownError(message)


def _spawn(python: Path, folder: Path, port: int) -> subprocess.Popen[bytes]:
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "TMPDIR": str(folder),
        "HOME": str(folder),
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",  # by default it listens on every interface
        "IOT_MTLS_ENABLED": "0",  # and on a second, fixed port
        "LOG_LEVEL": "WARNING",
    }
    with (folder / "output.log").open("wb") as output:
        return subprocess.Popen(
            [python, "-c", _LAUNCHER],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def _is_ready(process: subprocess.Popen[bytes], endpoint: str) -> bool:
    deadline = time.monotonic() + _READY_WITHIN_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with _opener.open(f"{endpoint}/_ministack/health", timeout=2):
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.02)
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port

"""Functions as Lambda runs them: AWS's runtime client in a process, and a Runtime API to serve it.

Source: docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html. The API is a stand-in of our own: one
event is given at a time, and what the client says of it comes back.
"""

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from tests.support.http_server import QuietHandler
from tests.support.processes import PATIENCE_S, ROOT
from tests.support.template import part

_API = "/2018-06-01/runtime"
_NEXT = f"{_API}/invocation/next"
_TOLD = re.compile(rf"{_API}/(?:invocation/([^/]+)/(response|error)|(init/error))")


@dataclass(frozen=True)
class Told:
    """What the client said: `response`, `error` or `init/error`, with what it is about."""

    what: str
    body: Any
    request_id: str = ""


@dataclass
class Container:
    """One process of a function; what it writes goes into a file, which is never full."""

    process: "subprocess.Popen[bytes]"
    api: "_Api"
    output: Path
    invocations: int = 0

    @property
    def written(self) -> list[str]:
        """What it has written so far, in lines."""
        return self.output.read_text(encoding="utf-8").splitlines()

    def invoke(self, event: Any) -> Told:
        """Give one event, of which a text goes as it is; return what came of it."""
        self.invocations += 1
        content = event if isinstance(event, str) else json.dumps(event)
        self.api.events.put((f"request-{self.invocations}", content.encode()))
        return self.told()

    def told(self) -> Told:
        """Return what the client says next; fails if it ends without a word."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            ended = self.process.poll() is not None
            try:
                return self.api.told.get(timeout=0.05)
            except Empty:
                assert not ended, self.written
        message = "the function did not answer"
        raise AssertionError(message)


def handler_of(function: str) -> str:
    """Return the handler that the template names for a function."""
    found = re.search(r"Handler: (\S+)", part(function))
    assert found, function
    return found[1]


@contextmanager
def container_of(
    function: str, *, cwd: Path, handler: str = "", **variables: str
) -> Iterator[Container]:
    """Start a function of the template, with these variables and none of the shell's."""
    runtime = re.search(r"Runtime: (\S+)", part(function))
    assert runtime, function
    output = cwd / f"{function}.log"
    with _serving() as api, output.open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "awslambdaric", handler or handler_of(function)],
            cwd=cwd,
            env={
                "PYTHONPATH": str(ROOT),
                "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{api.server_port}",
                "AWS_LAMBDA_FUNCTION_NAME": function,
                "AWS_EXECUTION_ENV": f"AWS_Lambda_{runtime[1]}",
                **variables,
            },
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        try:
            yield Container(process, api, output)
        finally:
            process.kill()
            process.wait()


class _Api(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.events: SimpleQueue[tuple[str, bytes]] = SimpleQueue()
        self.told: SimpleQueue[Told] = SimpleQueue()


class _Handler(QuietHandler, BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Api

    def do_GET(self) -> None:
        assert self.path == _NEXT
        # As Lambda does: the answer is what happens next, however long that takes.
        request_id, content = self.server.events.get()
        self._answer(
            200,
            content,
            **{
                "Lambda-Runtime-Aws-Request-Id": request_id,
                "Lambda-Runtime-Deadline-Ms": "4102444800000",
                "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:us-east-1:000000000000:x",
            },
        )

    def do_POST(self) -> None:
        found = _TOLD.fullmatch(self.path)
        assert found, self.path
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(202, b'{"status":"OK"}')
        self.server.told.put(Told(found[2] or found[3], json.loads(content), found[1] or ""))

    def _answer(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Type": "application/json"}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def _serving() -> Iterator[_Api]:
    api = _Api()
    thread = threading.Thread(target=api.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield api
    finally:
        api.shutdown()
        # Who still waits for an event is let go, and finds nobody to tell it to.
        api.events.put(("", b""))
        api.server_close()
        thread.join()

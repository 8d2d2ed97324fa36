"""The simulator's HTTP server: loopback only, one thread a connection."""

import contextlib
import socketserver
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

HOST: Final = "127.0.0.1"
JSON: Final = "application/json"

_LARGEST_BODY: Final = 1 << 20
_IDLE_S: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request; the names of its headers are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a request is answered with.

    With `drop` the connection closes without an answer, `hang_s` real seconds later. `then` is
    called when the answer has left, or the connection was closed.
    """

    status: int = 200
    body: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False
    hang_s: float = 0.0
    then: Callable[[], None] | None = None


Handle = Callable[[Request], Reply]


class Server:
    """Answers requests on a port of this machine's loopback.

    Args:
        port: 0 takes a free one.
        handle: answers one request; called in many threads at once.

    Raises:
        OSError: the port cannot be listened on.
    """

    def __init__(self, port: int, handle: Handle) -> None:
        self._ended = threading.Event()
        self._server = _HttpServer((HOST, port), handle, self._ended)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="simulator", daemon=True
        )

    @property
    def url(self) -> str:
        """The address it listens on."""
        return f"http://{HOST}:{self._server.server_address[1]}"

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """End, and let go of the port."""
        self._ended.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    # More than wait at once in the largest of our tests: a refused connection would be a fault nobody
    # asked for.
    request_queue_size = 512

    def __init__(self, address: tuple[str, int], handle: Handle, ended: threading.Event) -> None:
        super().__init__(address, _Handler)
        self.handle_one = handle
        self.ended = ended

    def server_bind(self) -> None:
        """Bind without asking who this machine is, which may take a name server's time."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away; it is one of ours, and may be killed."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # One write an answer: two of them wait for each other's acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True
    timeout = _IDLE_S
    server: _HttpServer
    server_version = "simulator"
    sys_version = ""

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _LARGEST_BODY:
            self.close_connection = True
            self._write(Reply(status=411 if not length.isdecimal() else 413))
            return
        self._answer(self.rfile.read(int(length)))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Print nothing: what was asked holds whom it is for."""

    def _answer(self, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(method=self.command, path=self.path, headers=headers, body=body)
        reply = self.server.handle_one(request)
        try:
            if reply.drop:
                self.server.ended.wait(reply.hang_s)
                self.close_connection = True
            else:
                self._write(reply)
        finally:
            if reply.then is not None:
                reply.then()

    def _write(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)
        with contextlib.suppress(ConnectionError):
            self.wfile.flush()

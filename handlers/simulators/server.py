"""The simulators' HTTP server: loopback only, one thread a connection."""

import contextlib
import socket
import socketserver
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

HOST: Final = "127.0.0.1"
JSON: Final = "application/json"

_LARGEST_BODY: Final = 1 << 20
_IDLE_S: Final = 30
_POLL_S: Final = 0.05
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_LINGER: Final = (socket.SOL_SOCKET, socket.SO_LINGER)
_TEAR_DOWN: Final = struct.pack("ii", 1, 0)
"""A socket that lingers for no time is reset when it closes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request; the names of its headers are lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def is_local(self) -> bool:
        """Whether it was asked for by this machine's own name.

        A name of its own that resolves to this machine is how a foreign page would get here.
        """
        try:
            host = urlsplit(f"//{self.headers.get('host', '')}").hostname
        except ValueError:
            return False
        return host in _LOOPBACK


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a request is answered with.

    With `drop` the connection closes without an answer, `hang_s` real seconds later; with `reset`
    it is torn down instead of closed in order. `raw` is sent in place of an answer, byte by byte as
    it is, and the connection closes. `then` is called when the answer has left, or the connection
    was closed.
    """

    status: int = 200
    body: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False
    hang_s: float = 0.0
    reset: bool = False
    raw: bytes | None = None
    then: Callable[[], None] | None = None


Handle = Callable[[Request], Reply]
Glance = Callable[[Request], Reply | None]


class Server:
    """Answers requests on a port of this machine's loopback.

    Args:
        port: 0 takes a free one.
        handle: answers one request; called in many threads at once.
        glance: is shown a request before its body is read, and may answer it then.

    Raises:
        OSError: the port cannot be listened on.
    """

    def __init__(self, port: int, handle: Handle, glance: Glance | None = None) -> None:
        self._ended = threading.Event()
        self._handle = handle
        self._glance = glance
        self._server = self._open(port)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address it listens on."""
        return f"http://{HOST}:{self._server.server_port}"

    def start(self) -> None:
        """Begin to answer."""
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_S,), name="simulator", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """End, and let go of the port."""
        self._ended.set()
        self._close()

    def cut(self) -> None:
        """Close every connection there is."""
        self._server.cut()

    @contextlib.contextmanager
    def refusing(self) -> Iterator[None]:
        """Refuse connections meanwhile; those there are close.

        Raises:
            OSError: somebody else took the port meanwhile.
        """
        self._close()
        self._server.cut()
        try:
            yield
        finally:
            self._server = self._open(self._server.server_port)
            self.start()

    def _open(self, port: int) -> "_HttpServer":
        return _HttpServer((HOST, port), (self._handle, self._glance), self._ended)

    def _close(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            ending = threading.Thread(target=self._server.shutdown)
            ending.start()
            # The loop looks whether it is to end when somebody comes, or after a while.
            with contextlib.suppress(OSError):
                socket.create_connection((HOST, self._server.server_port), _POLL_S).close()
            ending.join()
            self._thread.join()
        self._server.server_close()


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    # More than wait at once in the largest of our tests: a refused connection would be a fault nobody
    # asked for.
    request_queue_size = 512

    def __init__(
        self,
        address: tuple[str, int],
        answers: tuple[Handle, Glance | None],
        ended: threading.Event,
    ) -> None:
        super().__init__(address, _Handler)
        self.handle_one, self.glance = answers
        self.ended = ended
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()

    def server_bind(self) -> None:
        """Bind without asking who this machine is, which may take a name server's time."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def cut(self) -> None:
        """Close every connection there is."""
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, and answer it in a thread of its own."""
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection, and close it."""
        with self._lock:
            self._connections.discard(request)
        if request.getsockopt(*_LINGER, len(_TEAR_DOWN)) == _TEAR_DOWN:
            # An orderly end would come before the reset.
            self.close_request(request)
        else:
            super().shutdown_request(request)

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
        self._take(required=False)

    def do_POST(self) -> None:
        self._take(required=True)

    def do_PUT(self) -> None:
        self._take(required=False)

    def do_PATCH(self) -> None:
        self._take(required=True)

    def do_DELETE(self) -> None:
        self._take(required=False)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Print nothing: what was asked holds whom it is for."""

    def _take(self, *, required: bool) -> None:
        length = self.headers.get("Content-Length", "" if required else "0")
        if not length.isdecimal() or int(length) > _LARGEST_BODY:
            self.close_connection = True
            self._write(Reply(status=411 if not length.isdecimal() else 413))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(method=self.command, path=self.path, headers=headers)
        glance = self.server.glance
        reply = None if glance is None else glance(request)
        if reply is None:
            body = self.rfile.read(int(length))
            if len(body) < int(length):
                self.close_connection = True
                return
            reply = self.server.handle_one(replace(request, body=body))
        self._answer(reply)

    def _answer(self, reply: Reply) -> None:
        try:
            if reply.hang_s:
                self.server.ended.wait(reply.hang_s)
            if reply.drop or reply.raw is not None:
                self._break_off(reply)
            else:
                self._write(reply)
        finally:
            if reply.then is not None:
                reply.then()

    def _break_off(self, reply: Reply) -> None:
        self.close_connection = True
        if reply.raw is not None:
            self.wfile.write(reply.raw)
            with contextlib.suppress(ConnectionError):
                self.wfile.flush()
        if reply.reset:
            self.connection.setsockopt(*_LINGER, _TEAR_DOWN)

    def _write(self, reply: Reply) -> None:
        self.send_response(reply.status)
        if reply.status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)
        with contextlib.suppress(ConnectionError):
            self.wfile.flush()

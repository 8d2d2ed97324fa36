"""A real HTTP server on loopback that answers as it is told, and keeps what it was asked."""

import json
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """What one request gets: an answer, or what can go wrong on the way to it."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    hang_s: float = 0.0
    """Silence before the answer."""
    reset: bool = False
    """The connection is torn down instead, the request having been read."""
    trickle: int = 0
    """So many bytes of the body come one by one, a pause before each."""

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Server:
    """Gives the next request the next reply; the last one is given for ever."""

    replies: list[Reply] = field(default_factory=lambda: [Reply(body={})])
    asked: list[Asked] = field(default_factory=list)
    url: str = ""

    def next(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


class _Listening(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: Server) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.over = threading.Event()


class QuietHandler(BaseHTTPRequestHandler):
    """Says nothing, and does not mind a caller who is gone."""

    def handle(self) -> None:
        with suppress(OSError):
            super().handle()
        self.close_connection = True

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        pass


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    server: _Listening

    def do_GET(self) -> None:
        self.do_POST()

    def do_PATCH(self) -> None:
        self.do_POST()

    def do_PUT(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length", "0")))
        body = json.loads(content) if content else None
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.script.next(Asked(self.command, self.path, headers, body))
        self.server.over.wait(reply.hang_s)
        if reply.reset:
            # Lingering for no time makes the kernel send a reset instead of a polite end.
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()
            self.close_connection = True
        else:
            self._answer(reply)

    def _answer(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.content)))
        self.end_headers()
        for byte in reply.content[: reply.trickle]:
            self.server.over.wait(0.05)
            self.wfile.write(bytes((byte,)))
        self.wfile.write(reply.content[reply.trickle :])


@contextmanager
def http_server(*replies: Reply) -> Iterator[Server]:
    """Serve these replies for as long as the block lasts."""
    script = Server(list(replies)) if replies else Server()
    listening = _Listening(script)
    script.url = f"http://127.0.0.1:{listening.server_address[1]}"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield script
    finally:
        listening.over.set()
        listening.shutdown()
        listening.server_close()
        thread.join()


def closed_port() -> int:
    """Return a port of this machine on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def deaf_port() -> Iterator[int]:
    """Listen on a port without ever taking a connection; what connects waits for ever."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        waiting = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(deaf.getsockname())
            waiting.append(filler)
        time.sleep(0.05)
        try:
            yield deaf.getsockname()[1]
        finally:
            for filler in waiting:
                filler.close()

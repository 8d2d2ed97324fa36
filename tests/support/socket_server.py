"""A listener on loopback that does to each connection what a script says, byte by byte.

For what no HTTP server does on purpose: ends, resets, silence and rubbish at any moment.
"""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class Connection:
    """One connection as a script sees it. `over` is set when the test ends."""

    socket: socket.socket
    over: threading.Event
    seen: list[bytes]

    def request(self) -> bytes:
        """Read one whole request; what was read so far if the other side ends it."""
        got = b""
        while b"\r\n\r\n" not in got:
            some = self.socket.recv(65_536)
            if not some:
                return got
            got += some
        head, _, body = got.partition(b"\r\n\r\n")
        length = next(
            (
                int(line.split(b":")[1])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length:")
            ),
            0,
        )
        while len(body) < length:
            some = self.socket.recv(65_536)
            if not some:
                break
            body += some
        whole = head + b"\r\n\r\n" + body
        self.seen.append(whole)
        return whole

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def reset(self) -> None:
        # Lingering for no time makes the kernel send a reset instead of a polite end.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


Act = Callable[[Connection], None]


@dataclass
class Listening:
    """What became of it: the requests that came whole, and how many connections."""

    url: str = ""
    seen: list[bytes] = field(default_factory=list)
    connections: int = 0
    over: threading.Event = field(default_factory=threading.Event)


@contextmanager
def socket_server(*acts: Act) -> Iterator[Listening]:
    """Do to the first connection the first act, and so on; the last one to all that follow."""
    listener = _listener()
    script = Listening(url=f"http://127.0.0.1:{listener.getsockname()[1]}")
    threads: list[threading.Thread] = []

    def serve() -> None:
        while not script.over.is_set():
            with suppress(TimeoutError):
                accepted, _ = listener.accept()
                act = acts[min(script.connections, len(acts) - 1)]
                script.connections += 1
                thread = threading.Thread(target=one, args=(accepted, act))
                threads.append(thread)
                thread.start()

    def one(accepted: socket.socket, act: Act) -> None:
        accepted.settimeout(10)
        with accepted, suppress(OSError):
            act(Connection(accepted, script.over, script.seen))

    accepting = threading.Thread(target=serve)
    accepting.start()
    try:
        yield script
    finally:
        script.over.set()
        accepting.join()
        for thread in threads:
            thread.join()
        listener.close()


def answering(*answers: bytes) -> Act:
    """Answer so many requests of one connection, then end it."""

    def act(connection: Connection) -> None:
        for answer in answers:
            connection.request()
            connection.send(answer)

    return act


def answer(status: str = "200 OK", body: bytes = b"{}", *headers: str) -> bytes:
    """Return an answer as it is on the wire."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def _listener() -> socket.socket:
    listener = socket.socket()
    # Little room, so that what is not read soon blocks its sender.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    listener.bind(("127.0.0.1", 0))
    listener.listen(16)
    listener.settimeout(0.01)
    return listener

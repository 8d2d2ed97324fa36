"""A server that speaks chat completions on this machine, and does what a test plans."""

import json
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer. `delay_s` before it begins, `dribble_s` between its bytes, `cut` before its end."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0
    dribble_s: float = 0
    cut: bool = False


def completion(text: str | None, *, finish: str = "stop", **more: Any) -> dict[str, Any]:
    """Return a completion as the API writes one; `more` replaces its members."""
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_800_000_000,
        "model": "made-up-1-2026-10",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050},
        **more,
    }


def saying(text: str | None, **more: Any) -> Reply:
    """Answer with a completion of this text."""
    return Reply(body=json.dumps(completion(text, **more)).encode())


def failing(
    status: int, code: str | None = None, *, headers: Mapping[str, str] | None = None, **more: Any
) -> Reply:
    """Answer with an error as the API writes one."""
    error = {"message": "made-up words", "type": "made_up", "param": None, "code": code, **more}
    return Reply(
        body=json.dumps({"error": error}).encode(), status=status, headers=dict(headers or {})
    )


class Server:
    """What was planned, and what was asked: (headers, document) of each request, in order."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.planned: deque[Reply] = deque()
        self.asked: list[tuple[dict[str, str], Any]] = []
        self.forms_known = {"json_schema", "json_object", None}
        """Of `response_format`; any other is refused, as servers do that know none."""

    def plan(self, *replies: Reply) -> None:
        """Answer the next requests with these, then with 500."""
        self.planned.extend(replies)

    @property
    def documents(self) -> list[Any]:
        return [document for _, document in self.asked]

    def reply(self, headers: dict[str, str], document: Any) -> Reply:
        self.asked.append((headers, document))
        form = document.get("response_format", {}).get("type")
        if form not in self.forms_known:
            return failing(400, message=f"response_format.type {form} is not known")
        return self.planned.popleft() if self.planned else failing(500)


@contextmanager
def openai_server() -> Iterator[Server]:
    """Lend a server; `url` is its base URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length", 0))
            document = json.loads(self.rfile.read(size))
            self.answer(server.reply({k.lower(): v for k, v in self.headers.items()}, document))

        def answer(self, reply: Reply) -> None:
            time.sleep(reply.delay_s)
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply.body) + reply.cut))
                self.end_headers()
                if reply.dribble_s:
                    for byte in reply.body:
                        self.wfile.write(bytes([byte]))
                        time.sleep(reply.dribble_s)
                else:
                    self.wfile.write(reply.body)
            except OSError:
                reply = Reply(body=b"", cut=True)  # the client gave up
            self.close_connection = self.close_connection or reply.cut

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        http.block_on_close = False
        server = Server(f"http://127.0.0.1:{http.server_address[1]}/v1")
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()

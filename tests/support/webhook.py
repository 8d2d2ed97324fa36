"""What stands where the service would: takes webhooks over HTTP, and answers as it is told."""

import hashlib
import hmac
import json
import threading
from collections import deque
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

APP_SECRET = "segredo-do-teste"
VERIFY_TOKEN = "token-de-verificacao"


@dataclass(frozen=True, kw_only=True)
class Webhook:
    body: bytes
    signature: str | None

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def genuine(self) -> bool:
        """Checked without anything of the simulator's."""
        digest = hmac.new(APP_SECRET.encode(), self.body, hashlib.sha256).hexdigest()
        return self.signature == f"sha256={digest}"

    @property
    def values(self) -> list[Any]:
        return [change["value"] for entry in self.document["entry"] for change in entry["changes"]]

    def items(self, slot: str = "messages") -> list[Any]:
        return [item for value in self.values for item in value.get(slot, [])]


@dataclass
class Endpoint:
    """`answers` are the statuses of the next POSTs, then 200; None closes without an answer.

    `on_message` is called in a thread of its own with each message that comes.
    """

    url: str = ""
    webhooks: list[Webhook] = field(default_factory=list)
    answers: deque[int | None] = field(default_factory=deque)
    on_message: Callable[[Any], None] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, webhook: Webhook) -> int | None:
        with self.lock:
            self.webhooks.append(webhook)
            answer = self.answers.popleft() if self.answers else 200
        if self.on_message is not None:
            for message in webhook.items():
                threading.Thread(target=self.on_message, args=(message,), daemon=True).start()
        return answer

    def items(self, slot: str = "messages") -> list[Any]:
        with self.lock:
            return [item for webhook in self.webhooks for item in webhook.items(slot)]

    @property
    def statuses(self) -> list[str]:
        return [item["status"] for item in self.items("statuses")]


@contextmanager
def endpoint():
    """Listen on a free port of loopback."""
    own = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked = parse_qs(urlsplit(self.path).query)
            good = asked["hub.mode"] == ["subscribe"] and asked["hub.verify_token"] == [
                VERIFY_TOKEN
            ]
            self._answer(200 if good else 403, asked["hub.challenge"][0].encode() if good else b"")

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = own.take(Webhook(body=body, signature=self.headers.get("X-Hub-Signature-256")))
            if answer is not None:
                self._answer(answer, b"")

        def _answer(self, status, body):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        own.url = f"http://127.0.0.1:{server.server_address[1]}/v1/channels/whatsapp"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield own
        finally:
            server.shutdown()
            thread.join()

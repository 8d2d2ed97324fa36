"""A whole service on a SQLite file of its own: a clock that stands still, HTTP over loopback."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from adapters.clock import new_id
from handlers.bootstrap import App, build
from handlers.entrypoints.http import create_api
from handlers.mirror import Mirror
from handlers.settings import read_settings
from handlers.talks import Talks
from projections.committing import Edition

NOW = "2026-03-20T12:00:00.000000Z"


@dataclass
class Service:
    app: App
    http: httpx2.Client

    def key(self, organization_id: str = "acme", **permissions: Any) -> dict[str, str]:
        token, _ = self.app.api_keys.create(organization_id, **permissions)
        return {"Authorization": f"Bearer {token}"}


@contextmanager
def running_service(
    folder: Path, edition: Edition | None = None, now: Callable[[], str] = lambda: NOW
) -> Iterator[Service]:
    settings = read_settings({}, file=folder / "none.toml", db=folder / "leads.db")
    app = build(settings, now=now, ids=new_id, pause=lambda _: None, edition=edition)
    try:
        with serving(app) as url, httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
            yield Service(app, http)
    finally:
        app.close()


@contextmanager
def serving(app: App, talks: Talks | None = None, mirror: Mirror | None = None) -> Iterator[str]:
    config = uvicorn.Config(
        create_api(app, talks, mirror), host="127.0.0.1", port=0, log_config=None
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


def purchase(**changes: Any) -> dict[str, Any]:
    payload = {"productId": "whey", "amount": "150.00", "currency": "BRL"}
    event = {
        "leadOrganizationId": "lead-1",
        "externalEventId": "HT-1",
        "source": "hotmart",
        "eventType": "purchase_completed",
        "occurredAt": "2026-03-15T14:00:00Z",
        "payload": payload | changes.pop("payload", {}),
    }
    return {name: value for name, value in (event | changes).items() if value is not None}

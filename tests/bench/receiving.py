"""Webhooks: how long one takes until what it says is durable, and how many come in over loopback.

Messages of many leads and of few, with statuses and copies between them, as WhatsApp delivers.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from adapters import telemetry
from handlers.bootstrap import build, build_talks
from handlers.conversations.webhook import Verdict
from handlers.settings import read_conversation_settings, read_settings
from tests.bench.measuring import Result, at_least, at_most
from tests.support.deliveries import ROUTE, SETTINGS, delivery, signature, signed, text

ALONE = 2000
OVER_HTTP = 3000
CLIENTS = 8
LEADS = 300
COPIES = 0.1


def run() -> Iterator[Result]:
    yield _in_process()
    yield _over_loopback(worked=False)
    yield _over_loopback(worked=True)


def _in_process() -> Result:
    with TemporaryDirectory() as folder, Path(os.devnull).open("w") as nothing:
        telemetry.configure(stream=nothing)
        nowhere = Path(folder) / "none.toml"
        app = build(read_settings({}, file=nowhere, db=Path(folder) / "leads.db"))
        talks = build_talks(app, read_conversation_settings(SETTINGS, file=nowhere), channels={})
        took = []
        for body in _bodies(ALONE):
            stated = signature(body)
            start = time.perf_counter()
            verdict = talks.webhook.post(body, stated)
            took.append((time.perf_counter() - start) * 1000)
            assert verdict is Verdict.QUEUED
        talks.close()
        app.close()
    took = sorted(took[50:])
    p99 = took[int(len(took) * 0.99)]
    more = {"median": round(statistics.median(took), 2), "longest": round(took[-1], 2)}
    return at_most("webhook to durable answer, in process: p99", "ms", p99, 25, **more)


def _over_loopback(*, worked: bool) -> Result:
    with TemporaryDirectory() as folder:
        environment = os.environ | {
            **SETTINGS,
            "LEADS_DB": str(Path(folder) / "leads.db"),
            "WORKED": "yes" if worked else "",
        }
        server = subprocess.Popen(
            [sys.executable, "-c", _SERVER],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            bodies = list(_bodies(OVER_HTTP))
            with ThreadPoolExecutor(CLIENTS) as threads:
                parts = [bodies[number::CLIENTS] for number in range(CLIENTS)]
                start = time.perf_counter()
                statuses = [
                    each for part in threads.map(_post, [url] * CLIENTS, parts) for each in part
                ]
                seconds = time.perf_counter() - start
        finally:
            server.terminate()
            server.wait(10)
    assert set(statuses) == {202}
    beside = "while its loop works on the leads" if worked else "its loop stands still"
    name = f"webhooks over loopback, {CLIENTS} callers, {beside}"
    if worked:
        # Both share this machine's processors and one file: told, not promised.
        return Result(name, "webhooks/s", round(len(statuses) / seconds, 1))
    return at_least(name, "webhooks/s", len(statuses) / seconds, 300)


def _post(url: str, bodies: list[bytes]) -> list[int]:
    """Post over one connection, with a client that costs little: it shares the processors."""
    connection = HTTPConnection(url.removeprefix("http://"), timeout=60)
    statuses = []
    for body in bodies:
        connection.request("POST", ROUTE, body, signed(body))
        answer = connection.getresponse()
        answer.read()
        statuses.append(answer.status)
    connection.close()
    return statuses


def _bodies(count: int) -> Iterator[bytes]:
    random = Random(7)
    said: list[bytes] = []
    for number in range(count):
        if said and random.random() < COPIES:
            yield random.choice(said[-50:])
            continue
        sender = f"551196666{random.randrange(LEADS):04d}"
        body = delivery(
            text(f"wamid.{number}", f"Oi, pergunta {number}", sender),
            contacts=[{"wa_id": sender, "profile": {"name": "Ana Exemplo"}}],
        )
        said.append(body)
        yield body


_SERVER = """
import os, threading, time, uvicorn
from handlers.bootstrap import build, build_talks, start_logging
from handlers.entrypoints.http import create_api
from handlers.settings import read_conversation_settings, read_settings
settings = read_settings()
start_logging(settings)
app = build(settings)
talks = build_talks(app, read_conversation_settings(), channels={})
if os.environ["WORKED"]:
    talks.loop.start(threading.Event())
config = uvicorn.Config(create_api(app, talks), host="127.0.0.1", port=0, log_config=None, access_log=False)
server = uvicorn.Server(config)
def tell():
    while not server.started:
        time.sleep(0.01)
    print(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", flush=True)
threading.Thread(target=tell, daemon=True).start()
server.run()
"""

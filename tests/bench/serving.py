"""Batches over HTTP on loopback: the server and its caller are processes of their own."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from handlers import demo_data
from tests.bench.measuring import Result, at_least

BATCH = 500
ROUNDS = 5
LEADS = 400


def run() -> Iterator[Result]:
    with TemporaryDirectory() as folder:
        environment = os.environ | {
            "LEADS_DB": str(Path(folder) / "leads.db"),
            "LEADS_AUTH": "open",
            "LEADS_PORT": "0",
            "LEADS_LOG_LEVEL": "WARNING",
        }
        server = subprocess.Popen(
            [sys.executable, "-c", _SERVER], env=environment, stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            rates = list(_rates(url))
        finally:
            server.terminate()
            server.wait(10)
    yield at_least(
        "HTTP batches of 500 over loopback",
        "events/s",
        statistics.median(rates),
        4000,
        rounds=[round(each) for each in rates],
    )


def _rates(url: str) -> Iterator[float]:
    with httpx2.Client(base_url=url, timeout=60, trust_env=False) as client:
        for number in range(ROUNDS):
            bodies = list(_bodies(f"round-{number}"))
            start = time.perf_counter()
            taken = 0
            for body in bodies:
                answer = client.post(
                    "/v1/events:batch", content=body, headers={"Content-Type": "application/json"}
                )
                taken += answer.json()["accepted"]
            yield taken / (time.perf_counter() - start)


def _bodies(prefix: str) -> Iterator[bytes]:
    events = [
        document | {"externalEventId": f"{prefix}-{document.get('externalEventId')}"}
        for document in demo_data.generate(leads=LEADS)
    ]
    for start in range(0, len(events), BATCH):
        yield json.dumps({"events": events[start : start + BATCH]}).encode()


_SERVER = """
import threading, time, uvicorn
from handlers.bootstrap import build
from handlers.entrypoints.http import create_api
from handlers.settings import read_settings
app = build(read_settings())
server = uvicorn.Server(uvicorn.Config(create_api(app), host="127.0.0.1", port=0, log_config=None))
def tell():
    while not server.started:
        time.sleep(0.01)
    print(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", flush=True)
threading.Thread(target=tell, daemon=True).start()
server.run()
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.support.service import purchase

CANARY = "Canarinho-da-Silva"


@pytest.fixture
def served(tmp_path):
    log = tmp_path / "log"
    environment = os.environ | {
        "LEADS_DB": str(tmp_path / "leads.db"),
        "LEADS_LOG_LEVEL": "DEBUG",
        "LEADS_SQLITE_BUSY_MS": "50",
    }
    command = [str(Path(sys.executable).with_name("leads")), "serve", "--port", "0"]
    with log.open("w") as stream:
        process = subprocess.Popen(
            [*command, "--auth", "open"], env=environment, stderr=stream, stdout=stream
        )
        try:
            yield _url(log, process), log
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(15) == 0


def _url(log: Path, process: "subprocess.Popen[bytes]") -> str:
    for _ in range(600):
        for word in log.read_text().split():
            if word.startswith("http://127.0.0.1:"):
                return word.rstrip(".,")
        assert process.poll() is None, log.read_text()
        time.sleep(0.05)
    raise AssertionError(log.read_text())


def test_a_canary_sent_through_every_route_and_every_refusal_appears_in_no_log_line(served):
    url, log = served
    with httpx.Client(base_url=url, timeout=30, trust_env=False) as http:
        lead = f"lead-{CANARY}"
        good = purchase(leadOrganizationId=lead, payload={"productName": CANARY})
        answers = [
            http.post("/v1/events", json=good),
            http.post("/v1/events", json=good),
            http.post("/v1/events", json=good | {"occurredAt": CANARY}),
            http.post("/v1/events", json=good | {CANARY: CANARY}),
            http.post("/v1/events", json=good | {"payload": {CANARY: 1, "amount": CANARY}}),
            http.post("/v1/events", content=f'{{"{CANARY}'.encode()),
            http.post("/v1/events", content=b"{}", headers={"Content-Type": f"text/{CANARY}"}),
            http.post("/v1/events:batch", json={"events": [good, CANARY, {"lead": CANARY}]}),
            http.post("/v1/events:validate", json={"events": [good]}),
            http.post("/v1/events", json=_normalized()),
            http.get(f"/v1/leads/{lead}/events", params={"type": CANARY, "cursor": CANARY}),
            http.get(f"/v1/leads/{lead}/events", params={"since": CANARY, CANARY: CANARY}),
            http.get(f"/v1/leads/{lead}/memories/purchase/{CANARY}"),
            http.get(f"/v1/leads/{lead}/memories/purchase/totals/explain"),
            http.get(f"/v1/leads/{lead}/context", headers={"Authorization": f"Bearer {CANARY}"}),
            http.get(f"/v1/leads/{lead}/features"),
            http.get("/v1/events", params={"source": "hotmart", "externalEventId": CANARY}),
            http.get(f"/v1/schemas/{CANARY}"),
            http.get(f"/{CANARY}"),
        ]
    text = log.read_text()
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    assert {each.status_code for each in answers} >= {200, 201, 207, 400, 404, 415, 422}
    assert sum(line["event"] == "request.answered" for line in lines) == len(answers)
    assert CANARY.lower() not in text.lower()


def _normalized():
    return {
        "metadata": {"eventId": CANARY, "timestamp": "2026-03-15T14:00:00Z"},
        "source": {"sourceType": "CHECKOUT", "source": "hotmart"},
        "event": {"key": "purchase_completed", "data": {"lead": {"email": CANARY}}},
    }

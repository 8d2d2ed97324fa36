import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest

from tests.support.deliveries import ACCOUNT, delivery, signed, text
from tests.support.service import purchase
from tests.support.webhook import APP_SECRET

CANARY = "Canarinho-da-Silva"
DELIVERY = delivery(
    text("wamid.1", CANARY),
    text(CANARY, CANARY),
    {"from": CANARY, "id": CANARY, "type": CANARY, CANARY: {"body": CANARY}},
    text("wamid.3", sender=CANARY, type="image", image={"id": CANARY, "caption": CANARY}),
    contacts=[{"wa_id": "5511955550142", "profile": {"name": CANARY}}],
    statuses=[{"id": CANARY, "status": CANARY, "recipient_id": CANARY, "errors": [CANARY]}],
)
STRANGE = delivery(account=CANARY, messages=CANARY)


@pytest.fixture
def served(tmp_path):
    log = tmp_path / "log"
    environment = os.environ | {
        "LEADS_DB": str(tmp_path / "leads.db"),
        "LEADS_LOG_LEVEL": "DEBUG",
        "LEADS_SQLITE_BUSY_MS": "50",
        "LEADS_WHATSAPP_NUMBERS": ACCOUNT,
        "LEADS_WHATSAPP_APP_SECRET": APP_SECRET,
        # Where nobody listens: what is answered to the lead goes nowhere.
        "LEADS_WHATSAPP_URL": "http://127.0.0.1:1",
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
    with httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
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
            http.get("/v1/channels/whatsapp", params={"hub.verify_token": CANARY}),
            http.post("/v1/channels/whatsapp", json={CANARY: CANARY}),
            http.post("/v1/channels/whatsapp", content=DELIVERY, headers=signed(DELIVERY)),
            http.post("/v1/channels/whatsapp", content=STRANGE, headers=signed(STRANGE)),
        ]
    # An answer is logged once it is on its way.
    logged = ""
    lines: list[dict[str, object]] = []
    deadline = time.monotonic() + 20
    while sum(line["event"] == "request.answered" for line in lines) < len(answers):
        assert time.monotonic() < deadline, logged
        logged = log.read_text()
        whole = logged.rpartition("\n")[0].splitlines()
        lines = [json.loads(line) for line in whole if line.startswith("{")]

    assert {each.status_code for each in answers} >= {200, 201, 202, 207, 400, 401, 404, 415, 422}
    assert {"webhook_received", "signature_rejected"} <= {line["event"] for line in lines}
    assert sum(line["event"] == "request.answered" for line in lines) == len(answers)
    assert CANARY.lower() not in logged.lower()


def _normalized():
    return {
        "metadata": {"eventId": CANARY, "timestamp": "2026-03-15T14:00:00Z"},
        "source": {"sourceType": "CHECKOUT", "source": "hotmart"},
        "event": {"key": "purchase_completed", "data": {"lead": {"email": CANARY}}},
    }

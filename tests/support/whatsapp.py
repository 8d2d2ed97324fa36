"""A simulator that posts to an endpoint of the test's own, and what a service would call it with."""

import json
import math
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

from domain import instants
from handlers.simulators.whatsapp import Setup, Simulator
from tests.support.webhook import APP_SECRET, VERIFY_TOKEN

TOKEN = "token-de-acesso"
ANA = "5511955550142"
BRUNO = "5511955550143"
ANA_ID = "BR.150000000000142"
NOON = "2026-03-20T12:00:00.000000Z"
PATIENCE_S = 20


@dataclass
class HandClock:
    """Stands still until it is moved."""

    now: str = NOON

    def __call__(self) -> str:
        return self.now

    def pass_by(self, **span: float) -> None:
        self.now = instants.shift(self.now, timedelta(**span))


@dataclass(frozen=True)
class Reply:
    """What a client saw: no status if the connection closed."""

    status: int | None
    body: bytes = b""
    headers: Any = None

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> Any:
        return self.document["error"]["code"]

    @property
    def message_id(self) -> Any:
        return self.document["messages"][0]["id"]


@contextmanager
def simulating(webhook="", *, seed=7, clock=None, **setup):
    told = {"speed": math.inf, "verify_token": VERIFY_TOKEN, **setup}
    own = Setup(webhook=webhook, app_secret=APP_SECRET, token=TOKEN, **told)
    with Simulator(own, random=Random(seed), now=clock or HandClock()) as simulator:
        yield simulator


def call(method, url, body=None, *, token=None, timeout=PATIENCE_S, headers=None):
    """Do one request; a closed connection is an answer too."""
    sent = {"Content-Type": "application/json", **(headers or {})}
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers=sent, method=method)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:  # noqa: S310
            return Reply(answer.status, answer.read(), answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, error.read(), error.headers)
    except OSError:
        return Reply(None)


def send(simulator, to=ANA, text="Olá!", *, outbound_id="out_1", token=TOKEN, **more):
    """Send a text as a service would."""
    body = {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "type": "text",
        "text": {"body": text},
        **({"to": to} if to is not None else {}),
        **({} if outbound_id is None else {"biz_opaque_callback_data": outbound_id}),
        **more,
    }
    return post(simulator, body, token=token)


def post(simulator, body, *, token=TOKEN, timeout=PATIENCE_S):
    number = simulator.setup.numbers[0].phone_number_id
    url = f"{simulator.url}/v23.0/{number}/messages"
    return call("POST", url, body, token=token, timeout=timeout)

"""A simulated HubSpot account with a program that asks it; every answer is held to HubSpot's own files."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import httpx2

from handlers.simulators.hubspot import HubSpot, Setup, VirtualClock
from tests.support import hubspot_openapi

ROOT = "/crm/objects/2026-09"
TYPE_ID = {"deals": 3, "contacts": 4}
STAGE = "1000001"
UNLIMITED = 10**9
# Nothing here is encrypted; without it each client would read all the certificates there are.
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class Program:
    """Asks one account over one kept connection; paths without a slash in front are of records."""

    def __init__(self, account: HubSpot, clock: VirtualClock) -> None:
        self.account = account
        self.clock = clock
        self.http = httpx2.Client(
            base_url=account.url, timeout=20, trust_env=False, verify=NO_CERTIFICATES
        )

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = None,
        **params: Any,
    ) -> httpx2.Response:
        path = path if path.startswith("/") else f"{ROOT}/{path}"
        headers = {"Authorization": f"Bearer {self.account.token if token is None else token}"}
        answer = self.http.request(method, path, json=body, headers=headers, params=params)
        if hubspot_openapi.IS_THERE and path.startswith("/crm/") and "/2026-09/" in path:
            document = answer.json() if answer.content else None
            assert hubspot_openapi.problem(method, path, answer.status_code, document) is None
        return answer

    def get(self, path: str, **params: Any) -> httpx2.Response:
        return self.ask("GET", path, **params)

    def post(self, path: str, body: Any, **params: Any) -> httpx2.Response:
        return self.ask("POST", path, body, **params)

    def patch(self, path: str, body: Any, **params: Any) -> httpx2.Response:
        return self.ask("PATCH", path, body, **params)

    def delete(self, path: str) -> httpx2.Response:
        return self.ask("DELETE", path)

    def contact(self, **values: str) -> str:
        answer = self.post("contacts", {"properties": {"firstname": "Ana", **values}})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def deal(self, contact_id: str | None = None, **values: str) -> str:
        answer = self.post("deals", deal(contact_id, **values))
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def search(self, kind: str, name: str, value: str, **more: Any) -> httpx2.Response:
        condition = {"propertyName": name, "operator": "EQ", "value": value}
        body = {"filterGroups": [{"filters": [condition]}], **more}
        return self.post(f"{kind}/search", body)


def deal(contact_id: str | None = None, **values: str) -> dict[str, Any]:
    """A deal as a program creates it."""
    usual = {"dealname": "Ana", "dealstage": STAGE, "pipeline": "default"}
    return {
        "properties": {**usual, **values},
        "associations": [] if contact_id is None else [link(contact_id)],
    }


def link(record_id: str, type_id: int = TYPE_ID["deals"]) -> dict[str, Any]:
    spec = {"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": type_id}
    return {"to": {"id": record_id}, "types": [spec]}


@contextmanager
def playing(seed: int = 7, **setup: Any) -> Iterator[Program]:
    """An account on a clock that stands still, with room for any number of requests."""
    clock = VirtualClock()
    told = Setup(**{"burst": UNLIMITED, "searches": UNLIMITED, **setup})
    with HubSpot(told, random=Random(seed), now=clock) as account:
        program = Program(account, clock)
        try:
            yield program
        finally:
            program.http.close()


def codes(answer: httpx2.Response) -> list[str]:
    return [each["code"] for each in answer.json()["errors"]]

"""HubSpot's shapes for tests of its adapter: fictional people, and every verb there is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from adapters.hubspot.client import HubSpotClient
from adapters.hubspot.crm import HubSpotCrm
from domain.crm.replies import Reply
from tests.support.http_server import Reply as Answered
from tests.support.http_server import Server, http_server

TOKEN = "pat-na1-canary-of-the-token"
PHONE = "5511955550142"
EMAIL = "ana.souza@example.com"
MOMENT = "2026-11-20T12:00:00.000Z"

DEAL = {"name": "Ana Souza", "stage": "101", "key": "prod:session-1"}
CONTACT = {"phone": PHONE, "phone_key": f"+{PHONE}", "name": "Ana Souza", "email": EMAIL}


def record(record_id: str = "42", **properties: str | None) -> dict[str, Any]:
    return {
        "id": record_id,
        "properties": properties,
        "createdAt": MOMENT,
        "updatedAt": MOMENT,
        "archived": False,
    }


def error(category: str = "VALIDATION_ERROR", message: str = "no", **more: Any) -> dict[str, Any]:
    return {
        "status": "error",
        "message": message,
        "correlationId": "aeb5f871-7f07-4993-9211-075dc63e7cbf",
        "category": category,
        **more,
    }


def taken(holder: str = "77", value: str = "prod:session-1") -> dict[str, Any]:
    message = (
        "Cannot set PropertyValueCoordinates{portalId=1, objectTypeId=ObjectTypeId"
        "{legacyObjectType=DEAL}, propertyName=lead_session_id, "
        f"value={value}}} on 76. {holder} already has that value."
    )
    return error(message=message)


# One of each verb: a reading, a writing that does no harm twice, a creation.
VERBS: dict[str, Callable[[HubSpotCrm], Reply]] = {
    "READ": lambda crm: crm.find_deal(by="id", value="42"),
    "WRITE": lambda crm: crm.update_deal("42", {"stage": "102"}),
    "CREATE": lambda crm: crm.create_deal(DEAL, "31"),
}


@contextmanager
def crm_at(url: str, **options: Any) -> Iterator[HubSpotCrm]:
    crm = HubSpotCrm(HubSpotClient(TOKEN, base_url=url, **options))
    try:
        yield crm
    finally:
        crm.close()


@contextmanager
def crm_answered(*answers: Answered, **options: Any) -> Iterator[tuple[HubSpotCrm, Server]]:
    with http_server(*answers) as server, crm_at(server.url, **options) as crm:
        yield crm, server

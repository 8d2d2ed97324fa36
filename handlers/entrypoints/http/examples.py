"""What the OpenAPI document shows of bodies: schemas and examples that a test sends and compares."""

from typing import Any, Final

from domain import catalog

Document = dict[str, Any]
Responses = dict[int | str, Document]

_LEAD: Final = "01980a5e-7c00-7000-8000-000000000001"
_EVENT_ID: Final = "01980a5e-7c00-7000-8000-00000000000e"

PURCHASE: Final[Document] = {
    "externalEventId": "HT-78901",
    "source": "hotmart",
    "eventType": "purchase_completed",
    "occurredAt": "2026-03-15T14:00:00Z",
    "lead": {"channel": "email", "channelIdentifier": "ana@example.com"},
    "payload": {
        "productId": "whey_1kg",
        "productName": "Whey Protein 1kg",
        "category": "supplements",
        "amount": "150.00",
        "currency": "BRL",
        "paymentMethod": "credit_card",
    },
}
"""An event in the native form, the lead given by an address."""

NORMALIZED: Final[Document] = {
    "metadata": {
        "eventId": "01980a5e-7c00-7000-8000-00000000000f",
        "timestamp": "2026-03-15T14:00:00Z",
        "correlationId": "01980a5e-7c00-7000-8000-00000000000c",
    },
    "source": {"sourceType": "CHECKOUT", "source": "hotmart"},
    "event": {
        "key": "purchase_abandoned",
        "data": {
            "lead": {"email": "ana@example.com", "channel": "email"},
            "product_ids": ["whey_1kg"],
            "cart_value": "150.00",
            "currency": "BRL",
        },
    },
}
"""The same kind of thing as EventNormalized."""

_CREATED: Final[Document] = {
    "status": "created",
    "id": _EVENT_ID,
    "leadOrganizationId": _LEAD,
    "sequence": 1,
    "mapped": True,
}
_PROBLEM: Final[Document] = {
    "type": "/problems/invalid-event",
    "title": "The event is not valid",
    "status": 422,
    "detail": "The event is not valid. Correct the fields named and send the event again.",
    "instance": "/v1/events",
    "requestId": "01980a5e-7c00-7000-8000-0000000000aa",
    "errors": [{"pointer": "/payload/amount", "detail": "must not be negative"}],
}
_REPORT: Final[Document] = {
    "accepted": 1,
    "duplicates": 0,
    "conflicts": 0,
    "rejected": 1,
    "retry": 0,
    "results": [
        {"index": 0, "externalEventId": "HT-78901", **_CREATED},
        {"index": 1, "status": "rejected", "retryable": False, "problem": _PROBLEM},
    ],
}

_EVENT: Final[Document] = {
    "type": "object",
    "description": "An event in the native form, or EventNormalized.",
    "required": ["source", "eventType", "payload"],
    "properties": {
        "leadOrganizationId": {"type": "string", "maxLength": 255},
        "lead": {
            "type": "object",
            "description": "Instead of leadOrganizationId: the address the lead was met at.",
            "properties": {
                "channel": {"type": "string"},
                "channelIdentifier": {"type": "string"},
                "phoneNumber": {"type": "string"},
                "email": {"type": "string"},
                "name": {"type": "string"},
            },
        },
        "externalEventId": {"type": "string", "minLength": 1, "maxLength": 255},
        "sourceType": {"enum": ["EXTERNAL", "INTERNAL", "DIRECT"]},
        "source": {"type": "string", "maxLength": 100},
        "eventType": {
            "type": "string",
            "maxLength": 100,
            "description": f"Known: {', '.join(catalog.TYPES)}. Others are stored as they are.",
        },
        "schemaVersion": {"type": "integer", "minimum": 1},
        "occurredAt": {"type": "string", "format": "date-time"},
        "objectId": {"type": "string", "maxLength": 255},
        "objectIdRef": {"type": "string", "maxLength": 255},
        "correlationId": {"type": "string", "maxLength": 255},
        "causationId": {"type": "string", "maxLength": 255},
        "payload": {"type": "object", "description": "See /v1/schemas/{eventType}."},
        "rawPayload": {"description": "What the provider sent, untouched."},
    },
}


def _body(schema: Document, examples: Document, *, lines: bool = False) -> Document:
    content: Document = {
        "application/json": {
            "schema": schema,
            "examples": {name: {"value": value} for name, value in examples.items()},
        }
    }
    if lines:
        content["application/x-ndjson"] = {
            "schema": {"type": "string", "description": "One event a line."}
        }
    return {"requestBody": {"required": True, "content": content}}


def _answer(description: str, example: Any, media_type: str = "application/json") -> Document:
    return {"description": description, "content": {media_type: {"example": example}}}


def _problem(status: int, description: str) -> Document:
    return _answer(description, _PROBLEM | {"status": status}, "application/problem+json")


_AUTH: Final[Responses] = {
    401: _problem(401, "No API key that is valid"),
    403: _problem(403, "The API key does not permit this"),
}
_READ: Final[Responses] = {
    **_AUTH,
    404: _problem(404, "Missing, or another organization's"),
    422: _problem(422, "A parameter is not valid"),
    503: _problem(503, "The store cannot answer now; the request may be sent again"),
}

POST_EVENT: Final = _body(_EVENT, {"native": PURCHASE, "normalized": NORMALIZED})
POST_BATCH: Final = _body(
    {
        "type": "object",
        "required": ["events"],
        "properties": {"events": {"type": "array", "maxItems": 500, "items": _EVENT}},
    },
    {"two": {"events": [PURCHASE, NORMALIZED]}},
    lines=True,
)

_SENT: Final[Responses] = {
    **_AUTH,
    400: _problem(400, "The body is not JSON"),
    413: _problem(413, "Too large"),
    415: _problem(415, "Another media type"),
    422: _problem(422, "Not valid; `errors` names the fields"),
    503: _problem(503, "Nothing was stored; the same request may be sent again"),
}
ONE_ANSWER: Final[Responses] = {
    **_SENT,
    200: _answer("The same event was recorded before", _CREATED | {"status": "duplicate"}),
    201: _answer("Recorded", _CREATED),
    404: _problem(404, "The lead is another organization's"),
    409: _problem(409, "Other content under a used externalEventId; the first stands"),
}
MANY_ANSWERS: Final[Responses] = {
    **_SENT,
    200: _answer("All recorded, or recorded before", _REPORT),
    207: _answer("Mixed: each result has a status of its own", _REPORT),
}

_SHOWN_EVENT: Final[Document] = {
    "id": _EVENT_ID,
    "leadOrganizationId": _LEAD,
    "sequence": 1,
    "sourceType": "EXTERNAL",
    "source": "hotmart",
    "eventType": "purchase_completed",
    "schemaVersion": 1,
    "externalEventId": "HT-78901",
    "occurredAt": "2026-03-15T14:00:00.000000Z",
    "receivedAt": "2026-03-15T14:00:01.250000Z",
    "payload": PURCHASE["payload"],
}
_SHOWN_MEMORY: Final[Document] = {
    "memoryType": "purchase",
    "key": "product:whey_1kg",
    "value": {"purchaseCount": 1, "totalSpent": {"BRL": "150.00"}},
    "confidence": "1.0000",
    "source": "event_derived",
    "sourceEventIds": [_EVENT_ID],
    "sourceEventCount": 1,
    "createdAt": "2026-03-15T14:00:00.000000Z",
    "updatedAt": "2026-03-15T14:00:00.000000Z",
    "expiresAt": None,
}

EVENT: Final[Responses] = {**_READ, 200: _answer("The event", _SHOWN_EVENT)}
EVENTS: Final[Responses] = {
    **_READ,
    200: _answer("A page of events", {"events": [_SHOWN_EVENT], "cursor": None}),
}
MEMORIES: Final[Responses] = {
    **_READ,
    200: _answer("The memories", {"memories": [_SHOWN_MEMORY]}),
}
MEMORY: Final[Responses] = {**_READ, 200: _answer("The memory", _SHOWN_MEMORY)}
EXPLANATION: Final[Responses] = {**_READ, 200: {"description": "What the memory stands on"}}
CONTEXT: Final[Responses] = {**_READ, 200: {"description": "Text within the budget"}}
FEATURES: Final[Responses] = {
    **_READ,
    200: _answer(
        "The vector",
        {
            "leadOrganizationId": _LEAD,
            "features": {"has_purchased": 1, "monetary_total": 150.0},
            "currency": "BRL",
            "computedAt": "2026-03-20T12:00:00.000000Z",
            "version": 1,
        },
    ),
}
SCHEMAS: Final[Responses] = {200: {"description": "Every declared event type"}}
SCHEMA: Final[Responses] = {
    200: {"description": "A JSON Schema (2020-12)"},
    404: _problem(404, "No such type or version"),
}
METRICS: Final[Responses] = {
    **_AUTH,
    200: _answer("The numbers", "leads_crm_pending 0\n", "text/plain"),
    503: _problem(503, "The store cannot answer now"),
}
HEALTH: Final[Responses] = {200: _answer("Up", {"status": "ok"})}

_DELIVERY: Final[Document] = {
    "object": "whatsapp_business_account",
    "entry": [
        {
            "id": "102030405060708",
            "changes": [
                {
                    "field": "messages",
                    "value": {
                        "messaging_product": "whatsapp",
                        "metadata": {
                            "display_phone_number": "5511955550100",
                            "phone_number_id": "109876543210987",
                        },
                        "contacts": [{"profile": {"name": "Ana"}, "wa_id": "5511955550142"}],
                        "messages": [
                            {
                                "from": "5511955550142",
                                "id": "wamid.A",
                                "timestamp": "1773928800",
                                "type": "text",
                                "text": {"body": "Oi, quanto custa?"},
                            }
                        ],
                    },
                }
            ],
        }
    ],
}


def _given(place: str, *names: str) -> list[Document]:
    return [
        {"name": name, "in": place, "required": True, "schema": {"type": "string"}}
        for name in names
    ]


GET_HANDSHAKE: Final[Document] = {
    "parameters": _given("query", "hub.mode", "hub.verify_token", "hub.challenge"),
}
HANDSHAKE: Final[Responses] = {
    200: _answer("The challenge, as it was asked", "1158201444", "text/plain"),
    403: _problem(403, "It does not name our verify token"),
}
POST_DELIVERY: Final[Document] = {
    **_body({"type": "object"}, {"text": _DELIVERY}),
    "parameters": _given("header", "X-Hub-Signature-256"),
}
DELIVERY: Final[Responses] = {
    200: _answer("Recorded, or nothing to record", {"status": "recorded"}),
    202: _answer("Messages are queued", {"status": "queued"}),
    401: _problem(401, "Not signed as it must be"),
    413: _problem(413, "Larger than any delivery may be"),
    503: _problem(503, "Not all of it is durable; deliver it again"),
}

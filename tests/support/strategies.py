"""Histories of lead events for property tests: all 21 types of the lead domain, few of each name.

Everything draws from small pools (three products, three campaigns, two plans, four instants), so
that keys and times collide; only event ids never do. Payloads are canonical: what the catalog
makes of them is themselves.
"""

from typing import Any, Final

from hypothesis import strategies as st

from domain.event import KNOWN_SOURCES, LeadEvent

LEAD: Final = "01957f8a-0000-7000-8000-00000000000a"
ORGANIZATION: Final = "org-one"

PRODUCTS: Final = st.sampled_from(["whey_1kg", "creatina_300g", "coqueteleira"])
CAMPAIGNS: Final = st.sampled_from(["recompra", "boas_vindas", "aniversario"])
PLANS: Final = st.sampled_from(["club_monthly", "club_yearly"])
INSTANTS: Final = st.sampled_from(
    [
        "2025-12-10T02:30:00.000000Z",
        "2026-03-15T13:00:00.000000Z",
        "2026-03-15T13:00:00.120000Z",
        "2026-03-20T23:59:59.999999Z",
    ]
)
SOURCES: Final = st.sampled_from(["hotmart", "messaging_service", "ai_agents_service", "whatsapp"])

_NAMES = st.sampled_from(["Whey Protein 1kg", "Creatina", "名前"])
_CATEGORIES = st.sampled_from(["supplements", "accessories"])
_CURRENCIES = st.sampled_from(["BRL", "USD", "JPY"])
_CHANNELS = st.sampled_from(["whatsapp", "web", "instagram"])
_METHODS = st.sampled_from(["credit_card", "pix", "boleto"])
_CONVERSATIONS = st.sampled_from(["conv-1", "conv-2"])
_TICKETS = st.sampled_from(["T-1", "T-2"])
_TEXTS = st.sampled_from(["", "Achei caro", "Tem frete grátis?", "x" * 700])
_WORDS = st.sampled_from(["Price", "trust", "family", "communication_style"])
_QUESTIONS = st.sampled_from(["Como nos achou?", "Como nos achou", "De 1 a 10?", "質問", "質疑"])
_SCORES = st.sampled_from([0, 0.125, 0.29, 0.3, 0.333, 0.5, 0.875, 1])
_ANSWERS = st.sampled_from(["Instagram", 9, 7.5, True, ["a", "b"]])


@st.composite
def _money(draw: st.DrawFn, field: str = "amount") -> dict[str, Any]:
    currency = draw(_CURRENCIES)
    units = draw(st.sampled_from([0, 1, 15_000, 99_999]))
    amount = str(units) if currency == "JPY" else f"{units // 100}.{units % 100:02d}"
    return {field: amount, "currency": currency}


@st.composite
def _ticket_resolved(draw: st.DrawFn) -> dict[str, Any]:
    payload: dict[str, Any] = draw(
        st.fixed_dictionaries({"ticketId": _TICKETS}, optional={"resolution": _TEXTS})
    )
    if draw(st.booleans()):
        payload |= {"satisfactionScore": draw(st.sampled_from([4, 4.5])), "scoreScale": 5}
    return payload


@st.composite
def _interest(draw: st.DrawFn) -> dict[str, Any]:
    named = st.fixed_dictionaries({"productId": PRODUCTS}, optional={"category": _CATEGORIES})
    categorised = st.fixed_dictionaries({"category": _CATEGORIES})
    payload: dict[str, Any] = draw(st.one_of(named, categorised))
    return payload | {"confidence": draw(_SCORES)}


def _with(
    extra: st.SearchStrategy[dict[str, Any]], required: dict[str, Any], **optional: Any
) -> st.SearchStrategy[dict[str, Any]]:
    fields = st.fixed_dictionaries(required, optional=optional)
    return st.tuples(fields, extra).map(lambda both: both[0] | both[1])


def _of(required: dict[str, Any], **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(required, optional=optional)


PAYLOADS: Final[dict[str, st.SearchStrategy[dict[str, Any]]]] = {
    "purchase_completed": _with(
        _money(),
        {"productId": PRODUCTS},
        productName=_NAMES,
        category=_CATEGORIES,
        paymentMethod=_METHODS,
        installments=st.sampled_from([1, 3, 10]),
        transactionId=st.just("HT-78901"),
        quantity=st.just(2),
        conversationId=_CONVERSATIONS,
    ),
    "purchase_refunded": _with(
        _money(), {}, productId=PRODUCTS, transactionId=st.just("HT-78901"), reason=_TEXTS
    ),
    "purchase_abandoned": _with(
        st.one_of(st.just({}), _money("cartValue")),
        {"productIds": st.lists(PRODUCTS, min_size=1, max_size=4)},
        stageAbandoned=st.sampled_from(["cart", "payment"]),
    ),
    "product_viewed": _of(
        {"productId": PRODUCTS}, productName=_NAMES, category=_CATEGORIES, channel=_CHANNELS
    ),
    "product_asked": _of(
        {"question": _QUESTIONS},
        productId=PRODUCTS,
        channel=_CHANNELS,
        conversationId=_CONVERSATIONS,
    ),
    "interest_detected": _interest(),
    "sentiment_detected": _of(
        {"score": _SCORES},
        label=st.sampled_from(["negative", "neutral", "positive"]),
        context=_TEXTS,
    ),
    "ticket_opened": _of(
        {"ticketId": _TICKETS},
        subject=_TEXTS,
        productId=PRODUCTS,
        priority=st.sampled_from(["low", "urgent"]),
    ),
    "ticket_resolved": _ticket_resolved(),
    "conversation_started": _of(
        {"channel": _CHANNELS}, context=_TEXTS, conversationId=_CONVERSATIONS
    ),
    "conversation_ended": _of(
        {
            "channel": _CHANNELS,
            "durationSeconds": st.sampled_from([0, 540]),
            "messageCount": st.sampled_from([1, 18]),
        },
        sentimentScore=_SCORES,
        conversationId=_CONVERSATIONS,
        summary=_TEXTS,
        outcome=st.just("purchase"),
    ),
    "campaign_delivered": _of(
        {"campaignId": CAMPAIGNS, "channel": _CHANNELS}, campaignName=_NAMES, productId=PRODUCTS
    ),
    "campaign_engaged": _of(
        {
            "campaignId": CAMPAIGNS,
            "engagementType": st.sampled_from(["opened", "clicked", "replied", "converted"]),
        }
    ),
    "campaign_ignored": _of({"campaignId": CAMPAIGNS, "daysSinceDelivery": st.just(7)}),
    "subscription_created": _with(
        st.one_of(st.just({}), _money()),
        {"planId": PLANS},
        planName=_NAMES,
        interval=st.just("month"),
    ),
    "subscription_cancelled": _of({"planId": PLANS}, reason=_TEXTS),
    "form_submitted": _of(
        {
            "formId": st.sampled_from(["sat_survey_2026", "cadastro"]),
            "responses": st.lists(
                _of(
                    {"question": _QUESTIONS, "answer": _ANSWERS},
                    ref=st.sampled_from(["score", "como_nos_achou"]),
                ),
                max_size=4,
            ),
        },
        formName=_NAMES,
    ),
    "discount_requested": _of(
        {}, context=_TEXTS, productId=PRODUCTS, conversationId=_CONVERSATIONS
    ),
    "discount_accepted": _of(
        {"discountPercent": st.sampled_from([0, 7.5, 10, 100])}, productId=PRODUCTS
    ),
    "agent_insight": _of(
        {
            "insightType": _WORDS,
            "content": st.sampled_from(["Tem dois filhos", "y" * 700]),
            "confidence": _SCORES,
        }
    ),
    "objection_raised": _of(
        {"type": _WORDS}, context=_TEXTS, productId=PRODUCTS, conversationId=_CONVERSATIONS
    ),
}
"""A payload of each type of the lead domain."""


def event(
    event_type: str,
    payload: dict[str, Any],
    *,
    at: str = "2026-03-15T13:00:00.000000Z",
    event_id: str = "evt-1",
    sequence: int = 1,
    source: str = "hotmart",
) -> LeadEvent:
    """Return an event of the one lead of these histories."""
    return LeadEvent(
        lead=LEAD,
        sequence=sequence,
        event_type=event_type,
        event_id=event_id,
        organization_id=ORGANIZATION,
        occurred_at=at,
        received_at="2026-03-21T00:00:00.000000Z",
        source_type=KNOWN_SOURCES.get(source, "INTERNAL"),
        source=source,
        schema_version=1,
        external_event_id=event_id,
        object_id=None,
        object_id_ref=None,
        correlation_id=None,
        causation_id=None,
        key_id=None,
        payload=payload,
    )


@st.composite
def events(draw: st.DrawFn, number: int = 1) -> LeadEvent:
    """One event; `number` makes its event id, and with it its place among events of one instant."""
    event_type = draw(st.sampled_from(sorted(PAYLOADS)))
    return event(
        event_type,
        draw(PAYLOADS[event_type]),
        at=draw(INSTANTS),
        event_id=f"01957f8a-{number:04x}-7000-8000-0000000000ff",
        source=draw(SOURCES),
    )


@st.composite
def histories(draw: st.DrawFn, *, min_size: int = 0, max_size: int = 25) -> list[LeadEvent]:
    """Events of one lead in the order they arrived, numbered from 1; their ids are in no order."""
    size = draw(st.integers(min_size, max_size))
    numbers = draw(st.permutations(range(1, size + 1)))
    drawn = [draw(events(number)) for number in numbers]
    return arrived(drawn)


def arrived(unordered: list[LeadEvent]) -> list[LeadEvent]:
    """Return the events numbered as if they had arrived in this order."""
    return [each._replace(sequence=place) for place, each in enumerate(unordered, 1)]

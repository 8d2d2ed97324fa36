"""What happens to made-up leads: short stories in Brazilian Portuguese, one kind of lead each.

Nobody in them exists. A story is drawn from a generator of random numbers and nothing else, so
one seed tells the same stories everywhere.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final, NamedTuple, TypeVar

T = TypeVar("T")

DAY: Final = 24 * 60
FORM: Final = "sat_survey_2026"


class Fact(NamedTuple):
    """One event of a story. `ago` is in minutes before the moment the story is told."""

    ago: int
    source: str
    event_type: str
    payload: dict[str, Any]
    schema_version: int = 1


class Product(NamedTuple):
    """Something for sale, at a price in centavos."""

    id: str
    name: str
    category: str
    price: int


Story = Callable[[Random, str], Iterator[Fact]]

WHEY: Final = Product("whey_1kg", "Whey Protein 1kg", "supplements", 150_00)
PRODUCTS: Final = (
    WHEY,
    Product("creatina_300g", "Creatina Monohidratada 300g", "supplements", 89_90),
    Product("pre_treino_300g", "Pré-Treino Frutas Vermelhas", "supplements", 119_00),
    Product("coqueteleira_600ml", "Coqueteleira 600ml", "accessories", 39_90),
    Product("camiseta_dryfit", "Camiseta Dry Fit", "clothing", 79_90),
    Product("tenis_corrida", "Tênis de Corrida Leve", "clothing", 349_90),
    Product("curso_nutricao", "Curso Nutrição na Prática", "courses", 297_00),
)
CAMPAIGNS: Final = (
    ("camp_whey_recompra", "Recompra Whey", "whey_1kg"),
    ("camp_volta_ao_treino", "Volta ao Treino", "pre_treino_300g"),
    ("camp_semana_do_consumidor", "Semana do Consumidor", "tenis_corrida"),
)
QUESTIONS: Final = (
    "Tem sabor baunilha?",
    "Qual o prazo de entrega para o interior?",
    "Dá para parcelar em quantas vezes?",
    "Posso trocar se não servir?",
    "Esse produto tem lactose?",
    "Vocês emitem nota fiscal?",
)
OBJECTIONS: Final = (
    ("price", "Achei caro, na outra loja está mais barato"),
    ("delivery_time", "Preciso antes de sexta"),
    ("trust", "Nunca comprei com vocês"),
    ("payment", "Meu cartão não tem limite agora"),
)
INSIGHTS: Final = (
    ("communication_style", "Prefere mensagens curtas e diretas", 0.86),
    ("goal", "Treina para a primeira meia maratona", 0.74),
    ("dietary_restriction", "Evita lactose", 0.91),
    ("best_time", "Costuma responder depois das 19h", 0.68),
)
TICKETS: Final = (
    ("Entrega atrasada", "high", "Pedido reenviado sem custo"),
    ("Produto veio com a embalagem amassada", "normal", "Cupom de 10% enviado"),
    ("Não consigo acessar o curso", "urgent", "Acesso liberado novamente"),
    ("Segunda via da nota fiscal", "low", "Nota enviada por e-mail"),
)
METHODS: Final = (("credit_card", 3), ("pix", 1), ("boleto", 1), ("credit_card", 6))
GIVEN_NAMES: Final = ("Ana", "Bruno", "Carla", "Davi", "Elisa", "Fábio", "Gabi", "Heitor")
SURNAMES: Final = ("Exemplo", "Modelo", "Amostra", "Fictício", "de Teste", "Demonstração")
SHOPS: Final = ("hotmart", "shopify", "stripe")


def pick(rng: Random, options: Sequence[T]) -> T:
    """Return one of the options; the same for the same numbers on every version of Python."""
    return options[int(rng.random() * len(options))]


def loyal(rng: Random, tag: str) -> Iterator[Fact]:
    """Tell of somebody who buys the same thing again and again: five times in 59 days."""
    chat = f"conv-{tag}-1"
    yield from _browsing(rng, 66 * DAY, WHEY, views=2)
    yield from _conversation(rng, 65 * DAY, chat, outcome="purchase")
    yield Fact(65 * DAY - 9, "whatsapp", "product_asked", _asked(WHEY, QUESTIONS[0], chat))
    yield Fact(65 * DAY - 11, "messaging_service", "objection_raised", _objected(0, WHEY, chat))
    discount = {"context": "Pediu desconto no pix", "productId": WHEY.id, "conversationId": chat}
    yield Fact(65 * DAY - 12, "messaging_service", "discount_requested", discount)
    accepted = {"discountPercent": 10, "productId": WHEY.id}
    yield Fact(65 * DAY - 15, "messaging_service", "discount_accepted", accepted)
    yield Fact(64 * DAY - 90, "shopify", "purchase_abandoned", _cart([WHEY, PRODUCTS[1]]))
    for number, days in enumerate((64, 49, 34, 20, 5)):
        order = _order(WHEY, "credit_card", 3, f"HT-{tag}-{78897 + number}")
        yield Fact(days * DAY - 120, "hotmart", "purchase_completed", order)
    yield from _campaign(12 * DAY, CAMPAIGNS[0], "opened", "clicked", "converted")
    yield from _ticket(rng, 18 * DAY, f"T-{tag}", score=5)
    club = {"planId": "club_monthly", "planName": "Clube Mensal", "interval": "month"}
    billed = club | {"amount": "89.90", "currency": "BRL"}
    yield Fact(4 * DAY, "billing_service", "subscription_created", billed)
    yield from _insights(rng, 3 * DAY)
    yield from _survey(rng, 1 * DAY, tag, best=10)
    yield from _conversation(rng, 300, f"conv-{tag}-2", outcome="answered")


def hesitant(rng: Random, tag: str) -> Iterator[Fact]:
    """Tell of somebody who fills a cart, leaves it, and comes back for it or does not."""
    product, other = pick(rng, PRODUCTS), pick(rng, PRODUCTS)
    start, chat = _days(rng, 6, 40), f"conv-{tag}-1"
    yield from _browsing(rng, start + DAY, product, views=3)
    yield Fact(start, "shopify", "purchase_abandoned", _cart([product, other]))
    yield from _campaign(start - 2 * 60, CAMPAIGNS[2], "opened")
    yield from _conversation(rng, start - DAY, chat, outcome="follow_up")
    kind = int(rng.random() * len(OBJECTIONS))
    objection = _objected(kind, product, chat)
    yield Fact(start - DAY - 6, "messaging_service", "objection_raised", objection)
    wish = {"productId": product.id, "conversationId": chat}
    yield Fact(start - DAY - 8, "messaging_service", "discount_requested", wish)
    if rng.random() < 0.6:
        percent = pick(rng, (5, 7.5, 10, 15))
        accepted = {"discountPercent": percent, "productId": product.id}
        yield Fact(start - DAY - 12, "messaging_service", "discount_accepted", accepted)
        yield _purchase(rng, start - DAY - 40, product, tag)
    yield from _insights(rng, start - 2 * DAY)


def subscriber(rng: Random, tag: str) -> Iterator[Fact]:
    """Tell of somebody who joins the club, pays it, and may leave it."""
    start = _days(rng, 50, 110)
    yield from _browsing(rng, start + DAY, pick(rng, PRODUCTS), views=1)
    yearly = rng.random() < 0.3
    plan, name = ("club_yearly", "Clube Anual") if yearly else ("club_monthly", "Clube Mensal")
    price, interval = ("899.00", "year") if yearly else ("89.90", "month")
    club = {"planId": plan, "planName": name, "amount": price, "currency": "BRL"}
    club["interval"] = interval
    yield Fact(start, "billing_service", "subscription_created", club)
    for cycle in range(1, 4):
        yield _purchase(rng, start - cycle * 14 * DAY, pick(rng, PRODUCTS), f"{tag}-{cycle}")
    yield from _campaign(start - 20 * DAY, pick(rng, CAMPAIGNS), "opened", "replied")
    yield from _survey(rng, start - 30 * DAY, tag, best=9)
    yield from _insights(rng, start - 31 * DAY)
    if rng.random() < 0.4:
        left = {"planId": plan, "reason": pick(rng, ("Mudou de cidade", "Vai parar de treinar"))}
        yield Fact(start - 48 * DAY, "billing_service", "subscription_cancelled", left)


def curious(rng: Random, tag: str) -> Iterator[Fact]:
    """Tell of somebody who looks, asks, and buys nothing yet."""
    start = _days(rng, 8, 28)
    for visit in range(3):
        yield from _browsing(rng, start - visit * 2 * DAY, pick(rng, PRODUCTS), views=2)
    chat, product = f"conv-{tag}-1", pick(rng, PRODUCTS)
    yield from _conversation(rng, start - 5 * DAY, chat, outcome="no_purchase")
    question = _asked(product, pick(rng, QUESTIONS), chat)
    yield Fact(start - 5 * DAY - 3, "whatsapp", "product_asked", question)
    campaign, name, promoted = pick(rng, CAMPAIGNS)
    delivered = {"campaignId": campaign, "campaignName": name, "productId": promoted}
    delivered["channel"] = "whatsapp"
    yield Fact(start, "dispatch_service", "campaign_delivered", delivered)
    ignored = {"campaignId": campaign, "daysSinceDelivery": 7}
    yield Fact(start - 7 * DAY, "dispatch_service", "campaign_ignored", ignored)


def unhappy(rng: Random, tag: str) -> Iterator[Fact]:
    """Tell of somebody whose purchase goes wrong and is paid back, in whole or in part."""
    product, start = pick(rng, PRODUCTS), _days(rng, 14, 60)
    yield from _browsing(rng, start + 2 * DAY, product, views=1)
    bought = _purchase(rng, start, product, tag)
    yield bought
    yield from _ticket(rng, start - 3 * DAY, f"T-{tag}", score=2)
    yield from _conversation(rng, start - 4 * DAY, f"conv-{tag}-1", outcome="refund")
    refund = {name: bought.payload[name] for name in ("productId", "amount", "currency")}
    if rng.random() < 0.3:
        refund["amount"] = _money(product.price // 2)
    refund |= {"transactionId": bought.payload["transactionId"], "reason": "Produto com defeito"}
    yield Fact(start - 6 * DAY, bought.source, "purchase_refunded", refund)
    yield from _survey(rng, start - 8 * DAY, tag, best=4)


STORIES: Final[tuple[Story, ...]] = (loyal, hesitant, subscriber, curious, unhappy)


def _browsing(rng: Random, ago: int, product: Product, *, views: int) -> Iterator[Fact]:
    seen = {"productId": product.id, "productName": product.name, "category": product.category}
    for view in range(views):
        yield Fact(ago - view * 7, "web", "product_viewed", seen | {"channel": "web"})
    sure = round(0.4 + rng.random() * 0.5, 2)
    interest = {"category": product.category, "productId": product.id, "confidence": sure}
    yield Fact(ago - views * 7, "ai_agents_service", "interest_detected", interest)


def _conversation(rng: Random, ago: int, chat: str, *, outcome: str) -> Iterator[Fact]:
    minutes, mood = 12 + int(rng.random() * 30), round(0.15 + rng.random() * 0.8, 2)
    spoken: dict[str, Any] = {"channel": "whatsapp", "conversationId": chat}
    yield Fact(ago, "messaging_service", "conversation_started", spoken)
    label = "negative" if mood < 0.4 else "positive" if mood > 0.65 else "neutral"
    felt = {"score": mood, "label": label, "conversationId": chat}
    yield Fact(ago - minutes + 1, "ai_agents_service", "sentiment_detected", felt)
    ended = spoken | {"durationSeconds": minutes * 60, "messageCount": 6 + minutes // 2}
    ended |= {"sentimentScore": mood, "outcome": outcome}
    yield Fact(ago - minutes, "messaging_service", "conversation_ended", ended)


def _campaign(ago: int, campaign: tuple[str, str, str], *reactions: str) -> Iterator[Fact]:
    id_, name, product = campaign
    delivered = {"campaignId": id_, "campaignName": name, "productId": product}
    delivered["channel"] = "whatsapp"
    yield Fact(ago, "dispatch_service", "campaign_delivered", delivered)
    for number, reaction in enumerate(reactions, 1):
        engaged = {"campaignId": id_, "engagementType": reaction}
        yield Fact(ago - number * 11, "dispatch_service", "campaign_engaged", engaged)


def _ticket(rng: Random, ago: int, ticket: str, *, score: int) -> Iterator[Fact]:
    subject, priority, resolution = pick(rng, TICKETS)
    opened = {"ticketId": ticket, "subject": subject, "priority": priority}
    yield Fact(ago, "ticketing_service", "ticket_opened", opened)
    resolved = {"ticketId": ticket, "resolution": resolution, "satisfactionScore": score}
    # Half of the desks still send version 1, in which every score is out of 5.
    version = pick(rng, (1, 2))
    resolved |= {"scoreScale": 5} if version == 2 else {}
    yield Fact(ago - 30 * 60, "ticketing_service", "ticket_resolved", resolved, version)


def _survey(rng: Random, ago: int, tag: str, *, best: int) -> Iterator[Fact]:
    note = best - int(rng.random() * 3)
    number = int(tag.rstrip("b"))
    name = f"{GIVEN_NAMES[number % len(GIVEN_NAMES)]} {SURNAMES[number % len(SURNAMES)]}"
    answers = (
        ("name", "Como você se chama?", name),
        ("how_found", "Como você nos conheceu?", pick(rng, ("Instagram", "Indicação", "Google"))),
        ("score", "De 1 a 10, que nota você dá?", note),
        ("would_recommend", "Você nos indicaria?", "Sim" if note > 6 else "Não"),
    )
    submitted = {
        "formId": FORM,
        "formName": "Pesquisa de Satisfação",
        "responses": [
            {"question": question, "answer": answer, "ref": ref}
            for ref, question, answer in answers
        ],
    }
    yield Fact(ago, "typeform", "form_submitted", submitted)


def _insights(rng: Random, ago: int) -> Iterator[Fact]:
    kind, content, sure = pick(rng, INSIGHTS)
    insight = {"insightType": kind, "content": content, "confidence": sure}
    yield Fact(ago, "ai_agents_service", "agent_insight", insight)


def _purchase(rng: Random, ago: int, product: Product, tag: str) -> Fact:
    method, installments = pick(rng, METHODS)
    order = _order(product, method, installments, f"PED-{tag}")
    return Fact(ago, pick(rng, SHOPS), "purchase_completed", order)


def _order(product: Product, method: str, installments: int, transaction: str) -> dict[str, Any]:
    order = {"productId": product.id, "productName": product.name, "category": product.category}
    order |= {"amount": _money(product.price), "currency": "BRL", "paymentMethod": method}
    return order | {"installments": installments, "transactionId": transaction}


def _cart(products: Sequence[Product]) -> dict[str, Any]:
    prices = {product.id: product.price for product in products}
    cart: dict[str, Any] = {"productIds": list(prices)}
    cart["cartValue"] = sum(prices.values()) / 100
    return cart | {"currency": "BRL", "stageAbandoned": "payment"}


def _asked(product: Product, question: str, chat: str) -> dict[str, Any]:
    asked = {"productId": product.id, "question": question, "channel": "whatsapp"}
    return asked | {"conversationId": chat}


def _objected(kind: int, product: Product, chat: str) -> dict[str, Any]:
    name, context = OBJECTIONS[kind]
    return {"type": name, "context": context, "productId": product.id, "conversationId": chat}


def _days(rng: Random, low: int, high: int) -> int:
    return (low + int(rng.random() * (high - low))) * DAY + int(rng.random() * 600)


def _money(centavos: int) -> str:
    return f"{centavos // 100}.{centavos % 100:02d}"

"""What a lead buys, leaves, returns, subscribes to and asks a discount for."""

from typing import Annotated

from pydantic import Field

from domain.catalog._declare import Payload, event
from domain.catalog._fields import (
    LOGGABLE,
    MAX_ITEMS,
    NOT_BOOLEAN,
    Category,
    Channel,
    Context,
    ConversationId,
    Currency,
    Id,
    Money,
    Name,
    Percent,
    ProductId,
    ProductName,
    Question,
    Text,
    Word,
    describe,
    text,
)

PlanId = Annotated[Id, describe("The plan, as its seller names it.", "club_monthly")]


@event("purchase_completed", category="Purchase")
class PurchaseCompleted(Payload):
    """A product was paid for."""

    product_id: ProductId
    product_name: ProductName | None = None
    category: Category | None = None
    currency: Currency
    amount: Annotated[Money, describe("What was paid, all units and parts together.", "150.00")]
    payment_method: (
        Annotated[Word, describe("How it was paid, in the seller's words.", "credit_card")] | None
    ) = None
    installments: (
        Annotated[
            int, Field(ge=1, le=999), NOT_BOOLEAN, describe("In how many parts.", 3), LOGGABLE
        ]
        | None
    ) = None
    transaction_id: (
        Annotated[Id, describe("The payment, as its provider names it.", "HT-78901")] | None
    ) = None
    quantity: (
        Annotated[
            int,
            Field(ge=1, le=1_000_000),
            NOT_BOOLEAN,
            describe("Units; 1 if absent.", 1),
            LOGGABLE,
        ]
        | None
    ) = None
    conversation_id: ConversationId | None = None


@event("purchase_abandoned", category="Purchase")
class PurchaseAbandoned(Payload):
    """A cart was filled and not paid for."""

    product_ids: Annotated[
        list[Id],
        Field(min_length=1, max_length=MAX_ITEMS),
        describe("The products in the cart.", ["whey_1kg", "creatina_300g"]),
    ]
    currency: Currency | None = None
    cart_value: Annotated[Money, describe("What the cart would have cost.", "239.90")] | None = None
    stage_abandoned: (
        Annotated[Word, describe("How far the purchase had come.", "payment")] | None
    ) = None
    recovery_url: (
        Annotated[
            str,
            text(1, 2_048),
            describe("Where the cart can be taken up again.", "https://loja.example/c/42"),
        ]
        | None
    ) = None


@event("purchase_refunded", category="Purchase")
class PurchaseRefunded(Payload):
    """A purchase was paid back, in whole or in part. The purchase itself stays a fact."""

    transaction_id: Annotated[Id, describe("The payment that was reversed.", "HT-78901")] | None = (
        None
    )
    product_id: ProductId | None = None
    currency: Currency
    amount: Annotated[Money, describe("What was paid back.", "150.00")]
    reason: Annotated[Text, describe("Why, in a few words.", "Produto com defeito")] | None = None


@event("product_viewed", category="Product")
class ProductViewed(Payload):
    """A product was looked at."""

    product_id: ProductId
    product_name: ProductName | None = None
    category: Category | None = None
    channel: Channel | None = None


@event("product_asked", category="Product")
class ProductAsked(Payload):
    """A question about a product, or about buying in general."""

    product_id: ProductId | None = None
    question: Annotated[
        Question, describe("What was asked, in the lead's words.", "Tem sabor baunilha?")
    ]
    channel: Channel | None = None
    conversation_id: ConversationId | None = None


@event("subscription_created", category="Subscription")
class SubscriptionCreated(Payload):
    """A plan was subscribed to."""

    plan_id: PlanId
    plan_name: Annotated[Name, describe("What people call the plan.", "Clube Mensal")] | None = None
    currency: Currency | None = None
    amount: Annotated[Money, describe("What one interval costs.", "89.90")] | None = None
    interval: Annotated[Word, describe("How often it is paid.", "month")] | None = None


@event("subscription_cancelled", category="Subscription")
class SubscriptionCancelled(Payload):
    """A subscription was ended."""

    plan_id: PlanId
    reason: Annotated[Text, describe("Why, in a few words.", "Mudou de cidade")] | None = None


@event("discount_requested", category="Discount")
class DiscountRequested(Payload):
    """The lead asked for a lower price."""

    context: Context | None = None
    product_id: ProductId | None = None
    conversation_id: ConversationId | None = None


@event("discount_accepted", category="Discount")
class DiscountAccepted(Payload):
    """The lead took an offered discount."""

    discount_percent: Annotated[Percent, describe("How much was taken off.", 10), LOGGABLE]
    product_id: ProductId | None = None

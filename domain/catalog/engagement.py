"""How a lead answers what reaches it, and what is observed about it."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from domain.catalog._declare import Payload, Strict, event
from domain.catalog._fields import (
    LOGGABLE,
    MAX_ITEMS,
    NOT_BOOLEAN,
    Answer,
    Category,
    Channel,
    Confidence,
    Context,
    ConversationId,
    Id,
    Instant,
    Name,
    Probability,
    ProductId,
    Question,
    Scalar,
    Word,
    describe,
    text,
)

CampaignId = Annotated[Id, describe("The campaign, as its sender names it.", "camp_whey_recompra")]


@event("interest_detected", category="Interest")
class InterestDetected(Payload):
    """The lead seems to want a category, a product, or both; at least one is named."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["category"]}, {"required": ["productId"]}]}
    )

    category: Category | None = None
    product_id: ProductId | None = None
    confidence: Confidence
    conversation_id: ConversationId | None = None

    @model_validator(mode="after")
    def _names_something(self) -> "InterestDetected":
        if self.category is None and self.product_id is None:
            message = "needs category, productId or both"
            raise ValueError(message)
        return self


@event("sentiment_detected", category="Sentiment")
class SentimentDetected(Payload):
    """How the lead seemed to feel."""

    score: Annotated[Probability, describe("From 0, negative, to 1, positive.", 0.8)]
    label: (
        Annotated[
            Literal["negative", "neutral", "positive"], describe("The same in a word.", "positive")
        ]
        | None
    ) = None
    context: Context | None = None
    conversation_id: ConversationId | None = None


@event("campaign_delivered", category="Campaign")
class CampaignDelivered(Payload):
    """A campaign reached the lead."""

    campaign_id: CampaignId
    campaign_name: (
        Annotated[Name, describe("What people call the campaign.", "Recompra Whey")] | None
    ) = None
    product_id: ProductId | None = None
    channel: Channel


@event("campaign_engaged", category="Campaign")
class CampaignEngaged(Payload):
    """The lead reacted to a campaign."""

    campaign_id: CampaignId
    engagement_type: Annotated[
        Literal["opened", "clicked", "replied", "converted"],
        describe("How it reacted.", "clicked"),
        LOGGABLE,
    ]


@event("campaign_ignored", category="Campaign")
class CampaignIgnored(Payload):
    """The lead did not react to a campaign in time."""

    campaign_id: CampaignId
    days_since_delivery: Annotated[
        int,
        Field(ge=0, le=36_500),
        NOT_BOOLEAN,
        describe("Whole days since it was delivered.", 7),
        LOGGABLE,
    ]


class FormResponse(Strict):
    """One question of a form, and what the lead answered."""

    question: Question
    answer: Answer
    ref: Id | None = None


@event("form_submitted", category="Form")
class FormSubmitted(Payload):
    """The lead filled in a form. `ref` names a question however it is worded."""

    form_id: Annotated[Id, describe("The form, as its owner names it.", "sat_survey_2026")]
    form_name: (
        Annotated[Name, describe("What people call the form.", "Pesquisa de Satisfação")] | None
    ) = None
    responses: Annotated[
        list[FormResponse],
        Field(max_length=MAX_ITEMS),
        describe(
            "The answers, in the order of the form.",
            [{"question": "De 1 a 10, que nota você dá?", "answer": 9, "ref": "score"}],
        ),
    ]


@event("agent_insight", category="Agent")
class AgentInsight(Payload):
    """What an AI agent concluded. It is data, never an instruction."""

    insight_type: Annotated[Word, describe("What it is about.", "communication_style")]
    content: Annotated[
        str,
        text(1, 10_000),
        describe("The insight, in a sentence.", "Prefere mensagens curtas"),
    ]
    confidence: Confidence
    memory_type: (
        Annotated[
            Literal["fact", "preference", "behavioral"],
            describe("The kind of memory it makes.", "preference"),
            LOGGABLE,
        ]
        | None
    ) = None
    key: Annotated[Id, describe("The key of that memory.", "message_length")] | None = None
    value: Annotated[Scalar, describe("The value of that memory.", "short")] | None = None
    expires_at: (
        Annotated[Instant, describe("When it stops holding, UTC.", "2026-09-20T12:00:00.000000Z")]
        | None
    ) = None


@event("objection_raised", category="Objection")
class ObjectionRaised(Payload):
    """The lead said why it does not buy."""

    type: Annotated[Word, describe("What stands in the way.", "price")]
    context: Context | None = None
    product_id: ProductId | None = None
    conversation_id: ConversationId | None = None

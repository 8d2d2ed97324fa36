"""The settings of conversations: channels, agents, people, and the waits between them."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from handlers.section import Section

DEFAULT_ORGANIZATION = "default"


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _whole(value: Any) -> Any:
    """Read digits: variables are text, and a choice of numbers takes none."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


def _numbers(text: str) -> str:
    numbers_of(text)
    return text


def numbers_of(text: str) -> dict[str, str]:
    """Return the organization of each phone_number_id of `id=organization,id=organization`.

    Raises:
        ValueError: an id is named twice, or is none.
    """
    found: dict[str, str] = {}
    for part in words_of(text):
        number, _, organization = part.partition("=")
        if not number.isascii() or not number.isalnum() or number in found:
            message = "must name each phone_number_id once, as id or id=organization"
            raise ValueError(message)
        found[number] = organization.strip() or DEFAULT_ORGANIZATION
    return found


def words_of(text: str) -> tuple[str, ...]:
    """Return the parts of a list that commas separate."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _minutes(text: str) -> str:
    if not all(part.isascii() and part.isdigit() for part in words_of(text)):
        message = "must be whole minutes, separated by commas"
        raise ValueError(message)
    return text


_Price = Annotated[Decimal | None, Field(ge=0, le=100_000)]


class ConversationSettings(Section):
    """See `read_section`. Each field is the variable `LEADS_` and its name in capitals."""

    env: Annotated[Literal["prod", "dev"], BeforeValidator(_lower)] = Field(
        default="prod", description="`dev` lets WhatsApp deliver unsigned; for one's desk."
    )
    language: Literal["pt-BR", "en"] = Field(
        default="pt-BR", description="Of the fixed texts that leads and operators read."
    )
    whatsapp_numbers: Annotated[str, AfterValidator(_numbers)] = Field(
        default="", description="phone_number_id=organization, separated by commas."
    )
    whatsapp_app_secret: SecretStr | None = Field(
        default=None, description="What Meta signs with; the current one, then older ones."
    )
    whatsapp_verify_token: SecretStr | None = Field(
        default=None, description="What the handshake of the webhook must name."
    )
    whatsapp_token: SecretStr | None = Field(
        default=None, description="The access token that sends."
    )
    whatsapp_url: str = Field(
        default="https://graph.facebook.com", description="Where the Cloud API is."
    )
    whatsapp_version: str = Field(
        default="v25.0", pattern=r"^v[0-9]{1,3}\.[0-9]{1,2}$", description="Its version."
    )
    webhook_ack_status: Annotated[Literal[200, 202], BeforeValidator(_whole)] = Field(
        default=202, description="What a webhook is answered whose messages are queued."
    )
    model: Annotated[Literal["none", "scripted", "openai"], BeforeValidator(_lower)] = Field(
        default="none", description="Who answers; with `none` every text goes to a human."
    )
    openai_url: str | None = Field(
        default=None, description="The base URL of a compatible endpoint."
    )
    openai_key: SecretStr | None = Field(default=None, description="Its API key.")
    openai_model: str = Field(
        default="gpt-5-mini", min_length=1, max_length=100, description="Which model answers."
    )
    openai_timeout_seconds: float = Field(
        default=25.0, gt=0, le=120, description="How long one call may take."
    )
    openai_input_price: _Price = Field(
        default=None, description="USD per million input tokens; without it no cost is recorded."
    )
    openai_output_price: _Price = Field(default=None, description="USD per million output tokens.")
    context_budget: int = Field(
        default=600, ge=0, le=20_000, description="Tokens of memories an agent is given."
    )
    operators: str = Field(
        default="", description="Phones of operators who may send commands, by commas."
    )
    debug_close: bool = Field(
        default=False, description="Whether /encerrar-debug closes a conversation."
    )
    debug_senders: str = Field(
        default="", description="Phones that may send /encerrar-debug, by commas."
    )
    caption_as_text: bool = Field(
        default=False, description="Whether a picture's caption is answered as text."
    )
    notice_cooldown_seconds: int = Field(
        default=60, ge=0, le=86_400, description="Between two requests to write text."
    )
    inbox_ack_cooldown_seconds: int = Field(
        default=600, ge=0, le=86_400, description="Between two answers that a human will come."
    )
    sending_patience_seconds: int = Field(
        default=60, ge=1, le=3600, description="Until a send nobody reported on is in doubt."
    )
    reconcile_grace_seconds: int = Field(
        default=90, ge=1, le=3600, description="How long a status may settle an unheard send."
    )
    give_up_after_seconds: int = Field(
        default=900,
        ge=0,
        le=86_400,
        description="How long a model may fail before a human answers.",
    )
    abandon_after_hours: int = Field(
        default=24, ge=1, le=8760, description="Silence after which a conversation is closed."
    )
    phone_takeover_ttl_hours: int = Field(
        default=12, ge=1, le=8760, description="Until agents answer again after the phone did."
    )
    handoff_renotify_minutes: Annotated[str, AfterValidator(_minutes)] = Field(
        default="0,5,15,60", description="When operators are told that a lead waits."
    )
    customer_renotify_minutes: int = Field(
        default=30, ge=1, le=1440, description="When a waiting lead is told so once more."
    )
    handoff_operator_availability_ttl_hours: int = Field(
        default=24, ge=1, le=24, description="How long /disponivel counts, on the same local day."
    )
    human_send_lock_seconds: int = Field(
        default=30, ge=5, le=300, description="How long an operator's send keeps others out."
    )
    conversation_threads: int = Field(
        default=4, ge=1, le=64, description="Leads a served process works on at the same time."
    )
    queue_url: str | None = Field(
        default=None, description="The SQS FIFO queue of wake-ups; without it, this process."
    )
    metrics_namespace: str = Field(
        default="GoGenetic/Leads",
        pattern=r"^[A-Za-z0-9_./#-]{1,255}$",
        description="Under which CloudWatch has the numbers of the schedule's function.",
    )

    @property
    def accounts(self) -> Mapping[str, str]:
        """The organization of each business number."""
        return numbers_of(self.whatsapp_numbers)

    @property
    def app_secrets(self) -> tuple[bytes, ...]:
        """What deliveries may be signed with."""
        secret = self.whatsapp_app_secret
        return tuple(
            part.encode() for part in words_of(secret.get_secret_value() if secret else "")
        )

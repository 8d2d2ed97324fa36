"""What a deployment decides about conversations, as far as pure code needs to know."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal

Language = Literal["pt-BR", "en"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Rules of one deployment.

    `operators` and `debuggers` are normal forms of addresses, variants included. Waits are how
    long one fixed text keeps silent after it was said.
    """

    language: Language = "pt-BR"
    operators: frozenset[str] = frozenset()
    debug: bool = False
    debuggers: frozenset[str] = frozenset()
    notice_cooldown: timedelta = timedelta(seconds=60)
    acknowledgement_cooldown: timedelta = timedelta(minutes=10)
    caption_as_text: bool = False
    reconcile_grace: timedelta = timedelta(seconds=90)
    sending_patience: timedelta = timedelta(seconds=60)
    """After which a send that nobody reported on is in doubt (research/whatsapp.md §5.2)."""

    send_attempts: int = 5
    give_up_after: timedelta = timedelta(minutes=15)
    """How long agents may fail before a message goes to a human."""

    abandon_after: timedelta = timedelta(hours=24)
    phone_takeover: timedelta = timedelta(hours=12)
    remind_operators_after: tuple[timedelta, ...] = field(
        default=(
            timedelta(0),
            timedelta(minutes=5),
            timedelta(minutes=15),
            timedelta(minutes=60),
        )
    )
    remind_customer_after: timedelta = timedelta(minutes=30)


DEBUG_COMMAND: Final = "/encerrar-debug"
OPERATOR_COMMANDS: Final = ("/disponivel", "/indisponivel", "/fila", "/ajuda")

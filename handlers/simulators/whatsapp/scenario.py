"""A day at the counter: fictional customers who write, wait for an answer, and write again."""

import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Final

from handlers.simulators.whatsapp.customer import Customer
from handlers.simulators.whatsapp.people import JsonObject
from handlers.simulators.whatsapp.phones import Received
from handlers.simulators.whatsapp.simulator import Simulator

_AREAS: Final = (11, 21, 31, 41, 51, 61, 71, 81, 85, 91)
_LINES: Final = (
    "Oi, tudo bem?",
    "Quanto custa o whey de 1 kg?",
    "Vocês entregam em Campinas?",
    "Dá para parcelar no cartão?",
    "E a creatina, tem desconto no pix?",
    "Pode reservar um para mim?",
    "Qual o prazo de entrega?",
    "Obrigada! Até mais.",
)
_PER_AREA: Final = 10_000
"""Of the phones 95555-0000 to 95555-9999."""
_AT_ONCE: Final = 64
_STEP_S: Final = 0.25
_LAST_STATUSES_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """How many customers write how many messages each.

    `patience_s`: how long each waits for an answer, in real seconds, before it writes again.
    """

    customers: int
    messages: int
    patience_s: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What came of it. A message is answered if a text came before the next one was written.

    `duplicates`: texts that reached a phone again under the same outbound id. Times are real
    milliseconds from a message to the first text after it; None if there was none.
    """

    customers: int
    messages: int
    answered: int
    unanswered: int
    texts: int
    duplicates: int
    webhooks: int
    retries: int
    given_up: int
    median_ms: int | None
    p95_ms: int | None

    def as_json(self) -> JsonObject:
        """Return it as the command line shows it."""
        return asdict(self)


def play(simulator: Simulator, scenario: Scenario, stop: threading.Event) -> Summary:
    """Let the customers write, side by side, and tell what came of it.

    Args:
        simulator: where they live; it must be running.
        scenario: who they are.
        stop: ends it early; what was not written then does not count.
    """
    addresses = [_phone(number) for number in range(scenario.customers)]
    pool = ThreadPoolExecutor(max_workers=min(_AT_ONCE, scenario.customers))
    try:
        stories = [pool.submit(_converse, simulator, at, scenario, stop) for at in addresses]
        waits = [wait for story in stories for wait in story.result()]
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    simulator.settle(min(scenario.patience_s, _LAST_STATUSES_S))
    texts = [each for address in addresses for each in simulator.received(address)]
    return _summary(simulator, scenario, waits, texts)


def _converse(
    simulator: Simulator, address: str, scenario: Scenario, stop: threading.Event
) -> list[float | None]:
    """Return for each message how many seconds its answer took, None if there was none."""
    customer = simulator.customer(address)
    waits: list[float | None] = []
    for number in range(scenario.messages):
        if stop.is_set():
            break
        before = len(customer.received)
        began = time.monotonic()
        customer.say(_LINES[number % len(_LINES)])
        answered = _is_answered(customer, before, began + scenario.patience_s, stop)
        waits.append(time.monotonic() - began if answered else None)
    return waits


def _is_answered(customer: Customer, before: int, until: float, stop: threading.Event) -> bool:
    """Wait for a text more than before; in steps, so that who stops it need not wait as well."""
    while not stop.is_set() and (left := until - time.monotonic()) > 0:
        if len(customer.wait_for(before + 1, min(left, _STEP_S))) > before:
            return True
    return False


def _summary(
    simulator: Simulator,
    scenario: Scenario,
    waits: Sequence[float | None],
    texts: Sequence[Received],
) -> Summary:
    answered = sorted(wait for wait in waits if wait is not None)
    copies = Counter(each.outbound_id for each in texts if each.outbound_id is not None)
    posted = simulator.deliveries
    return Summary(
        customers=scenario.customers,
        messages=len(waits),
        answered=len(answered),
        unanswered=len(waits) - len(answered),
        texts=len(texts),
        duplicates=sum(count - 1 for count in copies.values()),
        webhooks=len(posted),
        retries=sum(each.attempt > 1 for each in posted),
        given_up=simulator.given_up,
        median_ms=_at(answered, 0.5),
        p95_ms=_at(answered, 0.95),
    )


def _at(ordered: Sequence[float], share: float) -> int | None:
    if not ordered:
        return None
    return round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))])


def _phone(number: int) -> str:
    area, line = divmod(number, _PER_AREA)
    return f"55{_AREAS[area % len(_AREAS)]}95555{line:04d}"

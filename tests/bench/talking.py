"""What a turn costs beside the model: from the message that waits to the answer that was sent.

The scripted agent answers in microseconds, so nearly all of it is ours. Two leads: one that has just
begun, and one with a thousand messages behind it.
"""

import logging
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog

from adapters.console import ConsoleChannel
from domain.addresses import address
from domain.conversation.inbound import InboundMessage
from handlers.bootstrap import build, build_talks
from handlers.settings import read_conversation_settings, read_settings
from handlers.talks import Talks
from tests.bench.measuring import Result, at_most

TURNS = 200
LONG = 1_000


def run() -> Iterator[Result]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with TemporaryDirectory() as name:
        folder = Path(name)
        app = build(read_settings({}, file=folder / "none.toml", db=folder / "leads.db"))
        settings = read_conversation_settings({}, file=folder / "none.toml", model="scripted")
        talks = build_talks(app, settings, channels={"console": ConsoleChannel()})
        short = [_turn(talks, number, "5511955550101", app.now()) for number in range(TURNS)]
        for number in range(LONG // 2):
            _turn(talks, LONG + number, "5511955550102", app.now())
        long = [_turn(talks, 2 * LONG + n, "5511955550102", app.now()) for n in range(TURNS // 4)]
        app.close()
    for what, times in (("of a new lead", short), (f"behind {LONG} messages", long)):
        yield at_most(
            f"turn of the scripted agent {what}",
            "ms",
            statistics.median(times) * 1000,
            15,
            p99_ms=round(sorted(times)[int(len(times) * 0.99)] * 1000, 2),
        )


def _turn(talks: Talks, number: int, phone: str, now: str) -> float:
    """Register one message and time what is done until its answer is sent."""
    message = InboundMessage(
        channel="console",
        source="console",
        external_event_id=f"bench-{number}",
        account="bench",
        address=address("whatsapp", phone),
        occurred_at=now,
        raw=b"{}",
        reply_to=phone,
        media_type="text",
        text="Quanto custa o sequenciamento de uma amostra?",
    )
    [received] = talks.receiving.receive("default", [message])
    assert received.lead is not None
    began = time.perf_counter()
    assert talks.worker.work("default", received.lead) > 0
    return time.perf_counter() - began

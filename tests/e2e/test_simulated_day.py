"""A day of conversations over real sockets, with everything that goes wrong, and `kill -9` between.

LEADS_TEST_CUSTOMERS says how many customers write. A whole day has a thousand, takes two minutes, and
ended as it must; every run of the tests has a short one.
"""

import os
import signal
import socket
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

import pytest

from adapters.clock import utc_now
from domain.event import LeadEvent
from handlers.bootstrap import App
from handlers.simulators.whatsapp import PRESETS, Scenario, Setup, Simulator, Summary, play
from handlers.simulators.whatsapp.people import Number
from projections.conversations import CONVERSATIONS
from tests.support.cli import CommandLine
from tests.support.processes import interrupted, run, start

CUSTOMERS = int(os.environ.get("LEADS_TEST_CUSTOMERS", "40"))
MESSAGES = 3
LONGEST_WAIT_S = 150
"""A pair's limit is waited out for 64 s at last (research/whatsapp.md §5.1)."""

RESENT = {"reply_uncertain", "failed"}
"""Why a text may reach a phone twice: nobody knew whether it was sent, or the channel took it and
then said that it failed (the simulated phone shows it all the same)."""
KILLS = max(2, CUSTOMERS // 100)
SECRET, TOKEN = "a-secret-of-the-tests", "a-token-of-the-tests"


class Service:
    """`leads serve` on one file and one port, that dies and comes back."""

    def __init__(self, folder: Path, simulator: Simulator) -> None:
        self._folder = folder
        self._port = free_port()
        self._environment = {
            "LEADS_DB": str(folder / "leads.db"),
            "LEADS_AUTH": "open",
            "LEADS_PORT": str(self._port),
            "LEADS_LOG_LEVEL": "ERROR",
            "LEADS_MODEL": "scripted",
            "LEADS_WHATSAPP_URL": simulator.url,
            "LEADS_WHATSAPP_NUMBERS": Number().phone_number_id,
            "LEADS_WHATSAPP_APP_SECRET": SECRET,
            "LEADS_WHATSAPP_TOKEN": TOKEN,
            "LEADS_WHATSAPP_VERIFY_TOKEN": "a-word",
            "LEADS_SENDING_PATIENCE_SECONDS": "3",
            "LEADS_RECONCILE_GRACE_SECONDS": "2",
        }
        self._process = self._started()

    @property
    def webhook(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1/channels/whatsapp"

    def die(self) -> None:
        interrupted(self._process, signal.SIGKILL)
        self._process = self._started()

    def stop(self) -> None:
        interrupted(self._process, signal.SIGTERM)

    def _started(self):
        process = start("serve", cwd=self._folder, **self._environment)
        assert process.stderr is not None
        while "Serving" not in (line := process.stderr.readline()):
            assert line or process.poll() is None, process.communicate()
        return process


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def events_of(app: App, lead: str) -> list[LeadEvent]:
    return app.log.reader.events(lead, lte=app.log.reader.head(lead).version)


def waits(app: App) -> list[str]:
    """Return the leads for whom something is still to be done."""
    found = []
    for lead in app.maintenance.leads("default"):
        states = app.log.reader.view(lead, CONVERSATIONS, "LATEST_INBOUND").states
        if any(thread.pending or list(thread.moving()) for thread in states.values()):
            found.append(lead)
    return found


def play_a_day(folder: Path) -> tuple[Summary, Counter[str]]:
    """Let everybody write while the service dies again and again; wait until nothing is due.

    Returns what came of it, and how often each text reached a phone.
    """
    setup = Setup(app_secret=SECRET, token=TOKEN, faults=PRESETS["many"], speed=50, posts_at_once=4)
    done = threading.Event()
    with Simulator(setup, random=Random(2026), now=utc_now) as simulator:
        service = Service(folder, simulator)
        simulator.aim(service.webhook)
        killer = threading.Thread(target=kill_again_and_again, args=(service, done))
        killer.start()
        scenario = Scenario(customers=CUSTOMERS, messages=MESSAGES, patience_s=6)
        summary = play(simulator, scenario, threading.Event())
        done.set()
        killer.join()
        settled = until_nothing_waits(folder, simulator)
        service.stop()
        copies = Counter(
            text.outbound_id or ""
            for address in simulator.phones.addresses
            for text in simulator.received(address)
        )
    assert settled == []
    return summary, copies


def kill_again_and_again(service: Service, done: threading.Event) -> None:
    for _ in range(KILLS):
        if done.wait(2.5):
            return
        service.die()


def until_nothing_waits(folder: Path, simulator: Simulator) -> list[str]:
    """Return whom something is still to be done for, after the longest wait between two tries."""
    app = CommandLine(folder).app()
    deadline = time.monotonic() + LONGEST_WAIT_S
    try:
        while (still := waits(app)) or not simulator.settle(0.5):
            if time.monotonic() > deadline:
                return still
            time.sleep(0.2)
        return []
    finally:
        app.close()


@pytest.mark.timeout(90 + LONGEST_WAIT_S + CUSTOMERS)
def test_a_day_with_crashes_ends_with_every_message_answered_once(tmp_path):
    summary, copies = play_a_day(tmp_path)
    app = CommandLine(tmp_path).app()
    answered, steps = 0, defaultdict[str, list[str]](list)
    for lead in app.maintenance.leads("default"):
        events = events_of(app, lead)
        answered += check(events)
        for event in events:
            if "outboundId" in event.payload:
                steps[event.payload["outboundId"]].append(step_of(event))
    app.close()

    assert summary.messages == answered == CUSTOMERS * MESSAGES
    twice = {name: steps[name] for name, count in copies.items() if count > 1}
    assert {name: each for name, each in twice.items() if not RESENT & set(each)} == {}
    # One copy more for each time that the channel, having taken it, said that it failed.
    most = {name: 2 + each.count("failed") for name, each in twice.items()}
    assert {name: copies[name] for name in twice if copies[name] > most[name]} == {}
    verified = run("verify", "--all", cwd=tmp_path, LEADS_DB=str(tmp_path / "leads.db"))
    assert verified.returncode == 0, verified.stderr


def step_of(event: LeadEvent) -> str:
    """Return what happened to a text, in words; a failure that the channel told later is its own."""
    if event.event_type == "message_status_changed":
        return str(event.payload["status"])
    return event.event_type


def check(events: list[LeadEvent]) -> int:
    """Return how many messages of a lead were answered once, or are a human's to answer."""
    answers: Counter[str] = Counter()
    handed = any(event.event_type == "handoff_requested" for event in events)
    messages = []
    for event in events:
        if event.event_type == "message_received":
            messages.append(event)
        if event.event_type == "agent_turn_completed":
            answers.update(event.payload["coveredMessageIds"])
        if event.event_type == "reply_queued" and "causeMessageId" in event.payload:
            answers.update([event.payload["causeMessageId"]])
    assert all(count == 1 for count in answers.values())
    return sum(
        message.external_event_id in answers or handed or message.payload["route"] == "inbox"
        for message in messages
    )

"""`leads serve` as a process of its own, with a WhatsApp on loopback."""

import re
import signal

from adapters.clock import utc_now
from tests.support.processes import interrupted, run, start, wait_until
from tests.support.webhook import APP_SECRET, VERIFY_TOKEN
from tests.support.whatsapp import ANA, PATIENCE_S, TOKEN, simulating


def served(folder, simulator, **more):
    """Start a service for the simulator's number; return it, what it said and where it is."""
    process = start(
        *("serve", "--db", "leads.db", "--port", "0", "--auth", "open"),
        cwd=folder,
        LEADS_WHATSAPP_NUMBERS=simulator.setup.numbers[0].phone_number_id,
        LEADS_WHATSAPP_APP_SECRET=APP_SECRET,
        LEADS_WHATSAPP_VERIFY_TOKEN=VERIFY_TOKEN,
        LEADS_WHATSAPP_TOKEN=TOKEN,
        LEADS_WHATSAPP_URL=simulator.url,
        LEADS_LOG_LEVEL="ERROR",
        **more,
    )
    assert process.stderr is not None
    said = "".join(process.stderr.readline() for _ in range(3))
    url = re.search(r"http://127\.0\.0\.1:\d+", said)
    assert url is not None, said
    return process, said, f"{url[0]}/v1/channels/whatsapp"


def test_a_message_of_whatsapp_is_answered_and_the_process_ends_what_it_is_at(tmp_path):
    with simulating(clock=utc_now) as simulator:
        process, said, url = served(tmp_path, simulator, LEADS_MODEL="scripted")
        try:
            simulator.aim(url)
            asked, answered = simulator.ask_challenge()
            simulator.say(ANA, "Oi, quanto custa?")
            wait_until(lambda: bool(simulator.received(ANA)), process)
            assert simulator.settle(PATIENCE_S)
            assert len(simulator.received(ANA)) == 1
        finally:
            code, out, words = interrupted(process, signal.SIGTERM)

    assert "Conversations: console, whatsapp (1 number); model: the scripted agent" in said
    assert (answered.status, answered.body) == (200, asked.encode())
    assert (code, out) == (0, "")
    assert words.endswith("Stopped.\n")
    assert "equal" in run("verify", "--all", "--db", "leads.db", cwd=tmp_path).stdout


def test_without_a_model_that_is_said(tmp_path):
    with simulating() as simulator:
        process, said, _ = served(tmp_path, simulator)
        interrupted(process, signal.SIGTERM)

    assert "model: none, so every text goes to a human" in said

"""`leads simulate whatsapp`, with a stand-in for the service that answers each message once."""

import re
import signal
import socket
import time

import pytest

from tests.support.processes import PATIENCE_S, interrupted, start
from tests.support.webhook import APP_SECRET, VERIFY_TOKEN, endpoint
from tests.support.whatsapp import ANA, BRUNO, TOKEN, call

NUMBER = "109876543210987"
LINE = re.compile(r"LEADS_WHATSAPP_([A-Z_]+)=(\S+)")
KEYS = {
    "LEADS_WHATSAPP_APP_SECRET": APP_SECRET,
    "LEADS_WHATSAPP_VERIFY_TOKEN": VERIFY_TOKEN,
    "LEADS_WHATSAPP_TOKEN": TOKEN,
}


@pytest.fixture
def service():
    with endpoint() as own:
        yield own


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def answering(url, *, times=1, token=TOKEN, known=None):
    """Answer each message once, however often it comes; `times` with the same outbound id.

    What is refused is sent again; where no answer came the text may be there, so it is not.
    """
    known = set() if known is None else known

    def answer(message):
        if message["id"] in known:
            return
        known.add(message["id"])
        for _ in range(times):
            body = {
                "messaging_product": "whatsapp",
                "to": message["from"],
                "text": {"body": f"Recebi:\n{message['text']['body']}"},
                "biz_opaque_callback_data": f"out_{message['id']}",
            }
            to = f"{url}/v23.0/{NUMBER}/messages"
            while call("POST", to, body, token=token).status not in {200, None}:
                pass

    return answer


def simulate(leads, service, port, *options, stdin=None):
    return leads(
        *("simulate", "whatsapp", "--webhook", service.url, "--port", port, *options),
        env=KEYS,
        stdin=stdin,
    )


def test_customers_by_script_are_answered_and_counted(leads, service, port):
    service.on_message = answering(f"http://127.0.0.1:{port}")
    options = ("--customers", 3, "--messages", 2, "--json")
    answer = simulate(leads, service, port, *options)

    assert answer.code == 0, answer.err
    told = answer.document
    assert (told["customers"], told["messages"], told["answered"], told["texts"]) == (3, 6, 6, 6)
    assert (told["unanswered"], told["duplicates"], told["retries"]) == (0, 0, 0)
    assert 0 <= told["median_ms"] <= told["p95_ms"]
    assert len({item["from"] for item in service.items()}) == 3
    assert all(webhook.genuine for webhook in service.webhooks)


def test_an_answer_that_comes_twice_is_counted_as_a_duplicate(leads, service, port):
    service.on_message = answering(f"http://127.0.0.1:{port}", times=2)
    answer = simulate(leads, service, port, "--customers", 1, "--messages", 1, "--json")

    assert (answer.document["texts"], answer.document["duplicates"]) == (2, 1)


def test_messages_without_an_answer_have_a_code_of_their_own(leads, service, port):
    answer = simulate(leads, service, port, "--customers", 1, "--messages", 2, "--patience", 0.2)

    assert answer.code == 6
    assert "unanswered\t2" in answer.out
    assert "answered\t0" in answer.out


def test_what_goes_wrong_keeps_nobody_from_an_answer(leads, service, port):
    service.answers.extend([503, 200, 500])
    service.on_message = answering(f"http://127.0.0.1:{port}")
    options = ("--faults", "some", "--seed", 3, "--customers", 8, "--messages", 2, "--json")
    answer = simulate(leads, service, port, *options)

    assert answer.code == 0
    assert answer.document["answered"] == 16
    assert answer.document["retries"] >= 2
    assert "seed 3" in answer.err


def test_what_is_typed_is_sent_and_the_answer_is_shown(leads, service, port):
    answer_of_service = answering(f"http://127.0.0.1:{port}")

    def answer_two(message):
        answer_of_service({**message, "id": "to somebody else", "from": BRUNO})
        answer_of_service(message)

    service.on_message = answer_two
    options = ("--interactive", "--from", ANA)
    answer = simulate(leads, service, port, *options, stdin=b"Oi\n\n")

    assert answer.code == 0
    assert answer.out == "< Recebi:\n< Oi\n"
    assert [item["text"]["body"] for item in service.items()] == ["Oi"]


def test_the_texts_are_for_programs_too(leads, service, port):
    service.on_message = answering(f"http://127.0.0.1:{port}")
    answer = simulate(leads, service, port, "--interactive", "--jsonl", stdin=b"Oi\n")

    (line,) = answer.lines
    assert line["text"] == "Recebi:\nOi"
    assert line["outboundId"] == f"out_{service.items()[0]['id']}"


def test_who_types_and_gets_no_answer_is_told_by_the_code(leads, service, port):
    options = ("--interactive", "--patience", 0.2)

    assert simulate(leads, service, port, *options, stdin=b"Oi\n").code == 6
    assert simulate(leads, service, port, *options, stdin=b"").code == 0


def test_a_service_that_is_not_there_is_waited_for_and_then_unavailable(leads, service, port):
    service.url = "http://127.0.0.1:1/nobody"
    answer = simulate(leads, service, port, "--customers", 1, "--patience", 0.3)

    assert answer.code == 5
    assert answer.err.count("Waiting for the service") == 1
    assert "--patience" in answer.err


def test_a_service_with_another_token_is_refused(leads, service, port):
    options = ("--customers", 1, "--verify-token", "outro")
    answer = simulate(leads, service, port, *options)

    assert answer.code == 2
    assert "HTTP 403" in answer.err
    assert service.webhooks == []


@pytest.mark.parametrize(
    "options",
    [
        ("--webhook", "ftp://exemplo.com"),
        ("--webhook", "http://[exemplo"),
        ("--number", "um"),
        ("--interactive", "--customers", 1),
        ("--interactive", "--json"),
    ],
)
def test_what_cannot_be_played_is_refused(leads, options):
    answer = leads("simulate", "whatsapp", "--port", 0, *options)

    assert answer.code == 2
    assert options[-1 if "--json" in options else 0] in answer.err


def test_the_number_is_of_the_organization_and_the_secret_is_the_current_one(leads, service, port):
    options = ("--interactive", "--org", "acme", "--secret", f"{APP_SECRET},segredo-antigo")
    answer = simulate(leads, service, port, *options, "--patience", 0.2, stdin=b"Oi\n")

    assert f"LEADS_WHATSAPP_NUMBERS={NUMBER}=acme\n" in answer.err
    assert f"LEADS_WHATSAPP_APP_SECRET={APP_SECRET}\n" in answer.err
    assert all(webhook.genuine for webhook in service.webhooks)
    assert leads("simulate", "whatsapp", "--org", "a#b", "--port", 0, "--customers", 1).code == 2


def test_a_port_that_is_taken_is_said_so(leads, service):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        answer = simulate(leads, service, taken.getsockname()[1], "--customers", 1)

    assert answer.code == 5
    assert "--port 0" in answer.err


def test_the_settings_it_prints_are_those_a_service_needs(leads, service):
    process = start(
        *("simulate", "whatsapp", "--webhook", service.url, "--port", 0), cwd=leads.folder
    )
    told = dict(LINE.findall(_until(process, "/_simulator")))
    url, token = told["URL"], told["TOKEN"]
    body = {"messaging_product": "whatsapp", "to": ANA, "text": {"body": "Olá!"}}
    sent = call("POST", f"{url}/v23.0/{told['NUMBERS']}/messages", body, token=token)
    said = call("POST", f"{url}/_simulator/say", {"from": ANA, "text": "Oi"})
    deadline = time.monotonic() + PATIENCE_S
    while not service.items() and time.monotonic() < deadline:
        time.sleep(0.01)
    code, out, words = interrupted(process, signal.SIGINT)

    assert set(told) == {"URL", "NUMBERS", "APP_SECRET", "VERIFY_TOKEN", "TOKEN"}
    assert url.startswith("http://127.0.0.1:")
    assert (sent.status, said.status) == (200, 202)
    assert service.items()[0]["id"] == said.document["messageId"]
    assert (code, out) == (130, "")
    assert words == "Interrupted.\n"


def test_customers_can_be_interrupted_while_they_wait(leads, service):
    process = start(
        *("simulate", "whatsapp", "--webhook", service.url, "--port", 0),
        *("--customers", 2, "--patience", 600),
        cwd=leads.folder,
        **KEYS,
    )
    deadline = time.monotonic() + PATIENCE_S
    while len(service.items()) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    code, _, words = interrupted(process, signal.SIGINT)

    assert code == 130
    assert words.endswith("Interrupted.\n")
    assert "Traceback" not in words


def _until(process, word):
    """Read what a process says until a word of it."""
    text = ""
    while word not in text:
        line = process.stderr.readline()
        assert line, text
        text += line
    return text

"""`leads simulate hubspot`: the settings it prints are those its account answers to."""

import re
import signal
import socket
import urllib.error
import urllib.request

import pytest

from tests.support.processes import interrupted, start

LINE = re.compile(r"^(HUBSPOT_[A-Z_]+)=(\S+)$", re.MULTILINE)
STAGES = {"NOVO_LEAD", "EM_TRIAGEM", "ATENDIMENTO_HUMANO", "FINALIZADO", "PERDIDO"}
PIPELINES = "/crm/pipelines/2026-09/deals"
KEY = "/crm/properties/2026-09/deals/lead_session_id"


@pytest.fixture
def playing(leads):
    """Starts the command; ends it, if the test has not."""
    started = []

    def play(*options):
        process = start("simulate", "hubspot", "--port", 0, *options, cwd=leads.folder)
        started.append(process)
        text = until(process, "/_simulator")
        return process, text, dict(LINE.findall(text))

    yield play
    for process in started:
        if process.poll() is None:
            interrupted(process, signal.SIGINT)


def until(process, word):
    """Read what a process says until a word of it."""
    text = ""
    while word not in text:
        line = process.stderr.readline()
        assert line, text
        text += line
    return text


def ask(told, path, token=None):
    head = {"Authorization": f"Bearer {token or told['HUBSPOT_TOKEN']}"}
    request = urllib.request.Request(told["HUBSPOT_URL"] + path, headers=head)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_the_settings_it_prints_are_those_of_its_account(playing):
    process, text, told = playing("--seed", 3)
    status, pipelines = ask(told, PIPELINES)
    _, page = ask(told, "/")
    refused, _ = ask(told, PIPELINES, token="outro")
    key, _ = ask(told, KEY)
    code, out, words = interrupted(process, signal.SIGINT)

    stages = {name.removeprefix("HUBSPOT_STAGE_"): value for name, value in told.items()}
    assert told["HUBSPOT_URL"].startswith("http://127.0.0.1:")
    assert told["HUBSPOT_ENABLED"] == "true"
    assert stages.keys() >= STAGES
    assert len({stages[name] for name in STAGES}) == len(STAGES)
    assert all(f'"id": "{stages[name]}"' in pipelines for name in STAGES)
    assert (status, refused, key) == (200, 401, 200)
    assert "HubSpot simulado" in page
    assert "seed 3" in text
    assert (code, out, words) == (130, "", "Interrupted.\n")


def test_a_token_can_be_chosen_and_an_account_can_be_bare(playing):
    _, _, told = playing("--token", "meu-token", "--bare")

    assert told["HUBSPOT_TOKEN"] == "meu-token"
    assert ask(told, KEY)[0] == 404


def test_faults_come_by_chance_where_they_are_asked_for(playing):
    _, _, told = playing("--faults", "many", "--seed", 1)
    statuses = set()
    for _ in range(60):
        try:
            statuses.add(ask(told, PIPELINES)[0])
        except OSError:
            statuses.add(None)

    assert 200 in statuses
    assert len(statuses) > 1


def test_a_port_that_is_taken_is_said_so(leads):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        answer = leads("simulate", "hubspot", "--port", taken.getsockname()[1])

    assert answer.code == 5
    assert "--port 0" in answer.err

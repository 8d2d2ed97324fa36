"""What whoever watches the service may collect, and what they never see."""

import re
import sqlite3
import threading
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

import httpx2
import pytest

from adapters.clock import new_id, utc_now
from domain import keys
from domain.instants import shift
from handlers.bootstrap import App, build, build_crm, build_talks
from handlers.mirror import Mirror
from handlers.settings import read_conversation_settings, read_crm_settings, read_settings
from handlers.simulators.hubspot import STAGES, HubSpot, Setup
from tests.support.deliveries import ROUTE, SETTINGS, delivery, signed, stamp, text
from tests.support.mirrored import NAME, PHONE, say, to_be_mirrored
from tests.support.service import NOW, serving

STAGE_VARIABLES = {f"HUBSPOT_STAGE_{name.upper()}": value for name, value in STAGES.items()}
SAMPLE = re.compile(r'([a-z_]+(?:\{[a-z]+="[^"]*"\})?) (-?[0-9.e+-]+)')
COMMENT = re.compile(r"# (HELP [a-z_]+ .+|TYPE [a-z_]+ (counter|gauge|histogram))")


@dataclass
class Watched:
    app: App
    mirror: Mirror
    http: httpx2.Client
    moment: list[str]

    def pass_time(self, **amount: float) -> None:
        self.moment[0] = shift(self.moment[0], timedelta(**amount))

    def get(
        self, organization: str = "default", scopes: Any = ("metrics:read",)
    ) -> httpx2.Response:
        token, _ = self.app.api_keys.create(organization, scopes=scopes)
        return self.http.get("/metrics", headers={"Authorization": f"Bearer {token}"})

    def numbers(self, **of: Any) -> dict[str, float]:
        """Read the answer as Prometheus does: every line is a comment of its two kinds or a sample."""
        answer = self.get(**of)
        assert answer.status_code == 200
        lines = [line for line in answer.text.splitlines() if not COMMENT.fullmatch(line)]
        samples = [SAMPLE.fullmatch(line) for line in lines]
        assert all(samples), lines
        found = {each[1]: float(each[2]) for each in samples if each}
        assert len(found) == len(lines), "a number is told twice"
        return found


@pytest.fixture
def hubspot():
    with HubSpot(Setup(), random=Random(7), now=utc_now) as account:
        yield account


@pytest.fixture
def watched(tmp_path, hubspot):
    """A served application with conversations that nobody works on, and a mirror nobody has run."""
    nowhere, moment = tmp_path / "none.toml", [NOW]
    settings = read_settings({}, file=nowhere, db=tmp_path / "leads.db")
    account = {"HUBSPOT_TOKEN": hubspot.token, "HUBSPOT_URL": hubspot.url}
    app = build(settings, now=lambda: moment[0], ids=new_id)
    talks = build_talks(app, read_conversation_settings(SETTINGS, file=nowhere), channels={})
    mirror = build_crm(app, read_crm_settings({**STAGE_VARIABLES, **account}, file=nowhere))
    try:
        with (
            serving(app, talks, mirror) as url,
            httpx2.Client(base_url=url, timeout=30, trust_env=False) as http,
        ):
            yield Watched(app, mirror, http, moment)
    finally:
        mirror.close()
        talks.close()
        app.close()


class Once(threading.Event):
    """Tells a loop to stop when it would wait for the next minute."""

    def wait(self, timeout: float | None = None) -> bool:
        return True


def minute(mirror):
    """Do what the thread of a served process does in a minute."""
    mirror.run_until(Once())


def test_a_service_without_work_tells_zeros_in_prometheus_format(watched):
    answer = watched.get()
    told = watched.numbers()

    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert set(told.values()) == {0.0}
    assert {
        *("leads_waiting_leads", "leads_handoff_queue", "leads_quarantined"),
        *("leads_crm_pending", "leads_crm_blocked"),
        *("leads_crm_uncertain", "leads_crm_oldest_pending_seconds", "leads_crm_breaker_open"),
        *("leads_crm_runs_total", "leads_crm_sync_latency_seconds_count"),
    } <= told.keys()


@pytest.mark.parametrize("scopes", [("events:write", "events:read", "memories:read"), ()])
def test_a_key_for_something_else_sees_no_numbers(watched, scopes):
    answer = watched.get(scopes=scopes)

    assert answer.status_code == 403
    assert answer.headers["content-type"] == "application/problem+json"
    assert "leads_" not in answer.text


def test_without_a_key_there_are_no_numbers(watched):
    answer = watched.http.get("/metrics")

    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert "leads_" not in answer.text


def test_a_key_for_numbers_reads_no_lead(watched):
    to_be_mirrored(watched.app, "s-1")
    token, _ = watched.app.api_keys.create("default", scopes=["metrics:read"])
    auth = {"Authorization": f"Bearer {token}"}

    assert watched.http.get("/v1/leads/lead-of-s-1/events", headers=auth).status_code == 403


def test_an_api_that_is_open_asks_for_no_key(tmp_path):
    settings = read_settings({}, file=tmp_path / "x", db=tmp_path / "leads.db", auth="open")
    app = build(settings)
    try:
        with serving(app) as url:
            answer = httpx2.get(f"{url}/metrics", trust_env=False)
    finally:
        app.close()

    assert answer.status_code == 200
    assert "leads_waiting_leads 0" in answer.text
    # Without a mirror nothing is told of one.
    assert "leads_crm_" not in answer.text


def test_what_waits_in_the_mirror_is_told_and_what_its_worker_did(watched):
    to_be_mirrored(watched.app, "s-1")
    watched.pass_time(seconds=90)
    before = watched.numbers()
    minute(watched.mirror)
    after = watched.numbers()

    assert before["leads_crm_pending"] == 1
    assert before["leads_crm_oldest_pending_seconds"] == 90
    assert before["leads_crm_oldest_runnable_seconds"] == 90
    assert before["leads_crm_runs_total"] == 0
    assert after["leads_crm_pending"] == 0
    assert after["leads_crm_runs_total"] == 1
    assert after['leads_crm_rows_total{ending="synced"}'] == 1
    assert after['leads_crm_http_class_total{kind="done"}'] > 0
    assert after["leads_crm_sync_latency_seconds_sum"] == 90
    assert after['leads_crm_sync_latency_seconds_bucket{le="60"}'] == 0
    assert after['leads_crm_sync_latency_seconds_bucket{le="120"}'] == 1
    assert after["leads_crm_last_run_timestamp_seconds"] == 1774008090
    assert "leads_crm_daily_requests_left_percent" not in before
    assert 99 < after["leads_crm_daily_requests_left_percent"] < 100


def test_leads_that_wait_are_told_by_number_and_age(watched):
    for number, sender in enumerate([PHONE, "5511955550143"]):
        body = delivery(text(f"wamid.{number}", "Oi", sender=sender, timestamp=stamp(NOW)))
        assert watched.http.post(ROUTE, content=body, headers=signed(body)).status_code == 202
        watched.pass_time(seconds=30)
    told = watched.numbers()

    assert told["leads_waiting_leads"] == 2
    assert told["leads_oldest_waiting_seconds"] == 60
    # What is due in an hour, as a text that is tried again is, waits for nobody yet.
    watched.pass_time(hours=-1)
    assert watched.numbers()["leads_waiting_leads"] == 0


def test_the_queue_of_people_is_told_by_number_and_age(watched):
    to_be_mirrored(watched.app, "s-1", age_s=50)
    to_be_mirrored(watched.app, "s-2", age_s=20)
    told = watched.numbers()

    assert (told["leads_handoff_queue"], told["leads_oldest_handoff_seconds"]) == (2, 50)


def test_a_conversation_waits_for_a_person_since_one_was_asked_for_last(watched):
    to_be_mirrored(watched.app, "s-1", age_s=50)
    say(watched.app, "s-1", "handoff_returned", operator="ana")
    assert watched.numbers()["leads_handoff_queue"] == 0
    say(watched.app, "s-1", "handoff_requested", reason="operator")
    watched.pass_time(seconds=7)

    assert watched.numbers()["leads_oldest_handoff_seconds"] == 7


def test_a_key_sees_how_its_own_organization_stands(watched):
    to_be_mirrored(watched.app, "s-1", organization="other", age_s=30)
    watched.mirror.control.pause("other", operator="ana", reason="x")
    watched.pass_time(seconds=5)
    own, other = watched.numbers(), watched.numbers(organization="other")

    assert (own["leads_crm_pending"], own["leads_handoff_queue"]) == (0, 0)
    assert own["leads_crm_paused_seconds"] == 0
    assert (other["leads_crm_pending"], other["leads_handoff_queue"]) == (1, 1)
    assert other["leads_crm_paused_seconds"] == 5


def test_nothing_of_anybody_is_in_the_numbers(watched):
    to_be_mirrored(watched.app, "s-1")
    minute(watched.mirror)
    answer = watched.get().text

    for canary in (PHONE, NAME, "s-1", "lead-of", "ana"):
        assert canary not in re.sub(r"# HELP .*", "", answer)


def test_a_store_that_does_not_answer_is_said_so_and_no_number_is_made_up(tmp_path):
    settings = read_settings({}, file=tmp_path / "x", db=tmp_path / "leads.db", auth="open")
    app = build(settings)
    try:
        app.table.get(keys.crm_control("default"))
        with closing(sqlite3.connect(tmp_path / "leads.db")) as file:
            file.execute("drop table rows")
        with serving(app) as url:
            answer = httpx2.get(f"{url}/metrics", trust_env=False)
    finally:
        app.close()

    assert answer.status_code == 503
    assert "leads_" not in answer.text

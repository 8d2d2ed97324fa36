"""Random lives of sessions, workers and an account that loses things: each ends with one deal, and right.

Once against an account in this process, and once over real sockets with HubSpot's adapter and the
HubSpot that fits on a laptop. LEADS_TEST_CRM_RUNS=5000 lives through as many of each kind; by default
only as many as take seconds.
"""

import os
from collections import Counter
from contextlib import nullcontext

import pytest

from tests.support.backends import Backend
from tests.support.crm_lives import Life
from tests.support.crm_lives_over_http import over_http, played
from tests.support.sqlite import on_sqlite

_RUNS = os.environ.get("LEADS_TEST_CRM_RUNS")
RUNS = int(_RUNS or 40)
OVER_HTTP = int(_RUNS or 8)
PEOPLE = pytest.mark.parametrize(
    "people", [{}, {"edits": True}, {"archives": True}], ids=["nobody", "edits", "archives"]
)


@pytest.fixture
def store():
    with on_sqlite(":memory:") as factory:
        recorder, table = factory.aggregate_recorder(), factory.state_table()
        yield Backend("sqlite", factory, recorder, table, nullcontext)


@pytest.mark.timeout(60 + RUNS)
@PEOPLE
def test_every_life_ends_with_each_session_shown_once_and_right(store, people):
    lives = [Life(store, seed, **people) for seed in range(RUNS)]

    ends = {life.seed: life.run() for life in lives}

    assert {seed: end for seed, end in ends.items() if end != "converged"} == {}


def test_these_lives_have_in_them_what_they_are_to_prove(store):
    lives = [Life(store, seed) for seed in range(25)]
    for life in lives:
        life.run()

    recorded = Counter(
        event.event_type
        for life in lives
        for session in life.sessions
        for event in life.world.events(session)
    )
    assert recorded["crm_sync_uncertain"] > 0
    assert recorded["crm_sync_reconciled"] > 0
    assert recorded["crm_sync_deferred"] > 0
    assert sum(life.died for life in lives) > 0
    assert sum(life.account.conflicts for life in lives) > 0, "no second creation was ever refused"


@pytest.mark.timeout(60 + OVER_HTTP)
@PEOPLE
def test_every_life_over_real_sockets_ends_so_too(store, people):
    with played() as simulator:
        ends = {
            # Each has the account for itself, from its beginning to its end.
            seed: over_http(Life(store, seed, **people), simulator).run()
            for seed in range(OVER_HTTP)
        }

    assert {seed: end for seed, end in ends.items() if end != "converged"} == {}

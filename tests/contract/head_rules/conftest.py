"""A world on each backend: empty, its own, and seen by its actors as they really see it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from eventsourcing.persistence import InfrastructureFactory

from adapters.sqlite import Factory as SqliteFactory
from projections import repairing
from projections.lead_log import Stores
from tests.support.head_world import World
from tests.support.in_flight import InFlightLog
from tests.support.sqlite import on_sqlite


@pytest.fixture
def factory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[InfrastructureFactory[Any]]:
    """SQLite unless a test asks for ministack, which shows the same and takes ten times as long."""
    if getattr(request, "param", "sqlite") == "ministack":
        from tests.support.dynamodb import on_ministack  # noqa: PLC0415 - boto3 takes its time

        endpoint = request.getfixturevalue("ministack")
        with on_ministack(endpoint, request.getfixturevalue("account")) as dynamodb:
            yield dynamodb
        return
    with on_sqlite(tmp_path / "leads.db", LEADS_SQLITE_SYNCHRONOUS="NORMAL") as sqlite:
        yield sqlite


@pytest.fixture
def world(factory: InfrastructureFactory[Any]) -> Iterator[World]:
    world = World(factory)
    yield world
    if isinstance(factory, SqliteFactory):
        world.end_well()


@pytest.fixture
def log_in_flight(factory: InfrastructureFactory[Any]) -> InFlightLog:
    recorder: Any = factory.application_recorder()
    return InFlightLog(recorder, cast("Stores", factory).state_table())


@pytest.fixture
def hazy(factory: InfrastructureFactory[Any], log_in_flight: InFlightLog) -> Iterator[World]:
    """A world whose commits can be held half visible: DynamoDB's way of showing them."""
    world = World(factory, log_in_flight, log_in_flight.state)
    yield world
    log_in_flight.settle()
    if isinstance(factory, SqliteFactory):
        world.end_well()


@pytest.fixture
def one_row_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairing, "MAX_CHUNK_ROWS", 1)

from collections.abc import Iterator

import pytest

from tests.support.head_world import World
from tests.support.sqlite import on_sqlite


@pytest.fixture
def world() -> Iterator[World]:
    with on_sqlite(":memory:") as factory:
        yield World(factory)

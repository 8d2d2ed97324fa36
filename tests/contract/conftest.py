"""Runs every contract test once a backend.

`backend` is one empty store. Tests that moto cannot stand are not made for it: those with more than
one thread (`@pytest.mark.concurrent`; it loses writes) and what it gets wrong
(`@pytest.mark.beyond_moto("how")`).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.backends import Backend, ministack_backend, moto_backend, sqlite_backend

BACKENDS = ("sqlite", "moto", "ministack")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "concurrent: needs an engine that serves several threads")
    config.addinivalue_line("markers", "beyond_moto(how): needs an engine that gets this right")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "backend" not in metafunc.fixturenames:
        return
    markers = {marker.name for marker in metafunc.definition.iter_markers()}
    left_out = {"moto"} if markers & {"concurrent", "beyond_moto"} else set()
    metafunc.parametrize(
        "backend", [name for name in BACKENDS if name not in left_out], indirect=True
    )


@pytest.fixture
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    match request.param:
        case "sqlite":
            with sqlite_backend(tmp_path) as made:
                yield made
        case "moto":
            with moto_backend() as made:
                yield made
        case _:
            endpoint = request.getfixturevalue("ministack")
            with ministack_backend(endpoint, request.getfixturevalue("account")) as made:
                yield made


@pytest.fixture
def recorder(backend: Backend) -> Any:
    return backend.recorder


@pytest.fixture
def table(backend: Backend) -> Any:
    return backend.table

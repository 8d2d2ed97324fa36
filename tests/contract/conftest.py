"""Runs every contract test once a backend.

`backend` is one empty store. Tests that moto cannot stand are not made for it: those with more than
one thread (`@pytest.mark.concurrent`; it loses writes) and what it gets wrong
(`@pytest.mark.beyond_moto("how")`).
"""

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.backends import Backend, ministack_backend, moto_backend, sqlite_backend
from tests.support.ministack import new_account
from tests.support.talks import World

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


@pytest.fixture
def lend(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[..., AbstractContextManager[World]]:
    """Lend worlds for conversations, each on an empty store of its own."""
    numbers = itertools.count()

    @contextmanager
    def lent(store: str, *script: str, **settings: Any) -> Iterator[World]:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        if store == "sqlite":
            made = sqlite_backend(folder)
        else:
            made = ministack_backend(request.getfixturevalue("ministack"), new_account())
        with made as backend:
            yield World(backend, folder, *script, **settings)

    return lent

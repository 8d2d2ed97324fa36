"""Every store the ports are implemented on, as one thing that a contract test can run against."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from domain.ports.storage import LeadRecorder, StateTable
from tests.support.sqlite import on_a_faulty_disk


@dataclass(frozen=True)
class Backend:
    """One empty store. `outage()` lends a time in which it can neither be read nor written."""

    name: str
    factory: Any
    recorder: LeadRecorder
    table: StateTable
    outage: Callable[[], AbstractContextManager[None]]


@contextmanager
def sqlite_backend(folder: Path) -> Iterator[Backend]:
    """Lend the SQLite adapter on a file of its own."""
    with on_a_faulty_disk(folder / "leads.db") as (factory, disk):

        @contextmanager
        def outage() -> Iterator[None]:
            disk.fail()
            yield
            disk.mend()

        yield Backend(
            "sqlite", factory, factory.aggregate_recorder(), factory.state_table(), outage
        )


@contextmanager
def moto_backend() -> Iterator[Backend]:
    """Lend the DynamoDB adapter on moto, for one thread only.

    It goes without `idempotency-index`: no promise rests on that, so every test passes all the same.
    """
    from tests.support.dynamodb import on_moto  # noqa: PLC0415 - moto takes a quarter of a second

    with on_moto(idempotency_index=False) as factory:
        yield _dynamodb_backend("moto", factory)


@contextmanager
def ministack_backend(endpoint: str, account: str) -> Iterator[Backend]:
    """Lend the DynamoDB adapter on an account of ministack."""
    from tests.support.dynamodb import on_ministack  # noqa: PLC0415 - boto3 takes its time too

    with on_ministack(endpoint, account) as factory:
        yield _dynamodb_backend("ministack", factory)


def _dynamodb_backend(name: str, factory: Any) -> Backend:
    from botocore.exceptions import EndpointConnectionError  # noqa: PLC0415 - see above

    from tests.support.faults import Faults  # noqa: PLC0415

    def refuse(**_: Any) -> None:
        raise EndpointConnectionError(endpoint_url="the engine")

    @contextmanager
    def outage() -> Iterator[None]:
        Faults(factory.client)  # without botocore's own retries
        factory.client.meta.events.register_first("before-send.dynamodb", refuse)
        yield
        factory.client.meta.events.unregister("before-send.dynamodb", refuse)

    return Backend(name, factory, factory.aggregate_recorder(), factory.state_table(), outage)

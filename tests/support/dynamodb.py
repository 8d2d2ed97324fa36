"""The DynamoDB adapter over each engine, with empty tables of its own."""

from collections.abc import Iterator
from contextlib import contextmanager

from eventsourcing.persistence import InfrastructureFactory
from moto import mock_aws

from adapters.dynamodb import Factory, wire
from adapters.dynamodb.tables import create_tables
from tests.support.aws import REGION

_ENV = {
    "PERSISTENCE_MODULE": "adapters.dynamodb",
    "AWS_REGION": REGION,
    "AWS_SECRET_ACCESS_KEY": "unused",
    "LEADS_DYNAMODB_VALIDATE": "yes",
    "LEADS_SETTLE_SECONDS": "0",
}


@contextmanager
def on_ministack(
    endpoint: str, account: str, *, idempotency_index: bool = True, **env: str
) -> Iterator[Factory]:
    """Lend a factory whose tables are in an account of ministack."""
    where = {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": account}
    with _made({**_ENV, **where, **env}, idempotency_index=idempotency_index) as factory:
        yield factory


@contextmanager
def on_moto(*, idempotency_index: bool = True) -> Iterator[Factory]:
    """Lend a factory whose tables are in this process; for one thread only (moto loses writes)."""
    env = {**_ENV, "AWS_ACCESS_KEY_ID": "unused", "LEADS_DYNAMODB_WORKERS": "1"}
    # A session that another test made before moto was imported would go past it.
    wire._session.cache_clear()
    with mock_aws(), _made(env, idempotency_index=idempotency_index) as factory:
        yield factory


@contextmanager
def _made(env: dict[str, str], *, idempotency_index: bool) -> Iterator[Factory]:
    factory = InfrastructureFactory.construct(env)
    assert isinstance(factory, Factory)
    try:
        create_tables(factory.client, factory.names, idempotency_index=idempotency_index)
        # The engine deletes by this machine's clock, and the clock of a test stands months before it:
        # once a minute leases and locks would be gone under whoever holds them.
        factory.client.update_time_to_live(
            TableName=factory.names.state,
            TimeToLiveSpecification={"Enabled": False, "AttributeName": "ttl"},
        )
        yield factory
    finally:
        factory.close()

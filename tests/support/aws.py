"""DynamoDB clients for tests, one maker per engine.

Each client is the low-level one that the service itself uses. Parameter validation stays on: in a
test a malformed request should say so at once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REGION = "us-east-1"

# One attempt only: a retry would hide the very answer that a test looks at.
_CONFIG = Config(
    region_name=REGION,
    retries={"mode": "standard", "total_max_attempts": 1},
    max_pool_connections=64,
    connect_timeout=5,
    read_timeout=20,
)


def ministack_client(endpoint: str, account: str) -> "DynamoDBClient":
    """Make a client whose access key is the account, which is how ministack tells accounts apart."""
    return _session().client(
        "dynamodb",
        endpoint_url=endpoint,
        aws_access_key_id=account,
        aws_secret_access_key="unused",
        config=_CONFIG,
    )


@contextmanager
def moto_client() -> "Iterator[DynamoDBClient]":
    """Lend a client of an empty moto, in this process; for one thread only (moto loses writes)."""
    from moto import mock_aws  # noqa: PLC0415 - a quarter of a second, for the tests that use it

    with mock_aws():
        # A session of its own: one made before moto was imported would go past it.
        yield boto3.session.Session(
            aws_access_key_id="unused", aws_secret_access_key="unused"
        ).client("dynamodb", config=_CONFIG)


@cache
def _session() -> boto3.session.Session:
    """Share the parsed service model; a client of a warm session costs a third."""
    return boto3.session.Session(region_name=REGION)

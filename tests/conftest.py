"""What every test may ask for."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from adapters import telemetry
from tests.support.ministack import new_account, running_ministack

# The same examples every time, so that a red run is red for everyone.
settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
# A search for new failures: make test ARGS=--hypothesis-profile=search
settings.register_profile("search", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile("ci")

# No test meets a real account because of what stands in the shell that started it.
for _name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[_name]
os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
# Nor does a proxy of that shell stand between a test and this machine.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"

# Tests log as the service does. What structlog does by itself paints every local of an exception,
# which takes longer than any test.
telemetry.configure()


@pytest.fixture(scope="session")
def ministack() -> Iterator[str]:
    """The endpoint of a DynamoDB that all tests of this run share; fails if it is not installed."""
    with running_ministack() as endpoint:
        yield endpoint


@pytest.fixture
def account() -> str:
    """An account of the test's own on ministack: nothing in it, and nobody else's to see."""
    return new_account()

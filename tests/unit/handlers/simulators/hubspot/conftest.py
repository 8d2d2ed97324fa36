"""An account for each test."""

import pytest

from tests.support.hubspot_account import playing


@pytest.fixture
def program():
    with playing() as own:
        yield own

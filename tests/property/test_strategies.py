from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import canonical, catalog
from tests.support.strategies import PAYLOADS


@pytest.mark.parametrize("event_type", sorted(PAYLOADS))
@given(st.data())
def test_payloads_of_the_strategies_are_what_the_catalog_makes_of_them(event_type: str, data: Any):
    payload = data.draw(PAYLOADS[event_type])
    newest = catalog.TYPES[event_type].version

    validated, _ = catalog.validate(event_type, newest, payload)

    assert canonical.dumps(validated) == canonical.dumps(payload)

from typing import Any, cast

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from tests.support.service import running_service

EXAMPLES = settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.timeout(120)
def test_no_request_makes_a_server_error_and_every_refusal_is_a_problem(tmp_path):
    with running_service(tmp_path) as service:
        auth = service.key()
        schema = schemathesis.openapi.from_url(f"{service.http.base_url}/v1/openapi.json")
        tried = []
        for found in schema.get_all_operations():
            operation = cast("Any", found).ok()
            tried.append(operation.label)

            @EXAMPLES
            @given(case=operation.as_strategy())
            def holds(case):
                answer = case.call(headers=auth)
                assert answer.status_code < 500
                # A batch of which nothing was taken answers each item all the same.
                if answer.status_code >= 400 and "results" not in answer.json():
                    assert answer.headers["content-type"] == ["application/problem+json"]
                    assert answer.json()["status"] == answer.status_code

            holds()

    assert len(tried) >= 14

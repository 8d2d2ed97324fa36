"""Numbers as CloudWatch takes them from a function: a line of its output, in the embedded format."""

import os
from collections.abc import Iterable

from aws_lambda_powertools.metrics import EphemeralMetrics

from handlers.measures import Measure


def emit(measures: Iterable[Measure], namespace: str, function_name: str) -> None:
    """Write numbers; of those that tell kinds apart, what happened.

    What has many values goes first: they are written as soon as there are a hundred.
    """
    metrics = EphemeralMetrics(namespace=namespace)
    metrics.set_default_dimensions(FunctionName=function_name)
    for measure in measures:
        kind = "" if measure.label is None else measure.label[1].title().replace("_", "")
        for value in measure.values:
            if value or not kind:
                metrics.add_metric(f"{measure.name}{kind}", measure.unit, value)
    metrics.flush_metrics()


def function_name(context: object, otherwise: str) -> str:
    """Return by which name CloudWatch tells the numbers of deployments apart."""
    named = getattr(context, "function_name", None) or os.environ.get("AWS_LAMBDA_FUNCTION_NAME")
    return str(named or otherwise)

"""Events as AWS makes them for functions, and a queue that is polled as Lambda polls it."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from handlers.entrypoints.lambdas.container import close_all
from tests.support.deliveries import ROUTE, signature
from tests.support.log_lines import logging_of_its_own

Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]


@contextmanager
def cold_containers() -> Iterator[None]:
    """Let every function build anew, and leave nothing of what it set up."""
    close_all()
    try:
        with logging_of_its_own():
            yield
    finally:
        close_all()


def v1(method: str, body: bytes = b"", query: Any = None, **headers: str) -> dict[str, Any]:
    """A REST API's event (payload 1.0)."""
    return {
        "httpMethod": method,
        "path": ROUTE,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": query,
        "body": body.decode() if body else None,
        "isBase64Encoded": False,
    }


def v2(method: str, body: bytes = b"", query: Any = None, **headers: str) -> dict[str, Any]:
    """A function URL's event, or an HTTP API's (payload 2.0): a body that may be binary is base64."""
    return {
        "version": "2.0",
        "rawPath": ROUTE,
        "headers": {name.lower(): value for name, value in headers.items()},
        "queryStringParameters": query or {},
        "requestContext": {"http": {"method": method, "path": ROUTE}},
        "body": base64.b64encode(body).decode(),
        "isBase64Encoded": True,
    }


def signed_header(body: bytes, name: str = "X-Hub-Signature-256") -> dict[str, str]:
    return {name: signature(body)}


def sqs(*records: tuple[str, Any]) -> dict[str, Any]:
    """An event of a FIFO queue; each record is a group and what it says."""
    return {
        "Records": [
            {
                "messageId": f"m{number}",
                "receiptHandle": f"r{number}",
                "body": said if isinstance(said, str) else json.dumps(said),
                "attributes": {"MessageGroupId": group, "ApproximateReceiveCount": "1"},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:leads.fifo",
                "awsRegion": "us-east-1",
            }
            for number, (group, said) in enumerate(records, 1)
        ]
    }


def failed(answer: Mapping[str, Any]) -> list[str]:
    return [each["itemIdentifier"] for each in answer["batchItemFailures"]]


def received(client: Any, queue_url: str) -> dict[str, Any]:
    """Receive what waits, as the event Lambda makes of it."""
    messages: Sequence[Any] = client.receive_message(
        QueueUrl=queue_url, MaxNumberOfMessages=10, AttributeNames=["All"]
    ).get("Messages", [])
    return {
        "Records": [
            {
                "messageId": each["MessageId"],
                "receiptHandle": each["ReceiptHandle"],
                "body": each["Body"],
                "attributes": each["Attributes"],
                "messageAttributes": {},
                "eventSource": "aws:sqs",
            }
            for each in messages
        ]
    }


def poll(client: Any, queue_url: str, handler: Handler) -> list[Any]:
    """Do one round of Lambda's polling; return the bodies that were delivered."""
    event = received(client, queue_url)
    again = failed(handler(event, None)) if event["Records"] else []
    for each in event["Records"]:
        if each["messageId"] not in again:
            client.delete_message(QueueUrl=queue_url, ReceiptHandle=each["receiptHandle"])
    return [json.loads(each["body"]) for each in event["Records"]]

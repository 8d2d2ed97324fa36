"""The queue of a deployment on AWS: SQS FIFO, one message group a lead.

Importing this module loads boto3. Sources of what SQS does: Amazon SQS developer guide, "Exactly-once
processing in Amazon SQS" (a deduplication id is remembered for five minutes) and "FIFO queue quotas"
(ids of at most 128 characters).
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoRegionError

from domain.errors import Unavailable
from domain.ports.effects import Clock

CONNECT_TIMEOUT_S: Final = 1
READ_TIMEOUT_S: Final = 2
"""A webhook waits for it; a wake-up that is not taken is found by the sweeper."""

_CONNECTIONS: Final = 32
_MINUTE: Final = len("YYYY-MM-DDTHH:MM")


class SqsWakeUps:
    """See `domain.ports.effects.WakeUps`. Threads may share one.

    The deduplication id ends in the minute of the wake: under the message's id alone SQS would
    accept and drop the sweeper's wake for five minutes. Ids are hashes: a lead's name is nobody's
    business there, and may be longer than SQS allows.
    """

    def __init__(self, client: Any, queue_url: str, now: Clock) -> None:
        self._client = client
        self._queue_url = queue_url
        self._now = now

    def wake(self, organization_id: str, lead: str, message_id: str) -> None:
        """See `WakeUps.wake`."""
        body = {
            "leadOrganizationId": lead,
            "organizationId": organization_id,
            "messageId": message_id,
        }
        minute = self._now()[:_MINUTE]
        self._call(
            "send_message",
            MessageBody=json.dumps(body),
            MessageGroupId=_hashed(lead),
            MessageDeduplicationId=_hashed(f"{lead}|{message_id}|{minute}"),
        )

    def postpone(self, receipt: str, after_s: int) -> None:
        """Let a message that is being worked on come again after some seconds.

        Raises:
            Unavailable: the queue did not take it; the message comes when its own time is over.
        """
        self._call("change_message_visibility", ReceiptHandle=receipt, VisibilityTimeout=after_s)

    def waiting(self) -> int:
        """Return about how many wake-ups wait.

        Raises:
            Unavailable: the queue does not answer, or not to us.
        """
        answer = self._call("get_queue_attributes", AttributeNames=["ApproximateNumberOfMessages"])
        return int(answer["Attributes"]["ApproximateNumberOfMessages"])

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _call(self, operation: str, **request: Any) -> Any:
        try:
            return getattr(self._client, operation)(QueueUrl=self._queue_url, **request)
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            hint = _HINTS.get(code.rpartition(".")[2], _HINT)
            raise Unavailable(f"SQS refuses: {code or 'no reason'}.", hint=hint) from None
        except BotoCoreError:
            raise Unavailable("SQS cannot be reached.", hint=_HINT) from None


def new_client(env: Mapping[str, str]) -> Any:
    """Return a client of its own.

    Args:
        env: what boto3 reads from the environment may stand here instead: endpoint, region,
            credentials. What is missing, boto3 looks for in its own places.

    Raises:
        Unavailable: no region is configured.
    """
    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=READ_TIMEOUT_S,
        max_pool_connections=_CONNECTIONS,
        # Sent again under the same deduplication id, so a retry makes no second wake-up.
        retries={"mode": "standard", "total_max_attempts": 2},
    )
    session: Any = _session()
    try:
        return session.client(
            "sqs",
            aws_access_key_id=env.get("AWS_ACCESS_KEY_ID"),
            aws_secret_access_key=env.get("AWS_SECRET_ACCESS_KEY"),
            aws_session_token=env.get("AWS_SESSION_TOKEN"),
            region_name=env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION"),
            endpoint_url=env.get("AWS_ENDPOINT_URL_SQS") or env.get("AWS_ENDPOINT_URL"),
            config=config,
        )
    except NoRegionError:
        message = "SQS cannot be reached: no AWS region is configured."
        raise Unavailable(message, hint="Set AWS_REGION.") from None


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


@cache
def _session() -> boto3.session.Session:
    """Share the parsed model of the service, the larger part of what a client costs."""
    return boto3.session.Session()


_HINT: Final = "What waits stands in the leads' rows; the sweeper wakes it again."
_HINTS: Final = {
    "NonExistentQueue": "Create the queue (infra/template.yaml), or correct LEADS_QUEUE_URL.",
    "QueueDoesNotExist": "Create the queue (infra/template.yaml), or correct LEADS_QUEUE_URL.",
    "AccessDenied": "Grant the role what infra/template.yaml grants.",
    "AccessDeniedException": "Grant the role what infra/template.yaml grants.",
}

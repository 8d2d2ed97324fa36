"""The one client, and the only place that calls it: every failure leaves as one of our errors."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoRegionError

from adapters.actions import Action
from adapters.dynamodb import outcomes
from adapters.dynamodb.tables import Names
from domain.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Request = dict[str, Any]
Answer = Mapping[str, Any]

CONNECT_TIMEOUT_S: Final = 1
READ_TIMEOUT_S: Final = 2
"""A transaction that was begun and not answered is finished by DynamoDB itself; waiting long for
it blocks the caller and settles nothing."""
CONNECTIONS: Final = 32


def new_client(env: Mapping[str, str], *, validate: bool) -> "DynamoDBClient":
    """Return a client of its own.

    Args:
        env: what boto3 reads from the environment may stand here instead: endpoint, region,
            credentials. What is missing, boto3 looks for in its own places.
        validate: check requests on this side, which costs a third of the time of a transaction.

    Raises:
        errors.Unavailable: no region is configured.
    """
    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=READ_TIMEOUT_S,
        max_pool_connections=CONNECTIONS,
        parameter_validation=validate,
        retries={"mode": "standard", "total_max_attempts": 3},
    )
    try:
        return _session().client(
            "dynamodb",
            aws_access_key_id=env.get("AWS_ACCESS_KEY_ID"),
            aws_secret_access_key=env.get("AWS_SECRET_ACCESS_KEY"),
            aws_session_token=env.get("AWS_SESSION_TOKEN"),
            region_name=env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION"),
            endpoint_url=env.get("AWS_ENDPOINT_URL_DYNAMODB") or env.get("AWS_ENDPOINT_URL"),
            config=config,
        )
    except NoRegionError:
        message = "DynamoDB cannot be reached: no AWS region is configured."
        raise Unavailable(message, hint="Set AWS_REGION.") from None


class Wire:
    """The tables over one client. Safe for threads.

    botocore may send a request several times. An early try whose answer was lost may have been
    written although the last one was refused, so doubt is remembered for the whole call.
    """

    def __init__(self, client: "DynamoDBClient", names: Names) -> None:
        self.client = client
        self.names = names
        self._call = threading.local()
        client.meta.events.register(
            "needs-retry.dynamodb", self._note_try, unique_id=f"doubt-{id(self)}"
        )

    def read(self, operation: Callable[..., Any], request: Request) -> Answer:
        """Run any operation of the client that only reads."""
        try:
            answer: Answer = operation(**request)
        except (ClientError, BotoCoreError) as error:
            raise outcomes.failed(error) from None
        return answer

    def query(self, request: Request) -> Answer:
        """Run one Query."""
        return self.read(self.client.query, request)

    def get(self, request: Request) -> Answer:
        """Run one GetItem."""
        return self.read(self.client.get_item, request)

    def batch_get(self, request: Request) -> Answer:
        """Run one BatchGetItem."""
        return self.read(self.client.batch_get_item, request)

    def transact_get(self, request: Request) -> Answer:
        """Run one TransactGetItems: all of it as of one moment, or Unavailable."""
        return self.read(self.client.transact_get_items, request)

    def transact(self, actions: Sequence[Action], requests: Sequence[Request]) -> None:
        """Write all or nothing.

        The request token is botocore's: new for each call, the same for its own retries. One made
        from the content would have DynamoDB answer a repair's chunk that was written, damaged and
        is sent again within ten minutes, without writing it.

        Raises:
            Refused: a condition did not hold.
            errors.Uncertain: it may have been written.
        """
        request: Request = {"TransactItems": requests}
        self._call.in_doubt = False
        try:
            self.client.transact_write_items(**request)
        except (ClientError, BotoCoreError) as error:
            raise outcomes.failed(error, actions=actions, in_doubt=self._call.in_doubt) from None

    def put(self, request: Request) -> bool:
        """Run one conditional PutItem; False if its condition did not hold."""
        return self._write(self.client.put_item, request)

    def delete(self, request: Request) -> bool:
        """Run one conditional DeleteItem; False if its condition did not hold."""
        return self._write(self.client.delete_item, request)

    def _write(self, operation: Callable[..., Any], request: Request) -> bool:
        self._call.in_doubt = False
        try:
            operation(**request)
        except (ClientError, BotoCoreError) as error:
            if outcomes.code_of(error) != "ConditionalCheckFailedException":
                raise outcomes.failed(error, in_doubt=self._call.in_doubt) from None
            if self._call.in_doubt:
                # What the condition met may be what an earlier try of this call wrote.
                raise outcomes.unknown() from None
            return False
        return True

    def _note_try(
        self,
        *,
        response: tuple[Any, Any] | None = None,
        caught_exception: Exception | None = None,
        **_: object,
    ) -> None:
        """Remember a try that may have been written; returns nothing, so decides nothing."""
        if caught_exception is not None:
            doubtful = outcomes.may_have_arrived(caught_exception)
        else:
            doubtful = response is not None and response[0].status_code >= 500
        self._call.in_doubt = doubtful or getattr(self._call, "in_doubt", False)


@cache
def _session() -> boto3.session.Session:
    """Share the parsed model of the service, the larger part of what a client costs."""
    return boto3.session.Session()

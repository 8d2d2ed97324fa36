"""The log and the state table on DynamoDB: `PERSISTENCE_MODULE=adapters.dynamodb`.

Importing this package loads neither boto3 nor botocore; building a `Factory` does.
"""

from typing import TYPE_CHECKING, Any, Final, NoReturn

from eventsourcing.persistence import (
    InfrastructureFactory,
    NotSupportedError,
    TrackingRecorder,
)

from adapters.dynamodb.tables import Names, create_tables

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from adapters.dynamodb.recorder import DynamoRecorder
    from adapters.dynamodb.state import DynamoStateTable

__all__ = ["Factory"]

_LOG_TABLE: Final = "lead-events-dev"
_STATE_TABLE: Final = "gogenetic-agent-dev"
_SETTLE_SECONDS: Final = "2"
"""Assumed, not documented: how long a committed transaction takes at most until every read shows
it. `verify` is the net below it."""
_WORKERS: Final = "16"


class Factory(InfrastructureFactory[TrackingRecorder]):
    """Gives the recorder and the state table of one deployment, over one client.

    Read from the environment:
        LEADS_EVENTS_TABLE: name of the log's table.
        DYNAMODB_TABLE: name of the state table.
        LEADS_SETTLE_SECONDS: how long `settle` waits.
        LEADS_DYNAMODB_VALIDATE: `yes` checks requests before they are sent; for tests.
        LEADS_DYNAMODB_WORKERS: commits that `insert_many` writes beside each other.
        AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and others: as boto3 reads them.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        # boto3 costs a sixth of a second, and only who stores on DynamoDB pays it.
        from adapters.dynamodb.recorder import DynamoRecorder  # noqa: PLC0415
        from adapters.dynamodb.state import DynamoStateTable  # noqa: PLC0415
        from adapters.dynamodb.wire import Wire, new_client  # noqa: PLC0415

        self.names = Names(
            self.env.get("LEADS_EVENTS_TABLE") or _LOG_TABLE,
            self.env.get("DYNAMODB_TABLE") or _STATE_TABLE,
        )
        validate = self.env.get("LEADS_DYNAMODB_VALIDATE", "").lower() in {"1", "y", "yes", "true"}
        self.client: DynamoDBClient = new_client(self.env, validate=validate)
        wire = Wire(self.client, self.names)
        self.recorder = DynamoRecorder(
            wire,
            settle_s=float(self.env.get("LEADS_SETTLE_SECONDS") or _SETTLE_SECONDS),
            workers=int(self.env.get("LEADS_DYNAMODB_WORKERS") or _WORKERS),
        )
        self._state_table = DynamoStateTable(wire)

    def state_table(self) -> "DynamoStateTable":
        """Return the state table."""
        return self._state_table

    def create_tables(self) -> list[str]:
        """Make the tables that are missing, wait until they can be used, return their names.

        Raises:
            Rejected, Unavailable: DynamoDB refuses, or cannot be reached.
        """
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        from adapters.dynamodb.outcomes import failed  # noqa: PLC0415

        try:
            return create_tables(self.client, self.names)
        except (BotoCoreError, ClientError) as error:
            raise failed(error) from None

    def aggregate_recorder(self, purpose: str = "events") -> "DynamoRecorder":
        """Return the log. Snapshots of aggregates are not kept: a head and its rows are one."""
        if purpose != "events":
            message = "The library's snapshots are not kept on DynamoDB; view rows are."
            raise NotSupportedError(message)
        return self.recorder

    def application_recorder(self) -> "DynamoRecorder":
        """Return the log; what needs an order across leads is refused."""
        return self.recorder

    def tracking_recorder(self, tracking_recorder_class: Any = None) -> NoReturn:
        """Refuse: a head says how far its lead's views have come, so nothing is tracked."""
        del tracking_recorder_class
        raise NotSupportedError(_NOTHING_TRACKED)

    def process_recorder(self) -> NoReturn:
        """Refuse: a head says how far its lead's views have come, so nothing is tracked."""
        raise NotSupportedError(_NOTHING_TRACKED)

    def close(self) -> None:
        """End the threads and close the connections."""
        self.recorder.close()
        self.client.close()


_NOTHING_TRACKED: Final = (
    "Nothing is tracked on DynamoDB: a lead's head says how far its views have come."
)

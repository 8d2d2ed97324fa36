"""What became of the log itself. Recorded by this service."""

from typing import Annotated

from domain.catalog._declare import Payload, event
from domain.catalog._fields import Word, describe


@event("event_lost", category="Log", ours=True)
class EventLost(Payload):
    """What stood at this position of the lead is gone: a restore brought back only part of a commit."""

    cause: Annotated[Word, describe("What it was lost in.", "restore")]

"""What a container of Lambda builds once, when it is cold: the service its environment describes."""

from functools import cache
from typing import NamedTuple

from domain.ports.effects import Channel
from handlers.bootstrap import App, build, build_talks, start_logging
from handlers.settings import read_conversation_settings, read_settings
from handlers.talks import Talks


class Container(NamedTuple):
    """One deployment, wired."""

    app: App
    talks: Talks


@cache
def container(*, sends: bool) -> Container:
    """Return the service of this container, the same at every call.

    Args:
        sends: whether it hands texts to channels. One that does not, opens none.

    Raises:
        Rejected, Unavailable: the environment does not describe a service that can start.
    """
    settings = read_settings()
    start_logging(settings)
    app = build(settings)
    channels: dict[str, Channel] | None = None if sends else {}
    return Container(app, build_talks(app, read_conversation_settings(), channels=channels))

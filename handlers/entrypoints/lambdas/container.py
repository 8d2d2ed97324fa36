"""What a container of Lambda builds once, when it is cold: the service its environment describes."""

from typing import Final, NamedTuple

from domain.errors import LeadError
from domain.ports.effects import Channel
from handlers.bootstrap import App, build, build_talks, start_logging
from handlers.settings import read_conversation_settings, read_settings
from handlers.talks import Talks


class Container(NamedTuple):
    """One deployment, wired."""

    app: App
    talks: Talks


_built: Final[dict[bool, Container]] = {}


def container(*, sends: bool) -> Container:
    """Return the service of this container, the same at every call.

    Args:
        sends: whether it hands texts to channels. One that does not, opens none; one that does
            takes no deliveries, and is given no secret of theirs.

    Raises:
        Rejected, Unavailable: the environment does not describe a service that can start.
    """
    if sends not in _built:
        _built[sends] = _build(sends=sends)
    return _built[sends]


def close_all() -> None:
    """Close what was built; the next call builds anew."""
    while _built:
        _, own = _built.popitem()
        own.talks.close()
        own.app.close()


def _build(*, sends: bool) -> Container:
    settings = read_settings()
    talking = read_conversation_settings()
    start_logging(settings)
    app = build(settings)
    channels: dict[str, Channel] | None = None if sends else {}
    try:
        return Container(app, build_talks(app, talking, channels=channels, receives=not sends))
    except LeadError:
        app.close()
        raise

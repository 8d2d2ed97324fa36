"""One run of a command: what was asked for, and what it needs, opened when it is needed."""

import contextlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from domain.errors import NotFound
from handlers.entrypoints.cli.output import Form, Output
from handlers.entrypoints.cli.words import Words

if TYPE_CHECKING:
    from handlers.api_keys import Credential
    from handlers.bootstrap import App
    from handlers.mirror import Mirror
    from handlers.settings import Settings
    from handlers.talks import Talks

DEFAULT_ORGANIZATION: Final = "default"
_PRIVATE: Final = ":memory:"


class Options(NamedTuple):
    """The shared options as they were given; None and False were not."""

    db: Path | None = None
    store: str | None = None
    org: str | None = None
    json: bool = False
    jsonl: bool = False
    no_color: bool = False
    quiet: bool = False
    debug: bool = False

    def as_flags(self, names: Sequence[str] = ("db", "store", "org")) -> list[str]:
        """Return the options that choose the data, for a command somebody is to run next."""
        named = ((f"--{name}", getattr(self, name)) for name in names)
        return [part for flag, value in named if value for part in (flag, str(value))]


class Session:
    """The settings, the application and the two streams of one command."""

    def __init__(self, options: Options) -> None:
        self.options = options
        form = Form.JSON if options.json else Form.JSONL if options.jsonl else Form.TEXT
        self.out = Output(form, colored=not options.no_color)
        self.words = Words(colored=not options.no_color, quiet=bool(options.quiet))
        self.flags: dict[str, Any] = {}
        """Settings given on the command line beside the shared ones; before they are read."""
        self.log_level = "ERROR"
        """The lowest level that is logged: on a terminal errors alone, of a service what is set."""
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Begin; nothing is opened yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what was opened."""
        self._stack.close()

    @cached_property
    def settings(self) -> "Settings":
        """The settings, flags first.

        Raises:
            Rejected: one of them is not valid.
        """
        from handlers.settings import read_settings

        return read_settings(db=self.options.db, store=self.options.store, **self.flags)

    @cached_property
    def who(self) -> "Credential":
        """What the command line may do: everything, in the organization it was told.

        Raises:
            InvalidEvent: the organization's id is none.
        """
        from handlers.api_keys import everything

        return everything(self.options.org or DEFAULT_ORGANIZATION)

    @property
    def organization(self) -> str:
        """The organization whose leads are meant."""
        return self.who.organization_id

    @cached_property
    def app(self) -> "App":
        """The application, wired; its store is made if it is not there.

        All that logs works on it, so logging is set up here: on stderr, by allow-list.

        Raises:
            Rejected, Unavailable: the settings do not describe one that can be opened.
        """
        from handlers.bootstrap import build

        self._stack.enter_context(_logging(self.settings, self.log_level))
        app = build(self.settings)
        self._stack.callback(app.close)
        return app

    @cached_property
    def talks(self) -> "Talks":
        """Conversations, over the application.

        Raises:
            Rejected: the settings of conversations are not valid.
        """
        from handlers.bootstrap import build_talks
        from handlers.settings import read_conversation_settings

        talks = build_talks(self.app, read_conversation_settings())
        self._stack.callback(talks.close)
        return talks

    @cached_property
    def crm(self) -> "Mirror":
        """The CRM's mirror, over the application.

        Raises:
            Rejected: the settings of the mirror are not valid.
        """
        from handlers.bootstrap import build_crm
        from handlers.settings import read_crm_settings

        mirror = build_crm(self.app, read_crm_settings())
        self._stack.callback(mirror.close)
        return mirror

    def now(self) -> str:
        """Return the time."""
        from handlers.bootstrap import clock

        return clock()

    def existing(self) -> "App":
        """Return the application of a command that only reads: it never makes a store.

        Raises:
            NotFound: there is no such file.
        """
        settings = self.settings
        if settings.store == "sqlite" and not self.has_file():
            raise NotFound(
                "The database file does not exist.",
                hint="Name it with --db or LEADS_DB; `leads import`, `leads send` and `leads serve`"
                " make one, and `leads demo --db FILE` fills one with made-up leads.",
            )
        return self.app

    def has_file(self) -> bool:
        """Tell whether the SQLite file is there."""
        path = self.settings.db
        return str(path) == _PRIVATE or path.exists()

    def lead(self, text: str) -> str:
        """Return the id of a lead that was named by it, or as channel:identifier.

        Raises:
            NotFound: there is none.
        """
        from handlers.finding import find_lead

        return find_lead(self.existing().log, self.organization, text)

    def leads(self, text: str | None) -> Iterator[str]:
        """Yield the lead that was named, or every one of the organization."""
        if text is not None:
            yield self.lead(text)
            return
        yield from self.existing().maintenance.leads(self.organization)


@contextlib.contextmanager
def _logging(settings: "Settings", level: str) -> Iterator[None]:
    import structlog

    from handlers.bootstrap import start_logging

    before = structlog.get_config()
    start_logging(settings.model_copy(update={"log_level": level}))
    try:
        yield
    finally:
        structlog.configure(**before)

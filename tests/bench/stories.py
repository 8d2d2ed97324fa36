"""What the benchmarks work on: the demo's events as facts, and a log on a file of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from adapters.clock import new_id
from domain.errors import LeadError
from domain.event import NewEvent
from handlers import demo_data
from handlers.bootstrap import App, build
from handlers.ingest import Sender
from handlers.settings import read_settings

ORGANIZATION = "default"
SENDER = Sender(organization_id=ORGANIZATION)


@contextmanager
def an_app(folder: Path | None = None) -> Iterator[App]:
    with TemporaryDirectory() as temporary:
        place = folder or Path(temporary)
        settings = read_settings({}, file=place / "none.toml", db=place / "leads.db")
        app = build(settings, now=lambda: demo_data.NOW, ids=new_id, pause=lambda _: None)
        try:
            yield app
        finally:
            app.close()


def facts(app: App, *, leads: int, prefix: str = "") -> list[NewEvent]:
    """Return the demo's valid events as accepted facts, keys made unique by a prefix."""
    found = []
    for document in demo_data.generate(leads=leads):
        changed = document | {"externalEventId": f"{prefix}{document.get('externalEventId')}"}
        try:
            found.append(app.ingest.accept(changed, SENDER).event)
        except LeadError:
            continue
    return found

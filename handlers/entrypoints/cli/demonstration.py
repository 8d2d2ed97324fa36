"""The command that walks through the service with made-up leads."""

import shlex
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from domain.errors import Rejected
from handlers.entrypoints.cli import events, memories, rebuilding
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.importing import run_import
from handlers.entrypoints.cli.output import Form, field
from handlers.entrypoints.cli.session import Session
from handlers.entrypoints.cli.words import program_name
from handlers.entrypoints.outcomes import EXIT_OK

_MEMORY: Final = "purchase/product:whey_1kg"
_TYPE: Final = "purchase_completed"
_SHOWN: Final = 15
_COLUMNS: Final = tuple(field(name) for name in ("created", "duplicate", "conflict", "rejected"))
_SAID: Final = tuple(field(name) for name in ("from", "text", "status"))
_DEAL: Final = tuple(field(name) for name in ("deal", "name", "stage", "contact"))


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    command(program, "demo", panel="Start here")(demo)


def demo(
    session: Session,
    write: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", dir_okay=False, help="Only write the events, as a file to import."
        ),
    ] = None,
    leads: Annotated[int, typer.Option(min=1, help="How many made-up leads.")] = 40,
    seed: Annotated[int, typer.Option(help="Another one tells other stories.")] = 2026,
) -> int:
    """Walk through the service with made-up leads.

    In with events, out with what they say. Uses a database of its own unless --db names one. Nobody in it exists.
    """
    if write is not None:
        count = _write(session, write, leads, seed)
        session.words.say(
            f"{count:,} events of {leads:,} made-up leads; now: {program_name()} import {write}"
        )
        return EXIT_OK
    if session.out.form is not Form.TEXT:
        message = "The demo is for people."
        raise Rejected(message, hint="Its data is for programs: leads demo --write FILE.")
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="leads-demo-"))
    if session.options.db is None and session.options.store is None:
        session.options = session.options._replace(db=folder / "leads.db", store="sqlite")
    return _Tour(session, folder / "events.jsonl", leads, seed).walk()


class _Tour:
    """The walk: nine stops, each with a caption that says what one sees."""

    def __init__(self, session: Session, file: Path, leads: int, seed: int) -> None:
        self._session = session
        self._file = file
        self._leads = leads
        self._seed = seed
        self._stop = 0
        self._talker = ""

    def walk(self) -> int:
        """Make every stop and return the exit code of the last verify."""
        self._session.out.draw_tables()
        self._ingest()
        self._timeline()
        self._memories()
        self._explain()
        self._context()
        self._query()
        self._conversation()
        self._mirror()
        code = self._rebuild()
        self._farewell()
        return code

    def _ingest(self) -> None:
        count = _write(self._session, self._file, self._leads, self._seed)
        self._caption(
            f"{count:,} events of {self._leads} made-up leads go in",
            "Deliveries come twice, late and garbled, as they do. A second delivery is a duplicate;"
            " other content under a used id is a conflict, and the first stands; what breaks a rule"
            " is rejected, with the reason beside the file.",
        )
        from dataclasses import asdict

        with self._file.open("rb") as stream:
            rejects = self._file.with_name("rejects.jsonl")
            report = run_import(self._session, stream, self._file, resume=False, rejects=rejects)
        self._session.out.table([asdict(report.counts)], _COLUMNS)

    def _timeline(self) -> None:
        lead = self._lead()
        told = events.story(self._session, lead)
        late = sum(event["late"] for event in told)
        self._caption(
            f"What happened to {lead}: the last {_SHOWN} of {len(told)} events",
            "In the order of meaning; # is the order of arrival, which never has a gap."
            + (f" {late} of them arrived after something that happened later." if late else ""),
        )
        self._session.out.table(told[-_SHOWN:], events.STORY)

    def _memories(self) -> None:
        self._caption(
            "What is remembered of this lead",
            "Derived in the same commit as the events. In doubt the newest fact counts, whatever the"
            " order of arrival; what is stale expires when it is read.",
        )
        memories.show(self._session, self._read("memories"))

    def _explain(self) -> None:
        memory_type, _, key = _MEMORY.partition("/")
        self._caption(
            f"Why it is so: the events behind {_MEMORY}",
            "Every memory names its sources; here is what each of them added.",
        )
        memories.show_steps(self._session, self._read("explain", memory_type, key))

    def _context(self) -> None:
        found = self._read("context", budget=300)
        self._caption(
            "What an agent gets to read",
            f"The best of it under a budget: {found.tokens} of 300 tokens,"
            f" {len(found.included)} memories, {len(found.omitted)} left out.",
        )
        self._session.out.text(found.text)

    def _query(self) -> None:
        found = events.of_type(self._session, self._lead(), _TYPE, since="30d")
        self._caption(
            f"One type of event over 30 days: {_TYPE}",
            "One query of the event-type-index; nothing else is read.",
        )
        self._session.out.table(found, events.STORY[:-1])

    def _conversation(self) -> None:
        from handlers.entrypoints.cli.demo_talk import play_conversation

        told = play_conversation(self._session.app, self._session.organization)
        self._talker = told.lead
        self._caption(
            "A conversation on WhatsApp, with an agent and then a person",
            f"Over real HTTP, with a made-up Cloud API on this machine: {told.posted} signed webhooks,"
            f" {told.again} message came twice. {told.turns} turns answered what waited, each once; the"
            " receipt of the second answer was lost, and its status settled it instead of a second"
            f" send: {told.texts} texts reached the phone.",
        )
        self._session.out.table(told.lines, _SAID)

    def _mirror(self) -> None:
        from handlers.entrypoints.cli.demo_mirror import mirror_conversation

        shown = mirror_conversation(self._session.app, self._session.organization)
        self._caption(
            "The same conversation in the CRM",
            f"A made-up HubSpot on this machine. The deal was created and the answer got lost"
            f" ({_told(shown.first)}); five minutes later it was found by its own key"
            f" ({_told(shown.second)}): {shown.requests} requests, {shown.posts} creation of a deal,"
            f" {len(shown.deals)} deal.",
        )
        self._session.out.table(shown.deals, _DEAL)

    def _rebuild(self) -> int:
        self._caption(
            "All of it is made again from the events, and compared",
            "No message is sent by it and no CRM is asked: a projection cannot reach the world. First `leads rebuild --all`: fold every event again, repair what differs. Then `leads verify"
            " --all`: compare every view with its events, field by field.",
        )
        rebuilding.run(self._session, "rebuild", None, every=True, workers=1)
        return rebuilding.run(self._session, "verify", None, every=True, workers=1)

    def _farewell(self) -> None:
        lead = self._lead()
        flags = shlex.join(self._session.options.as_flags(("db", "org")))
        leads = program_name()
        self._caption("Your turn", f"Everything is kept; the events are in {self._file}")
        for line in (
            f"{leads} timeline {lead} {flags}",
            f"{leads} explain {lead} preference/payment_method {flags}",
            f"{leads} memories {lead} --as-of 30d {flags}",
            f"{leads} import {self._file} {flags}    # again: all duplicates",
            f"{leads} timeline {self._talker} {flags}    # the conversation, event by event",
            f"{leads} chat {flags}    # talk to the agent; --operator NAME in another terminal",
            f"{leads} serve {flags}",
        ):
            self._session.out.text(f"  {line}")

    def _lead(self) -> str:
        from handlers.demo_data import FIRST_LEAD

        return FIRST_LEAD

    def _read(self, what: str, *arguments: Any, **named: Any) -> Any:
        reads = self._session.app.reads
        return getattr(reads, what)(self._session.organization, self._lead(), *arguments, **named)

    def _caption(self, title: str, text: str) -> None:
        self._stop += 1
        self._session.out.heading(f"{self._stop}. {title}", text)


def _told(endings: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(endings.items())) or "nothing due"


def _write(session: Session, file: Path, leads: int, seed: int) -> int:
    """Write the events as a file to import. The stories go up to midnight, UTC, of today."""
    from handlers.demo_data import generate, write_ndjson

    now = f"{session.now()[:10]}T00:00:00.000000Z"
    with file.open("w", encoding="utf-8") as stream:
        return write_ndjson(stream, generate(seed, leads, now))

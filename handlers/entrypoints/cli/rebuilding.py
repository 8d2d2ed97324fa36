"""Commands that compare views with the events they come from, and bring them back to those."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from domain.errors import Rejected
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.jobs import Answer, Failure, Job, run_beside, run_here
from handlers.entrypoints.cli.output import Form, JsonObject, printable, to_json
from handlers.entrypoints.cli.progress import Progress
from handlers.entrypoints.cli.session import Session
from handlers.entrypoints.outcomes import EXIT_CONFLICT, EXIT_OK, EXIT_UNAVAILABLE

PANEL: Final = "Look after it"

One = Annotated[
    str | None,
    typer.Option("--lead", metavar="LEAD", help="One lead: its id, or channel:identifier."),
]
All = Annotated[bool, typer.Option("--all", help="Every lead of the organization.")]
Workers = Annotated[
    int, typer.Option(min=1, max=64, help="Processes, each with a store of its own.")
]

_WRONG: Final = ("drift", "corrupt", "broken")
_SHOWN_DIFFERENCES: Final = 20
_SHOWN_CHARACTERS: Final = 60


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    command(program, "verify", panel=PANEL)(verify)
    command(program, "rebuild", panel=PANEL)(rebuild)


def verify(session: Session, lead: One = None, every: All = False, workers: Workers = 1) -> int:
    """Compare views with the events they come from.

    Folds every event again and compares field by field. Exit code 4 if anything differs or an event cannot be read. Lagging views are legal and told
    apart.
    """
    return run(session, "verify", lead, every=every, workers=workers)


def rebuild(
    session: Session,
    lead: One = None,
    every: All = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would change: the same as verify.")
    ] = False,
    workers: Workers = 1,
) -> int:
    """Bring views to what the events say, and verify them.

    Works beside live writers. May be stopped and repeated at any time.
    """
    job: Job = "verify" if dry_run else "rebuild"
    return run(session, job, lead, every=every, workers=workers, dry_run=dry_run)


def run(
    session: Session,
    job: Job,
    lead: str | None,
    *,
    every: bool,
    workers: int,
    dry_run: bool = False,
) -> int:
    """Do a job for one lead or all, tell of each that is not as it should be, and sum up."""
    if (lead is None) is not every:
        raise Rejected("Which leads is not clear.", hint="Give --lead LEAD, or --all.")
    tally = Tally(dry_run=dry_run)
    found: list[JsonObject] = []
    try:
        for answer in _answers(session, job, lead, workers):
            shown = tally.take(answer)
            _tell(session, shown, found, named=lead is not None)
    except KeyboardInterrupt:
        session.words.say("Stopped. What was done stands; run the same command to go on.")
        raise
    summary = tally.summary()
    if session.out.form is Form.JSON:
        session.out.document({"summary": summary, "leads": found})
    elif session.out.form is Form.JSONL:
        session.out.line({"summary": summary})
    elif session.out.to_people:
        session.out.text(tally.verdict(job))
    else:
        session.out.facts(summary)
        session.words.say(tally.verdict(job))
    return tally.exit_code()


class Tally:
    """Counts what became of the leads of a job."""

    def __init__(self, *, dry_run: bool = False) -> None:
        self._dry_run = dry_run
        self._counts: Counter[str] = Counter()
        self._states: Counter[str] = Counter()

    def take(self, answer: Answer) -> JsonObject:
        """Count one answer, and return it as readers see it."""
        shown = _shown(answer)
        self._states[shown["state"]] += 1
        self._counts["leads"] += 1
        for name in ("events", "rows", "written"):
            self._counts[name] += shown.get(name, 0)
        self._counts["differences"] += len(shown["differences"]) + shown["missingIdentities"]
        return shown

    def summary(self) -> JsonObject:
        """Return the numbers: leads, events folded, rows, differences left, and leads by state."""
        names = ("leads", "events", "rows", "written", "differences")
        states = ("equal", "lagging", "drift", "corrupt", "broken", "newer", "failed")
        counted = {name: self._counts[name] for name in names}
        return {**counted, **{name: self._states[name] for name in states}}

    def verdict(self, job: Job) -> str:
        """Return the result in a sentence."""
        wrong = {name: self._states[name] for name in (*_WRONG, "failed") if self._states[name]}
        told = ", ".join(f"{count:,} {name}" for name, count in wrong.items())
        written = f", {self._counts['written']:,} row(s) repaired" if job == "rebuild" else ""
        done = (
            f"{self._counts['leads']:,} lead(s), {self._counts['events']:,} event(s),"
            f" {self._counts['rows']:,} row(s) compared{written}:"
        )
        lagging = self._states["lagging"]
        also = f" {lagging:,} lagging: `leads rebuild` catches up." if lagging else ""
        if not wrong:
            return f"{done} {self._counts['differences']} differences.{also}"
        repairable = job == "verify" and self._states["drift"]
        then = " `leads rebuild` repairs drift." if repairable else ""
        return f"{done} {told}; {self._counts['differences']:,} difference(s).{then}{also}"

    def exit_code(self) -> int:
        """Return 4 if anything is wrong, 5 if the store did not answer for some."""
        if any(self._states[name] for name in _WRONG):
            return EXIT_CONFLICT
        return EXIT_UNAVAILABLE if self._states["failed"] else EXIT_OK


def _answers(session: Session, job: Job, lead: str | None, workers: int) -> Iterator[Answer]:
    app = session.existing()
    if lead is not None:
        yield from run_here(app, job, [session.lead(lead)])
        return
    organization = session.organization
    total = sum(1 for _ in app.maintenance.leads(organization))
    leads = app.maintenance.leads(organization)
    answers = (
        run_here(app, job, leads)
        if workers == 1
        else run_beside(session.options, job, leads, workers)
    )
    title = "Verifying" if job == "verify" else "Rebuilding"
    with Progress(session.words, title, "leads", total) as progress:
        for number, answer in enumerate(answers, 1):
            progress.advance(number, number)
            yield answer


def _tell(session: Session, shown: JsonObject, found: list[JsonObject], *, named: bool) -> None:
    """Tell of one lead: of all as JSON lines, else of those that are worth it."""
    if session.out.form is Form.JSONL:
        session.out.line(shown)
        return
    worth = named or shown["state"] != "equal" or shown.get("written")
    if session.out.form is Form.JSON:
        if worth:
            found.append(shown)
        return
    if not worth:
        return
    written = f", {shown['written']} row(s) repaired" if shown.get("written") else ""
    detail = f": {shown['detail']}" if shown.get("detail") else ""
    session.words.say(
        printable(f"{shown['leadOrganizationId']}  {shown['state']}{written}{detail}")
    )
    differences = shown["differences"]
    for each in differences[:_SHOWN_DIFFERENCES]:
        name = f"{each['sk']} {each['field']}".strip()
        stored, expected = (_short(each[side]) for side in ("stored", "expected"))
        session.words.say(printable(f"  {name}: stored {stored}, events say {expected}"))
    if len(differences) > _SHOWN_DIFFERENCES:
        session.words.say(f"  … {len(differences) - _SHOWN_DIFFERENCES} more; --json shows all.")
    if shown["missingIdentities"]:
        session.words.say(f"  {shown['missingIdentities']} address claim(s) are missing.")


def _short(value: Any) -> str:
    if value is None:
        return "nothing"
    text = to_json(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _shown(answer: Answer) -> JsonObject:
    """Return an answer as readers see it; of a repair, how the verify at its end found the lead."""
    from projections.repairing import Repaired

    if isinstance(answer, Failure):
        return {
            "leadOrganizationId": answer.lead,
            "state": "failed",
            "code": answer.code,
            "detail": answer.detail,
            "differences": [],
            "missingIdentities": 0,
        }
    verified = answer.verified if isinstance(answer, Repaired) else answer
    shown: JsonObject = {
        "leadOrganizationId": answer.lead,
        "state": answer.state if verified is None else verified.state,
        "detail": answer.detail,
        "differences": [],
        "missingIdentities": 0,
    }
    if verified is not None:
        shown |= {
            "version": verified.version,
            "projected": verified.projected,
            "events": verified.version,
            "rows": verified.rows,
            "digest": verified.digest,
            "detail": verified.detail or answer.detail,
            "differences": [_difference(each) for each in verified.differences],
            "missingIdentities": verified.missing_identities,
        }
    shown["written"] = answer.written if isinstance(answer, Repaired) else 0
    return shown


def _difference(each: Any) -> JsonObject:
    return {
        "pk": each.key.pk,
        "sk": each.key.sk,
        "field": each.field,
        "stored": each.stored,
        "expected": each.expected,
    }

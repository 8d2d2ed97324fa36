"""What is measured of the mirror: how its rows stand, and what its runs did. Pure.

`Pending`, `Blocked`, `Uncertain` and `OldestPendingSeconds` are those of seed 001, the age over all
three. That age never ends while one row is blocked, so `OldestRunnableSeconds` counts those alone
that nobody has to touch. Source of the others: research/crm.md §4.6.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

from domain.crm.replies import Kind
from domain.crm.sync import BLOCKED, NEVER, PENDING, SYNCED, UNCERTAIN, CrmSync
from domain.instants import to_datetime
from handlers.crm.control import Rest
from handlers.crm.visiting import ConcurrentUpdate
from handlers.crm.worker import RunReport
from handlers.measures import Measure, Unit

ENDINGS: Final = (
    *("synced", "deferred", "blocked", "uncertain", "paused", "breaker"),
    *("nothing", "held", "overtaken", "lease_lost", "failed"),
)
"""What may become of a row; see `RunReport`."""

LATENCY: Final = (
    "SyncLatencySeconds",
    "From when a row had something to send until it was confirmed.",
)
REQUESTS: Final = ("RequestsPerSync", "Requests that a row took until it was confirmed.")


@runtime_checkable
class Metered(Protocol):
    """An account that tells how many requests of its day are left."""

    @property
    def day_left(self) -> float | None:
        """The share, 0 to 1, as it told last; None before it did."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How the mirror stands at one moment. Ages are in seconds, 0 where there is nothing.

    `for_people` are uncertain rows that only a person resolves. `paused_s` is for how long accounts
    have rested, the longest; `breakers` how many rest until somebody mends what is wrong.
    """

    pending: int = 0
    blocked: int = 0
    uncertain: int = 0
    for_people: int = 0
    verifying: int = 0
    oldest_pending_s: float = 0.0
    oldest_runnable_s: float = 0.0
    paused_s: float = 0.0
    breakers: int = 0


def standing(rows: Iterable[CrmSync], rests: Sequence[Rest], now: str) -> Standing:
    """Return how things stand, by the rows of the lists and by why accounts rest."""
    counts: Counter[str] = Counter()
    oldest: dict[str, float] = {}
    for row in rows:
        counts[row.status] += 1
        counts["for_people"] += row.status == UNCERTAIN and row.due_at == NEVER
        if row.status != SYNCED:
            age = _seconds(row.pending_since or row.updated_at, now)
            oldest[row.status] = max(age, oldest.get(row.status, 0.0))
    resting = (_seconds(each.opened_at, now) for each in rests if each.why != "breaker")
    return Standing(
        pending=counts[PENDING],
        blocked=counts[BLOCKED],
        uncertain=counts[UNCERTAIN],
        for_people=counts["for_people"],
        verifying=counts[SYNCED],
        oldest_pending_s=max(oldest.values(), default=0.0),
        oldest_runnable_s=oldest.get(PENDING, 0.0),
        paused_s=max(resting, default=0.0),
        breakers=sum(each.why == "breaker" for each in rests),
    )


@dataclass(slots=True, kw_only=True)
class Totals:
    """What one run did, or several; see `RunReport` for the words. `stops` counts why they ended."""

    runs: int = 0
    stops: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    resolved: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    kept_by_people: int = 0
    quarantined: int = 0

    def add(self, report: RunReport) -> None:
        """Take in what a run did."""
        self.runs += 1
        self.stops[report.stopped] += 1
        self.endings.update(report.endings)
        self.answers.update(report.answers)
        self.resolved.update(report.resolved)
        self.failures.update(report.failures)
        self.kept_by_people += report.kept_by_people
        self.quarantined += report.quarantined


def of_standing(now: Standing) -> list[Measure]:
    """Return the numbers of how things stand."""
    told: Sequence[tuple[str, float, str]] = (
        ("Pending", now.pending, "Rows that have something to send."),
        ("Blocked", now.blocked, "Rows that somebody has to change something for."),
        ("Uncertain", now.uncertain, "Rows of which nobody knows whether a deal was created."),
        ("UncertainForPeople", now.for_people, "Those of them that only a person resolves."),
        ("Verifying", now.verifying, "Confirmed rows that are looked at once more."),
        ("OldestPendingSeconds", now.oldest_pending_s, "Age of the oldest of all that waits."),
        ("OldestRunnableSeconds", now.oldest_runnable_s, "Age of the oldest pending row."),
        ("PausedSeconds", now.paused_s, "For how long the account has been paused."),
        ("BreakerOpen", now.breakers, "Accounts that cannot be used until somebody acts."),
    )
    return [
        Measure(name=name, says=says, values=(float(value),), unit=_unit(name))
        for name, value, says in told
    ]


def of_account(account: object) -> list[Measure]:
    """Return what the account told of itself last; a number that it never told has no value."""
    left = account.day_left if isinstance(account, Metered) else None
    says = "Of the requests the account allows a day, as it told last."
    values = () if left is None else (left * 100,)
    return [Measure(name="DailyRequestsLeftPercent", says=says, values=values, unit="Percent")]


def of_runs(did: Totals) -> list[Measure]:
    """Return the numbers of what runs did."""
    cas = did.failures[ConcurrentUpdate.code]
    told: Sequence[tuple[str, int, str]] = (
        ("Runs", did.runs, "Runs that came to their end."),
        ("RunBudgetExhausted", did.stops["budget"], "Runs that left rows for the next one."),
        ("DuplicatePrevented", did.resolved["adopted"], "Second deals that the CRM refused."),
        ("LeaseLost", did.endings["lease_lost"], "Rows another worker took meanwhile."),
        ("CasExhausted", cas, "Rows left alone because others wrote to the lead, eight times."),
        ("HumanOverride", did.kept_by_people, "Properties left as people have them."),
        ("Quarantined", did.quarantined, "Properties left out because the CRM refused them."),
    )
    counted = [Measure(name=name, says=says, values=(n,), adds=True) for name, n, says in told]
    how, asked, ended = ("found", "reposted", "archived"), [str(each) for each in Kind], ENDINGS
    return [
        *counted,
        *_labelled(
            "Reconciled", "Creations in doubt that were resolved.", ("how", how), did.resolved
        ),
        *_labelled("HttpClass", "Requests by what came of them.", ("kind", asked), did.answers),
        *_labelled("Rows", "Rows by what became of them.", ("ending", ended), did.endings),
    ]


def of_confirmed(report: RunReport) -> list[Measure]:
    """Return one observation of each row that a run confirmed."""
    each = tuple(float(number) for number in report.requests_each)
    return [
        Measure(name=LATENCY[0], says=LATENCY[1], values=tuple(report.waits_s), unit="Seconds"),
        Measure(name=REQUESTS[0], says=REQUESTS[1], values=each),
    ]


def _labelled(
    name: str, says: str, label: tuple[str, Iterable[str]], counts: Mapping[str, int]
) -> Iterator[Measure]:
    for value in label[1]:
        told = (label[0], value.lower())
        yield Measure(name=name, says=says, values=(counts.get(value, 0),), label=told, adds=True)


def _unit(name: str) -> Unit:
    return "Seconds" if name.endswith("Seconds") else "Count"


def _seconds(since: str, now: str) -> float:
    """Return the age of something, never below 0: processes do not agree on the time to the second."""
    return max(0.0, (to_datetime(now) - to_datetime(since)).total_seconds())

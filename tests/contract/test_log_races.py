"""Many writers of the same leads at once, on real threads and in two processes."""

import itertools
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adapters.clock import new_id
from domain import keys
from domain.addresses import address
from domain.errors import Unavailable
from domain.event import NewEvent
from domain.outcomes import Appended, Duplicate, Failed, Outcome
from domain.records import Commit, PutHead, Refused
from projections import ALL, FOLD_VERSION
from projections.committing import Edition, lag_row
from tests.support import toy
from tests.support.logs import SharedLog
from tests.support.make import LEAD, ORGANIZATION, SOURCE, instant
from tests.support.sqlite import on_sqlite
from tests.support.toy import counted, fact

pytestmark = pytest.mark.concurrent

PHONE = address("whatsapp", "+5511998765432")
EVENTS, ROUNDS = 15, 3
"""That writers write, and that are rebuilt beside them, at least."""
MEMORIES = Edition(ALL, FOLD_VERSION)


@pytest.fixture
def log(backend):
    return SharedLog(backend.factory, edition=toy.EDITIONS[1], pause=shortly)


def at_once(acts: list[Callable[[], Any]]) -> list[Any]:
    """Run everything on a thread of its own, begun together."""
    line = threading.Barrier(len(acts))

    def run(act: Callable[[], Any]) -> Any:
        line.wait(20)
        return act()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def shortly(attempt: int) -> None:
    """Wait as the service does, but for stores that are near."""
    time.sleep(random.uniform(0, 0.002 * 2 ** min(attempt, 5)))


def insisting(log: SharedLog, facts: list[NewEvent]) -> list[Outcome]:
    """Send facts again while the store is too busy for them, as every sender may."""
    outcomes = log.append(facts)
    while any(isinstance(each, Failed) for each in outcomes):
        for each in outcomes:
            assert not isinstance(each, Failed) or isinstance(each.error, Unavailable), each
        outcomes = log.append(facts)
    return outcomes


def verified(log: SharedLog, lead: str = LEAD) -> str:
    found = log.verifier.verify(lead)
    assert found.differences == ()
    return found.state


def sequences(log: SharedLog, lead: str = LEAD) -> list[int]:
    events = log.reader.events(lead, lte=log.reader.head(lead).version)
    return [event.sequence for event in events if event.event_type != "identity_linked"]


@pytest.mark.parametrize("whose", [{"lead": LEAD}, {"lead": None, "address": PHONE}])
def test_fifty_who_append_one_event_are_told_of_one(log, whose):
    one = counted(1, "the-one", **whose)
    copies = [replace(one, event_id=new_id()) for _ in range(50)]

    answers = [each for (each,) in at_once([partial(insisting, log, [copy]) for copy in copies])]

    (appended,) = [each for each in answers if isinstance(each, Appended)]
    duplicates = [each for each in answers if isinstance(each, Duplicate)]
    assert len(duplicates) == 49
    assert {(each.lead, each.event_id, each.sequence) for each in duplicates} == {
        (appended.lead, appended.event_id, appended.sequence)
    }
    assert log.store.leads(ORGANIZATION, limit=10).items == [appended.lead]
    assert sequences(log, appended.lead) == [1]
    assert log.reader.view(appended.lead, toy.COUNTING[1]).states == {
        toy.count_key(appended.lead): 1
    }
    assert verified(log, appended.lead) == "equal"


def test_sixteen_who_append_to_one_lead_make_one_dense_stream(log):
    facts = [[counted(n, f"{n}:{k}") for k in range(2)] for n in range(16)]

    answers = at_once([partial(insisting, log, mine) for mine in facts])

    told = sorted(each.sequence for mine in answers for each in mine)
    assert told == sequences(log) == list(range(1, 33))
    assert all(isinstance(each, Appended) for mine in answers for each in mine)
    assert log.table.get(toy.count_key()).attributes["value"] == 2 * sum(range(16))
    assert verified(log) == "equal"


def test_callers_with_many_leads_in_different_orders_get_all_of_them_through(log):
    leads = [f"lead-{n}" for n in range(6)]
    facts = [
        [counted(1, f"{n}:{lead}", lead=lead) for lead in (leads if n % 2 else leads[::-1])]
        for n in range(6)
    ]

    at_once([partial(insisting, log, mine) for mine in facts])

    for lead in leads:
        assert sequences(log, lead) == list(range(1, 7))
        assert verified(log, lead) == "equal"


def test_two_organizations_with_one_source_and_key_do_not_see_each_other(log):
    facts = [
        replace(
            counted(1, "HT-1", lead=None, address=PHONE, organization_id=organization),
            event_id=new_id(),
        )
        for organization in ("org-one", "org-two")
        for _ in range(4)
    ]

    answers = [each for (each,) in at_once([partial(insisting, log, [one]) for one in facts])]

    one, two = ({each.lead for each in part} for part in (answers[:4], answers[4:]))
    assert len(one) == len(two) == 1
    assert one != two
    assert sum(isinstance(each, Appended) for each in answers) == 2
    for organization, (lead,) in zip(["org-one", "org-two"], [one, two], strict=True):
        assert log.store.leads(organization, limit=10).items == [lead]
        proof = log.store.receipt(keys.receipt(organization, SOURCE, "HT-1"))
        assert proof is not None
        assert proof.lead == lead
        assert sequences(log, lead) == [1]


# --- beside a rebuild -------------------------------------------------------------------------


def write_until(enough: threading.Event, write: Callable[[str, int], Any], lead: str) -> None:
    """Write, after the first events not at full speed: the more there are, the slower a rebuild."""
    for n in itertools.count():
        if n >= EVENTS and enough.wait(0.05):
            return
        write(lead, n)


def writing_beside(
    rebuild: Callable[[], Any], write: Callable[[str, int], Any], leads: list[str]
) -> None:
    """Rebuild over and over while each lead is written to: until there was enough of both."""
    enough, done = threading.Event(), threading.Event()

    def rebuilding() -> None:
        try:
            for _ in range(ROUNDS):
                rebuild()
        finally:
            enough.set()
        while not done.is_set():
            rebuild()

    for lead in leads:
        write(lead, -1)
    with ThreadPoolExecutor(1) as pool:
        rebuilder = pool.submit(rebuilding)
        try:
            at_once([partial(write_until, enough, write, lead) for lead in leads])
        finally:
            done.set()
        rebuilder.result()


def give_up_rows(log: SharedLog, lead: str) -> None:
    """Begin a rebuild as one that crashed began it: rows are worth nothing from now on."""
    while True:
        head = log.reader.head(lead)
        given_up = replace(head, projected=0, goal=None, rev=head.rev + 1)
        lag = lag_row(lead, head.organization_id)
        try:
            log.store.insert_events(
                [], commit=Commit(head=PutHead(given_up, head.rev), puts=(lag,))
            )
        except (Refused, Unavailable):
            continue
        return


def rebuilt(log: SharedLog, leads: list[str], *, force: bool = True) -> None:
    for lead in leads:
        # When its writers are faster, the next round comes.
        with suppress(Unavailable):
            log.repairer.repair(lead, force=force)


def purchase(lead: str, n: int) -> NewEvent:
    payload = {"productId": f"p-{n % 3}", "amount": f"{n + 1}.00", "currency": "BRL"}
    made = fact("purchase_completed", f"{lead}:{n}", lead=lead, **payload)
    return replace(made, occurred_at=instant(n * 977 % 100))


def test_writers_beside_a_rebuild_of_all_leads_leave_no_difference(backend):
    leads = ["lead-a", "lead-b"]
    writer, rebuilder = (
        SharedLog(backend.factory, edition=MEMORIES, pause=shortly) for _ in range(2)
    )

    def rebuild() -> None:
        for lead in leads:
            give_up_rows(rebuilder, lead)
        rebuilt(rebuilder, leads)

    writing_beside(rebuild, lambda lead, n: insisting(writer, [purchase(lead, n)]), leads)
    rebuilt(rebuilder, leads)

    for lead in leads:
        head = writer.reader.head(lead)
        assert head.projected == head.version > EVENTS
        assert head.rev > head.version + ROUNDS, "rows were given up meanwhile"
        assert sequences(writer, lead) == list(range(1, head.version + 1))
        assert verified(writer, lead) == "equal"
        assert writer.table.get(keys.lag(lead)) is None


def test_an_old_edition_writing_beside_a_rebuild_by_the_new_one_leaves_no_difference(backend):
    leads = ["lead-a", "lead-b"]
    types = ["toy_counted", "toy_opened", "toy_shelved", "toy_closed", "toy_tallied"]
    old, new = (
        SharedLog(backend.factory, edition=toy.EDITIONS[number], pause=shortly) for number in (1, 2)
    )

    def write(lead: str, n: int) -> None:
        payload = {"item": f"{lead}:{n % 3}", "n": n}
        insisting(old, [fact(types[n % len(types)], f"{lead}:{n}", lead=lead, **payload)])

    writing_beside(lambda: rebuilt(new, leads, force=False), write, leads)
    rebuilt(new, leads)

    for lead in leads:
        head = old.reader.head(lead)
        events = old.reader.events(lead, lte=head.version)
        rows = new.table.query(f"TOY#{lead}", limit=1000).items
        assert (head.projected, head.fold_version) == (head.version, 2)
        assert verified(new, lead) == "equal"
        assert {row.key: row for row in rows} == toy.folded(2, lead, events)
        assert old.reader.view(lead, toy.COUNTING[1]).states == {
            key: row.attributes["value"]
            for key, row in toy.folded(1, lead, events).items()
            if key.pk == f"TOY#{lead}"
        }


# --- two processes on one file ----------------------------------------------------------------

PROCESS = """
import json, sys
from dataclasses import replace
from adapters.clock import full_jitter, new_id
from projections.committing import Edition
from projections.lead_log import LeadLog
from tests.support import toy

path, name = sys.argv[1:]
env = {"PERSISTENCE_MODULE": "adapters.sqlite", "LEADS_DB": path}
log = LeadLog(env, new_id=new_id, pause=full_jitter, edition=toy.EDITIONS[1])
print("ready", flush=True)
sys.stdin.readline()
answers = []
for n in range(40):
    shared = replace(toy.counted(1, f"shared-{n}"), event_id=new_id())
    own = toy.counted(1, f"{name}-{n}")
    for fact in (shared, own):
        (answer,) = log.append([fact])
        answers.append([type(answer).__name__, answer.event_id, answer.sequence])
print(json.dumps(answers), flush=True)
log.close()
"""


def test_two_processes_on_one_file_append_each_event_once(tmp_path):
    path = tmp_path / "leads.db"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for name in ("one", "two")
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    one, two = (json.loads(process.communicate(timeout=50)[0]) for process in processes)

    shared = list(zip(one[::2], two[::2], strict=True))
    assert all({a[0], b[0]} == {"Appended", "Duplicate"} for a, b in shared)
    assert all(a[1:] == b[1:] for a, b in shared)
    assert {each[0] for each in one[1::2] + two[1::2]} == {"Appended"}
    numbers = {each[2] for each in one + two}
    assert numbers == set(range(1, 121))
    with on_sqlite(path) as factory:
        log = SharedLog(factory, edition=toy.EDITIONS[1])
        assert sequences(log) == list(range(1, 121))
        assert verified(log) == "equal"

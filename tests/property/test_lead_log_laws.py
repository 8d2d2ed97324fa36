"""What holds of a log of leads whatever happens to them: live, rebuilt and folded are one."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.clock import new_id
from domain import keys
from domain.event import Address, LeadEvent, NewEvent
from domain.keys import Key
from domain.outcomes import Appended, Duplicate, Outcome
from domain.records import Commit, Head, PutHead, Row
from handlers.maintenance import Maintenance
from handlers.reads import Moment, Reads
from projections import ALL, FOLD_VERSION
from projections.committing import Edition
from projections.folding import Fold, digest
from projections.memories import MEMORIES, states_by_name
from projections.memories.render import render_all
from projections.projection import Rows
from tests.support.logs import SharedLog
from tests.support.sqlite import on_sqlite
from tests.support.strategies import INSTANTS, ORGANIZATION, histories

NOW = "2026-03-21T00:00:00.000000Z"
RECEIVED = [f"2026-03-2{day}T00:00:00.000000Z" for day in range(1, 6)]
OCCURRED_BY = st.one_of(
    st.none(),
    INSTANTS,
    st.sampled_from(["2025-12-01T00:00:00.000000Z", "2026-03-15T13:00:00.119999Z"]),
)
KNOWN_BY = st.one_of(st.none(), st.sampled_from(RECEIVED))
HALF = settings(max_examples=settings().max_examples // 2)
"""Of the profile's examples: each of these lives through dozens of events."""
LEADS = ("lead-a", "lead-b", "lead-c")

Histories = dict[str, list[LeadEvent]]


@dataclass(frozen=True)
class Story:
    """Facts of several leads in the order they arrive, some more than once, cut into calls."""

    calls: list[list[NewEvent]]

    @property
    def distinct(self) -> Histories:
        """Each lead's events in the order they arrived first."""
        found: Histories = defaultdict(list)
        seen = set()
        for fact in itertools.chain.from_iterable(self.calls):
            if fact.external_event_id not in seen:
                seen.add(fact.external_event_id)
                lead = str(fact.lead)
                found[lead].append(fact.numbered(lead, len(found[lead]) + 1))
        return found


def as_fact(event: LeadEvent, lead: str, received_at: str) -> NewEvent:
    source_type: Any = event.source_type
    return NewEvent(
        event_id=event.event_id,
        organization_id=ORGANIZATION,
        event_type=event.event_type,
        source_type=source_type,
        source=event.source,
        external_event_id=f"{lead}:{event.event_id}",
        occurred_at=event.occurred_at,
        received_at=received_at,
        payload=event.payload,
        lead=lead,
    )


def once_more(fact: NewEvent) -> NewEvent:
    """The fact as it is sent again: we give it another id, and receive it another time."""
    return replace(fact, event_id=new_id(), received_at=NOW)


@st.composite
def stories(draw: st.DrawFn, *, most_leads: int = 3, max_size: int = 12) -> Story:
    facts = [
        as_fact(event, lead, draw(st.sampled_from(RECEIVED)))
        for lead in LEADS[: draw(st.integers(1, most_leads))]
        for event in draw(histories(min_size=1, max_size=max_size))
    ]
    facts = draw(st.permutations(facts))
    for place in draw(st.lists(st.integers(0, len(facts) - 1), max_size=5)):
        facts.insert(draw(st.integers(place + 1, len(facts))), once_more(facts[place]))
    cuts = sorted(draw(st.lists(st.integers(0, len(facts)), max_size=6)))
    edges = itertools.pairwise([0, *cuts, len(facts)])
    return Story([facts[low:high] for low, high in edges])


@contextmanager
def empty_log(edition: Edition | None = None) -> Iterator[SharedLog]:
    with on_sqlite(":memory:") as factory:
        yield SharedLog(factory, edition=edition)


@contextmanager
def lived(story: Story, edition: Edition | None = None) -> Iterator[SharedLog]:
    """Lend a log through which the story went."""
    with empty_log(edition) as log:
        for call in story.calls:
            log.append(call)
        yield log


def sorted_fold(history: Sequence[LeadEvent]) -> dict[Key, Row]:
    """Fold a lead's events in the order they happened, from nothing."""
    fold = Fold(ALL, history[0].lead)
    for event in sorted(history, key=lambda each: each.occurred_at_id):
        fold.evolve(event)
    return fold.rows()


def memories_of(events: Iterable[LeadEvent], lead: str, now: str) -> list[Any]:
    """What these events alone say, the slow way."""
    rows = Rows(MEMORIES, None)
    for event in sorted(events, key=lambda each: each.occurred_at_id):
        if event.event_type in MEMORIES.handles:
            MEMORIES.evolve(rows, event)
    return render_all(states_by_name(rows.standing()), now, include_expired=True)


def stored(log: SharedLog, lead: str) -> dict[Key, Row]:
    """Every row of a lead, as stored."""
    return {row.key: row for row in log.reader.list_rows(lead, MEMORIES)}


def head(log: SharedLog, lead: str) -> Head:
    return log.reader.head(lead)


def guards(log: SharedLog, facts: Iterable[NewEvent]) -> dict[str, str]:
    """Every identity the facts' addresses may have claimed."""
    names = {
        keys.identity(ORGANIZATION, fact.address.channel, name)
        for fact in facts
        if fact.address
        for name in (fact.address.identifier, *fact.address.aliases)
    }
    return log.store.resolve(sorted(names))


@HALF
@given(stories())
def test_rows_memories_and_digests_are_those_of_the_sorted_stream(story: Story):
    with lived(story) as log:
        reads = Reads(log, lambda: NOW, "America/Sao_Paulo")
        for lead, history in story.distinct.items():
            expected = sorted_fold(history)
            verified = log.verifier.verify(lead)

            assert stored(log, lead) == expected
            assert (verified.state, verified.version) == ("equal", len(history))
            assert verified.digest == digest(expected)
            assert log.reader.events(lead, lte=len(history)) == history
            assert reads.memories(ORGANIZATION, lead, include_expired=True) == memories_of(
                history, lead, NOW
            )


@HALF
@given(stories())
def test_every_fact_is_answered_by_the_one_event_that_it_is(story: Story):
    with empty_log() as log:
        answers: list[Outcome] = []
        for call in story.calls:
            answers += log.append(call)
        facts = list(itertools.chain.from_iterable(story.calls))
        named = {
            event.external_event_id: event
            for history in story.distinct.values()
            for event in history
        }

        met = set()
        for fact, answer in zip(facts, answers, strict=True):
            event = named[fact.external_event_id]
            kind = Duplicate if fact.external_event_id in met else Appended
            assert answer == kind(event.lead, event.event_id, event.sequence)
            met.add(fact.external_event_id)


@HALF
@given(stories())
def test_the_whole_story_told_again_is_known_and_changes_nothing(story: Story):
    with lived(story) as log:
        named = {
            event.external_event_id: event
            for history in story.distinct.values()
            for event in history
        }
        before = {lead: (head(log, lead), stored(log, lead)) for lead in story.distinct}
        facts = [once_more(fact) for call in story.calls for fact in call][::-1]

        answers = log.append(facts)

        assert answers == [
            Duplicate(event.lead, event.event_id, event.sequence)
            for event in (named[fact.external_event_id] for fact in facts)
        ]
        assert {lead: (head(log, lead), stored(log, lead)) for lead in before} == before


@HALF
@given(stories(most_leads=2), st.data())
def test_a_rebuild_from_nothing_or_from_ruins_makes_the_rows_that_were_lived(
    story: Story, data: Any
):
    with lived(story) as log:
        for lead, history in story.distinct.items():
            rows = stored(log, lead)
            if rows:
                gone = data.draw(st.sets(st.sampled_from(sorted(rows)), min_size=1))
                ruin(log, lead, gone, forgotten=data.draw(st.booleans()))

            repaired = log.repairer.repair(lead, force=True)

            assert repaired.verified is not None
            assert repaired.verified.state == "equal"
            assert stored(log, lead) == rows == sorted_fold(history)
            assert head(log, lead).projected == head(log, lead).version == len(history)


@HALF
@given(stories(most_leads=2))
def test_rebuilding_what_is_right_writes_nothing_however_often(story: Story):
    with lived(story) as log:
        for lead in story.distinct:
            before = head(log, lead), stored(log, lead)
            for _ in range(2):
                assert log.repairer.repair(lead, force=True).written == 0
                assert (head(log, lead), stored(log, lead)) == before


@HALF
@given(stories(most_leads=1), st.lists(st.tuples(OCCURRED_BY, KNOWN_BY), min_size=4, max_size=4))
def test_memories_of_a_moment_are_those_of_the_events_that_counted_then(
    story: Story, moments: list[tuple[str | None, str | None]]
):
    with lived(story) as log:
        reads = Reads(log, lambda: NOW, "America/Sao_Paulo")
        ((lead, history),) = story.distinct.items()
        for as_of, known_at in moments:
            counted = [
                event
                for event in history
                if not (as_of and event.occurred_at > as_of)
                and not (known_at and event.received_at > known_at)
            ]

            found = reads.memories(
                ORGANIZATION,
                lead,
                moment=Moment(as_of=as_of, known_at=known_at),
                include_expired=True,
            )

            assert found == memories_of(counted, lead, as_of or known_at or NOW)


@HALF
@given(stories(most_leads=1))
def test_an_explanation_lists_exactly_the_events_that_touch_the_memory(story: Story):
    with lived(story) as log:
        reads = Reads(log, lambda: NOW, "America/Sao_Paulo")
        ((lead, history),) = story.distinct.items()
        touching: dict[tuple[str, str], list[LeadEvent]] = defaultdict(list)
        for event in sorted(history, key=lambda each: each.occurred_at_id):
            for row in sorted_fold([event]):
                memory_type, _, name = row.sk.partition("#")
                touching[memory_type, name].append(event)

        for memory in reads.memories(ORGANIZATION, lead, include_expired=True):
            told = reads.explain(ORGANIZATION, lead, memory.memory_type, memory.key)
            expected = touching[memory.memory_type, memory.key]

            assert [(step.event_id, step.sequence) for step in told.steps] == [
                (event.event_id, event.sequence) for event in expected
            ]
            assert told.memory == memory
            assert told.steps[-1].value == memory.value


class Faulty:
    """Memories, with a bug in one type of event."""

    name = MEMORIES.name
    handles = MEMORIES.handles

    def __init__(self, broken: str) -> None:
        self.broken = broken
        self.partitions, self.owns = MEMORIES.partitions, MEMORIES.owns
        self.keys, self.foreign_keys = MEMORIES.keys, MEMORIES.foreign_keys
        self.decode, self.encode = MEMORIES.decode, MEMORIES.encode

    def evolve(self, rows: Rows, event: LeadEvent) -> None:
        if event.event_type == self.broken:
            message = "a bug"
            raise ZeroDivisionError(message)
        MEMORIES.evolve(rows, event)


@HALF
@given(stories(), st.data())
def test_a_rebuild_leaves_work_that_waits_and_claims_that_stand(story: Story, data: Any):
    met = sorted({fact.event_type for call in story.calls for fact in call})
    faulty = Edition((Faulty(data.draw(st.sampled_from(met))),), FOLD_VERSION)
    with lived(through_addresses(story), faulty) as log:
        facts = [fact for call in through_addresses(story).calls for fact in call]
        maintenance = Maintenance(log)
        leads = sorted(maintenance.leads(ORGANIZATION))
        lagging, claims = set(maintenance.lagging()), guards(log, facts)
        heads = [head(log, lead) for lead in leads]

        states = [maintenance.rebuild(lead).state for lead in leads]

        assert set(maintenance.lagging()) == lagging
        assert guards(log, facts) == claims
        assert [head(log, lead) for lead in leads] == heads
        assert {lead for _, lead in lagging} == {
            lead for lead, state in zip(leads, states, strict=True) if state == "broken"
        }
        assert lagging
        assert len(claims) == 2 * len(leads)


@HALF
@given(stories(), st.data())
def test_after_the_bug_is_fixed_every_lead_catches_up_with_what_would_have_been_lived(
    story: Story, data: Any
):
    met = sorted({fact.event_type for call in story.calls for fact in call})
    faulty = Edition((Faulty(data.draw(st.sampled_from(met))),), FOLD_VERSION)
    with lived(story, faulty) as log:
        mended = SharedLog(log.factory)
        behind = {lead for _, lead in Maintenance(log).lagging()}
        for lead, history in story.distinct.items():
            states = mended.reader.view(lead, MEMORIES).states
            assert {
                key: MEMORIES.encode(lead, key, each) for key, each in states.items()
            } == sorted_fold(history), "readers fold what lags"

        swept = {each.lead: each.state for each in Maintenance(mended).sweep()}

        assert swept == dict.fromkeys(behind, "repaired")
        assert not list(Maintenance(mended).lagging())
        for lead, history in story.distinct.items():
            assert stored(mended, lead) == sorted_fold(history)
            assert mended.verifier.verify(lead).state == "equal"


def through_addresses(story: Story) -> Story:
    """The same story, told of addresses with an alias instead of leads."""

    def told(fact: NewEvent) -> NewEvent:
        name = str(fact.lead)
        address = Address(channel="web", identifier=name, aliases=(f"{name}-2",))
        return replace(fact, lead=None, address=address)

    return Story([[told(fact) for fact in call] for call in story.calls])


def ruin(log: SharedLog, lead: str, gone: Iterable[Key], *, forgotten: bool) -> None:
    """Take rows away behind the head's back, put one there, maybe give all of them up."""
    for key in gone:
        log.table.delete(key)
    stray = Row(keys.memory(lead, "purchase", "stray"), {"leadOrganizationId": lead, "cells": "{}"})
    log.table.put(stray)
    if forgotten:
        now = head(log, lead)
        given_up = replace(now, projected=0, rev=now.rev + 1)
        lag = Row(keys.lag(lead), {"leadOrganizationId": lead, "organizationId": ORGANIZATION})
        log.store.insert_events([], commit=Commit(head=PutHead(given_up, now.rev), puts=(lag,)))

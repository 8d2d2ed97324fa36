"""Events by the time they happened: bounds, types, both directions, pages."""

import itertools

import pytest
from eventsourcing.persistence import StoredEvent

from domain.errors import Rejected
from tests.support import make
from tests.support.make import LEAD

TYPES = ("a", "a_b", "a.b", "a1", "b")


@pytest.fixture
def history(recorder):
    """Twenty events on five moments, so that many tie, in an order of arrival of its own."""
    records = [
        make.record(
            number,
            event_type=TYPES[number % 5],
            occurred_at=make.instant(number * 7 % 5),
            event_id=make.event_id(LEAD, number * 13 % 20),
        )
        for number in range(1, 21)
    ]
    recorder.insert_events(records, commit=make.commit(records))
    other = make.record(1, lead="lead-two", event_type="a")
    recorder.insert_events([other], commit=make.commit([other]))
    return sorted(records, key=lambda each: (each.envelope.occurred_at, each.envelope.event_id))


def paged(recorder, *, limit, **query):
    found, cursor = [], None
    while True:
        page = recorder.select_by_time(LEAD, limit=limit, cursor=cursor, **query)
        assert len(page.items) == limit or page.cursor is None
        found += page.items
        cursor = page.cursor
        if cursor is None:
            return found


@pytest.mark.parametrize("desc", [False, True])
def test_events_are_listed_in_pages_by_time_and_then_by_id(recorder, history, desc):
    expected = history[::-1] if desc else history

    for limit in (3, 19, 20):
        assert paged(recorder, limit=limit, desc=desc) == expected, limit


def test_a_page_that_ends_the_list_names_no_place_to_go_on(recorder, history):
    for desc in (False, True):
        page = recorder.select_by_time(LEAD, limit=20, desc=desc)
        assert len(page.items) == 20
        assert page.cursor is None


@pytest.mark.parametrize("desc", [False, True])
def test_one_type_is_listed_without_those_whose_names_it_begins(recorder, history, desc):
    for event_type in TYPES:
        expected = [each for each in history if each.topic == event_type]
        expected = expected[::-1] if desc else expected
        for limit in (3, 4):
            found = paged(recorder, limit=limit, desc=desc, event_type=event_type)
            assert found == expected, (event_type, limit)
    assert recorder.select_by_time(LEAD, event_type="c").items == []


@pytest.mark.parametrize("desc", [False, True])
def test_since_is_inclusive_and_until_is_not(recorder, history, desc):
    spans = ((1, 3), (None, 2), (3, None), (2, 2), (3, 1), (9, None))
    for event_type, (since, until) in itertools.product((None, "a_b"), spans):
        expected = [
            each
            for each in history
            if event_type in {None, each.topic}
            and (since is None or each.envelope.occurred_at >= make.instant(since))
            and (until is None or each.envelope.occurred_at < make.instant(until))
        ]
        bounds = {
            "since": None if since is None else make.instant(since),
            "until": None if until is None else make.instant(until),
        }
        found = paged(recorder, limit=7, desc=desc, event_type=event_type, **bounds)
        assert found == (expected[::-1] if desc else expected), (event_type, since, until)


def test_events_that_tie_on_a_boundary_of_pages_are_each_listed_once(recorder):
    tied = [make.record(number, occurred_at=make.instant(0)) for number in range(1, 8)]
    recorder.insert_events(tied, commit=make.commit(tied))

    assert paged(recorder, limit=2) == tied
    assert paged(recorder, limit=2, desc=True) == tied[::-1]
    assert paged(recorder, limit=2, event_type="purchase_completed") == tied


def test_a_cursor_stays_good_while_events_arrive(recorder, history):
    first = recorder.select_by_time(LEAD, limit=10)
    late = make.record(21, event_type="a", occurred_at=make.instant(0), event_id="0")
    after = make.head(version=20, projected=20)
    recorder.insert_events([late], commit=make.commit([late], after=after))

    rest = recorder.select_by_time(LEAD, limit=20, cursor=first.cursor)

    assert first.items + rest.items == history
    assert rest.cursor is None


def test_a_cursor_never_leads_out_of_the_bounds_that_are_asked_for(recorder, history):
    forward = recorder.select_by_time(LEAD, limit=2).cursor
    backward = recorder.select_by_time(LEAD, limit=2, desc=True).cursor

    since = recorder.select_by_time(LEAD, since=make.instant(3), cursor=forward)
    until = recorder.select_by_time(LEAD, until=make.instant(2), cursor=backward, desc=True)

    assert since.items == [e for e in history if e.envelope.occurred_at >= make.instant(3)]
    assert until.items == [e for e in history if e.envelope.occurred_at < make.instant(2)][::-1]


def test_a_cursor_that_is_none_of_ours_is_refused(recorder, history):
    ours = recorder.select_by_time(LEAD, limit=1).cursor
    for garbage in ("", "x", "é", "e30", "W10", ours + "AAAA", ours[:-4], "\x00"):
        with pytest.raises(Rejected):
            recorder.select_by_time(LEAD, cursor=garbage)


def test_a_cursor_is_good_for_one_lead_type_and_direction_only(recorder, history):
    cursor = recorder.select_by_time(LEAD, limit=1, event_type="a").cursor
    listing = recorder.leads(make.ORGANIZATION, limit=1).cursor

    for query in (
        {"lead": "lead-two", "event_type": "a"},
        {"lead": LEAD, "event_type": "a_b"},
        {"lead": LEAD},
        {"lead": LEAD, "event_type": "a", "desc": True},
    ):
        with pytest.raises(Rejected):
            recorder.select_by_time(**query, cursor=cursor)
    with pytest.raises(Rejected):
        recorder.select_by_time(LEAD, cursor=listing)
    with pytest.raises(Rejected):
        recorder.leads(make.ORGANIZATION, limit=1, cursor=cursor)
    with pytest.raises(Rejected):
        recorder.leads("org-two", limit=1, cursor=listing)


def test_bare_events_happened_at_no_time(recorder):
    recorder.insert_events([StoredEvent(LEAD, 1, "a", b"state")])

    assert recorder.select_by_time(LEAD).items == []
    assert recorder.select_by_time(LEAD, event_type="a").items == []

"""What holds of the rows of conversations whatever the events say: the laws of every projection."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from domain import canonical, keys
from domain.conversation.session import Session
from domain.conversation.thread import Thread
from domain.event import LeadEvent
from domain.limits import check_key
from projections import ALL
from projections.conversations import CONVERSATIONS
from tests.support.conversation_strategies import TYPES, conversations
from tests.support.folds import cut, folded, live
from tests.support.strategies import LEAD


@given(conversations(), st.data())
def test_any_batching_of_a_conversation_ends_in_the_rows_of_a_rebuild(
    events: list[LeadEvent], data: Any
):
    assert live(cut(data, events)) == folded(events)


@given(conversations())
def test_a_conversation_lived_event_by_event_ends_in_the_rows_of_a_rebuild(events: list[LeadEvent]):
    assert live([[each] for each in events]) == folded(events)


@given(conversations())
def test_states_of_a_conversation_survive_storage(events: list[LeadEvent]):
    rows = {key: row for key, row in folded(events).items() if CONVERSATIONS.owns(key)}

    again = {
        key: CONVERSATIONS.encode(LEAD, key, CONVERSATIONS.decode(row)) for key, row in rows.items()
    }

    assert again == rows


@given(conversations())
def test_every_row_has_an_owner_and_stands_where_a_rebuild_looks_for_it(events: list[LeadEvent]):
    own = {partition for each in ALL for partition in each.partitions(LEAD)}
    elsewhere = {key for each in events for all_of in ALL for key in all_of.foreign_keys(each)}

    for key, row in folded(events).items():
        check_key(key.pk, key.sk)
        assert key.pk in own or key in elsewhere
        assert any(each.owns(key) for each in ALL)
        assert row.attributes["leadOrganizationId"] == LEAD


@given(conversations(max_size=10))
def test_folding_a_conversation_leaves_its_events_as_they_were(events: list[LeadEvent]):
    before = [canonical.dumps(each.payload) for each in events]

    folded([*events, *events])

    assert [canonical.dumps(each.payload) for each in events] == before


@given(conversations(min_size=5, max_size=60))
def test_a_lead_is_in_the_index_exactly_while_something_waits(events: list[LeadEvent]):
    row = folded(events).get(keys.latest_inbound(LEAD))

    if row is not None:
        thread = CONVERSATIONS.decode(row)
        assert isinstance(thread, Thread)
        waits = bool(thread.pending) or any(not each.parked for each in thread.outbox)
        assert (row.gsi1 is not None) == waits


@given(conversations(min_size=5, max_size=60))
def test_there_is_one_open_session_and_both_rows_name_it(events: list[LeadEvent]):
    rows = folded(events)
    threads = [CONVERSATIONS.decode(row) for key, row in rows.items() if key.sk == "LATEST_INBOUND"]
    active = rows.get(keys.active(LEAD))

    for thread in threads:
        session_id = thread.active_session_id
        assert (active is None) == (session_id is None)
        if session_id is not None:
            session = CONVERSATIONS.decode(rows[keys.session(LEAD, session_id)])
            assert isinstance(session, Session)
            assert active is not None
            assert active.attributes["session_id"] == session_id
            assert session.is_open
            assert thread.state == session.state


def test_the_strategy_draws_every_type_that_the_projection_handles():
    assert set(TYPES) == CONVERSATIONS.handles

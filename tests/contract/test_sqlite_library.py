"""The event store library's own suites for recorders, and its way of finding ours."""

import pytest
from eventsourcing.persistence import InfrastructureFactory, NotSupportedError, StoredEvent
from eventsourcing.tests import persistence as suites

from adapters.sqlite import Factory
from domain.errors import Rejected
from domain.records import LeadRecord
from tests.support import make
from tests.support.sqlite import on_sqlite


class TestAggregateRecorderSuite(suites.AggregateRecorderTestCase):
    def setUp(self):
        self.factory = self.enterContext(on_sqlite(":memory:"))

    def create_recorder(self):
        return self.factory.aggregate_recorder()


class TestApplicationRecorderSuite(suites.ApplicationRecorderTestCase):
    def setUp(self):
        self.factory = self.enterContext(on_sqlite(":memory:"))

    def new_originator_id(self):
        # A notification does not say of which type the id was, and ours are text.
        return str(super().new_originator_id())

    def create_recorder(self):
        return self.factory.application_recorder()

    def test_insert_subscribe(self):
        self.optional_test_insert_subscribe()


class TestNonInterleavingSuite(suites.NonInterleavingNotificationIDsBaseCase):
    def setUp(self):
        self.factory = self.enterContext(on_sqlite(":memory:"))

    def new_originator_id(self):
        return str(super().new_originator_id())

    def create_recorder(self):
        return self.factory.application_recorder()


@pytest.fixture
def factory(tmp_path):
    with on_sqlite(tmp_path / "leads.db") as made:
        yield made


def test_the_library_finds_the_one_factory_by_its_module(factory):
    assert type(factory) is Factory
    assert isinstance(factory, InfrastructureFactory)


def test_all_that_a_factory_gives_is_over_one_file(factory):
    write, row = make.write(), make.row(count=1)
    commit = make.commit([make.record(1)], puts=(row,))

    factory.aggregate_recorder().insert_events(write.events, commit=commit)

    assert factory.application_recorder().select_events(make.LEAD) == write.events
    assert factory.state_table().get(row.key) == row


def test_ids_are_told_by_the_application_recorder_alone(factory):
    first, second = make.write(), make.write(2, after=make.head())

    told = factory.application_recorder().insert_events(first.events, commit=first.commit)

    assert told == [1]
    assert factory.aggregate_recorder().insert_events(second.events, commit=second.commit) is None
    assert factory.application_recorder().max_notification_id() == 2


def test_a_commit_that_is_refused_takes_no_id(factory):
    recorder = factory.application_recorder()
    write = make.write()
    recorder.insert_events(write.events, commit=write.commit)
    recorder.insert_many([write])

    assert recorder.insert_events([StoredEvent("lead-two", 1, "topic", b"")]) == [2]


def test_events_inserted_bare_come_back_plain_beside_events_of_ours(factory):
    recorder = factory.aggregate_recorder()
    write = make.write()
    bare = StoredEvent(make.LEAD, 2, "thing_happened", b"\xff\x00 not text")
    recorder.insert_events(write.events, commit=write.commit)
    recorder.insert_events([bare])

    stream = recorder.select_events(make.LEAD)

    assert stream == [*write.events, bare]
    assert [type(event) for event in stream] == [LeadRecord, StoredEvent]


def test_notifications_tell_events_of_all_leads_in_order(factory):
    recorder = factory.application_recorder()
    for lead in ("lead-one", "lead-two"):
        write = make.write(lead=lead)
        recorder.insert_events(write.events, commit=write.commit)

    found = recorder.select_notifications(start=1, limit=5)

    assert [(each.id, each.originator_id, each.topic) for each in found] == [
        (1, "lead-one", "purchase_completed"),
        (2, "lead-two", "purchase_completed"),
    ]


def test_a_subscription_ends_with_what_went_wrong(tmp_path):
    with on_sqlite(tmp_path / "leads.db") as made:
        subscription = made.application_recorder().subscribe(gt=0)
        made.close()
        with subscription, pytest.raises(Exception, match="closed"):
            next(subscription)


def test_bare_events_of_two_leads_are_refused(factory):
    with pytest.raises(Rejected):
        factory.aggregate_recorder().insert_events(
            [StoredEvent("one", 1, "t", b""), StoredEvent("two", 1, "t", b"")]
        )


@pytest.mark.parametrize(
    "ask",
    [
        lambda factory: factory.tracking_recorder(),
        lambda factory: factory.process_recorder(),
        lambda factory: factory.aggregate_recorder(purpose="snapshots"),
    ],
)
def test_what_is_not_kept_is_refused_in_a_sentence(factory, ask):
    with pytest.raises(NotSupportedError, match=r"SQLite.*\."):
        ask(factory)

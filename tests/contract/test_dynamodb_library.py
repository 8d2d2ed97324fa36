"""The event store library's own suite for recorders, and its way of finding ours."""

import subprocess
import sys
from typing import Any

import pytest
from botocore.validate import ParamValidationDecorator
from eventsourcing.persistence import NotSupportedError, StoredEvent
from eventsourcing.tests import persistence as suites

from adapters.dynamodb import Factory
from domain.errors import Rejected, Unavailable
from tests.support import make
from tests.support.dynamodb import on_ministack, on_moto


class TestOnMinistack(suites.AggregateRecorderTestCase):
    @pytest.fixture(autouse=True)
    def engine(self, ministack, account):
        self.factory = self.enterContext(on_ministack(ministack, account))

    def create_recorder(self):
        return self.factory.aggregate_recorder()


class TestOnMoto(suites.AggregateRecorderTestCase):
    def setUp(self):
        self.factory = self.enterContext(on_moto())

    def create_recorder(self):
        return self.factory.aggregate_recorder()


@pytest.fixture
def factory():
    with on_moto() as factory:
        yield factory


def test_the_library_finds_the_one_factory_by_its_module(factory):
    assert type(factory) is Factory
    assert factory.application_recorder() is factory.recorder


def test_events_inserted_bare_come_back_as_they_went_in_beside_events_of_ours(factory):
    write = make.write(lead="mixed")
    bare = StoredEvent("mixed", 2, "thing_happened", b"\xff\x00 not text")
    factory.recorder.insert_events(write.events, commit=write.commit)
    factory.recorder.insert_events([bare])

    assert factory.recorder.select_events("mixed") == [*write.events, bare]
    assert factory.recorder.select_by_time("mixed").items == list(write.events)
    assert factory.recorder.snapshot("mixed").head.version == 2


def test_bare_events_of_two_leads_are_refused(factory):
    with pytest.raises(Rejected):
        factory.recorder.insert_events(
            [StoredEvent("one", 1, "t", b""), StoredEvent("two", 1, "t", b"")]
        )


@pytest.mark.parametrize(
    "ask",
    [
        lambda factory: factory.recorder.select_notifications(start=1, limit=10),
        lambda factory: factory.recorder.max_notification_id(),
        lambda factory: factory.recorder.subscribe(gt=0),
        lambda factory: factory.tracking_recorder(),
        lambda factory: factory.process_recorder(),
        lambda factory: factory.aggregate_recorder(purpose="snapshots"),
    ],
)
def test_what_needs_a_global_order_or_is_not_kept_is_refused_in_a_sentence(factory, ask):
    with pytest.raises(NotSupportedError, match=r"DynamoDB.*\."):
        ask(factory)


def test_the_package_loads_boto_only_when_a_factory_is_built():
    program = (
        "import sys, adapters.dynamodb, adapters.dynamodb.tables, adapters.actions\n"
        "assert not {'boto3', 'botocore'} & set(sys.modules)\n"
        "from eventsourcing.persistence import InfrastructureFactory as Factories\n"
        "Factories.construct({'PERSISTENCE_MODULE': 'adapters.dynamodb', 'AWS_REGION': 'eu-west-1'})\n"
        "assert 'boto3' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_names_and_settings_come_from_the_environment():
    factory = Factory(
        {
            "AWS_REGION": "sa-east-1",
            "LEADS_EVENTS_TABLE": "log",
            "DYNAMODB_TABLE": "state",
            "LEADS_SETTLE_SECONDS": "0.5",
        }
    )

    assert factory.names == ("log", "state")
    assert factory.recorder.settle_s == 0.5
    assert factory.client.meta.region_name == "sa-east-1"
    factory.close()


def test_a_missing_region_is_said_with_what_to_set(monkeypatch, tmp_path):
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))

    with pytest.raises(Unavailable, match="AWS_REGION"):
        Factory({})


@pytest.mark.parametrize(("setting", "validates"), [("", False), ("no", False), ("yes", True)])
def test_requests_are_validated_here_only_where_that_is_asked_for(setting, validates):
    env = {"AWS_REGION": "sa-east-1", "LEADS_DYNAMODB_VALIDATE": setting}
    factory = Factory(env)
    client: Any = factory.client

    assert isinstance(client._serializer, ParamValidationDecorator) is validates
    factory.close()

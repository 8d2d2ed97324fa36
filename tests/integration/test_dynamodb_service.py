import pytest

from adapters.clock import new_id
from domain.errors import NotFound
from handlers import demo_data
from handlers.api_keys import everything
from handlers.bootstrap import build, create_tables
from handlers.ingest import Sender
from handlers.reads import EventQuery, Moment
from handlers.settings import read_settings
from tests.support.faults import counted

ACME = Sender(organization_id="acme")


@pytest.fixture
def app(ministack, account, monkeypatch, tmp_path):
    for name, value in {
        "AWS_ENDPOINT_URL": ministack,
        "AWS_ACCESS_KEY_ID": account,
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    settings = read_settings({}, file=tmp_path / "none.toml", store="dynamodb", settle_seconds=0.0)
    assert len(create_tables(settings)) == 2
    app = build(settings, now=lambda: demo_data.NOW, ids=new_id, pause=lambda _: None)
    yield app
    app.close()


def test_what_the_service_does_on_a_file_it_does_on_dynamodb(app):
    documents = list(demo_data.generate(leads=4))
    items = app.ingest.batch(documents, ACME)
    again = app.ingest.batch(documents, ACME)
    leads = list(app.maintenance.leads("acme"))
    lead = next(each for each in leads if app.log.reader.head(each).version > 10)

    assert {each.status for each in items} == {"created", "duplicate", "conflict", "rejected"}
    assert {each.status for each in again} == {"duplicate", "conflict", "rejected"}
    assert {app.maintenance.verify(each).state for each in leads} == {"equal"}
    assert {app.maintenance.rebuild(each).written for each in leads} == {0}
    assert list(app.maintenance.lagging()) == []
    app.maintenance.ping()

    query = EventQuery(event_type="purchase_completed", limit=3)
    assert app.reads.events("acme", lead, EventQuery(limit=5)).items
    app.reads.events("acme", lead, query)
    assert app.reads.memories("acme", lead)
    assert app.reads.memories("acme", lead, moment=Moment(as_of=demo_data.NOW))
    assert app.reads.context("acme", lead, budget=200).tokens <= 200
    assert app.reads.features("acme", lead).features
    event = app.reads.event("acme", lead, 1)
    found = app.reads.event_by_key("acme", event.source, event.external_event_id)
    assert found.event_id == event.event_id


def test_records_and_refusals_are_the_same_on_dynamodb(app):
    token, key = app.api_keys.create("acme", sources=["hotmart"])
    assert app.api_keys.authenticate(f"Bearer {token}").sources == ("hotmart",)
    assert [each.key_id for each in app.api_keys.list("acme")] == [key.key_id]
    assert app.api_keys.list("other") == []
    broken = {"event": {"key": "purchase_completed", "data": {}}, "source": {}, "metadata": {}}
    (item,) = app.ingest.batch([broken], ACME)
    kept = app.quarantine.list("acme", now=demo_data.NOW).items
    assert [each.quarantine_id for each in kept] == [item.quarantine_id]
    assert everything("acme").organization_id == "acme"
    with pytest.raises(NotFound):
        app.reads.memories("acme", "nobody")
    # DynamoDB itself refuses the key; the stand-in would look.
    with counted(app.log.factory.client) as calls, pytest.raises(NotFound):
        app.reads.memories("acme", "n" * 3000)
    assert calls == []

import pytest

from adapters.clock import new_id
from handlers import demo_data
from handlers.bootstrap import build
from handlers.ingest import Sender
from handlers.settings import read_settings
from projections.folding import digest
from projections.verifying import stored_rows


@pytest.fixture
def app(tmp_path):
    settings = read_settings({}, file=tmp_path / "none.toml", db=tmp_path / "leads.db")
    app = build(settings, now=lambda: demo_data.NOW, ids=new_id, pause=lambda _: None)
    yield app
    app.close()


def test_the_demo_data_is_taken_in_as_advertised_and_verifies_after_a_rebuild(app):
    sender = Sender(organization_id="default")
    items = app.ingest.batch(demo_data.generate(), sender)
    statuses = {each.status for each in items}
    leads = list(app.maintenance.leads("default"))
    live = {lead: app.maintenance.verify(lead) for lead in leads}

    assert statuses == {"created", "duplicate", "conflict", "rejected"}
    assert sum(not each.mapped for each in items) == 1
    assert {each.state for each in live.values()} == {"equal"}
    for lead in leads:
        assert app.maintenance.rebuild(lead).written == 0
        assert app.maintenance.verify(lead).digest == live[lead].digest


def test_importing_the_demo_data_in_other_batches_makes_the_same_rows(app, tmp_path):
    sender = Sender(organization_id="default")
    events = [each for each in demo_data.generate(leads=8) if "leadOrganizationId" in each]
    app.ingest.batch(events, sender)
    other = build(
        read_settings({}, file=tmp_path / "none.toml", db=tmp_path / "other.db"),
        now=lambda: demo_data.NOW,
        ids=new_id,
        pause=lambda _: None,
    )
    for event in events:
        other.ingest.one(event, sender)

    def values(app, lead):
        return [
            (each.memory_type, each.key, each.value, each.confidence)
            for each in app.reads.memories("default", lead)
        ]

    leads = set(app.maintenance.leads("default"))
    assert leads == set(other.maintenance.leads("default"))
    assert all(values(app, lead) == values(other, lead) for lead in leads)
    assert digest(stored_rows(app.log.reader, demo_data.FIRST_LEAD, []))
    other.close()

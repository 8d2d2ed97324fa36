"""How a row and what was seen in the CRM differ: one class for each way, and nothing where they agree."""

from dataclasses import replace

import pytest

from domain.conversation.states import State
from domain.crm.desired import revision
from domain.crm.drift import Drift, Seen, find, of_a_deal, of_a_row, of_strangers
from domain.crm.replies import Remote
from domain.crm.sync import CrmSync
from domain.crm.visit import Configuration

NOW = "2026-03-20T12:00:00.000000Z"
LONG_AGO = "2026-03-20T11:44:59.000000Z"
STAGES = {
    "novo_lead": "1",
    "em_triagem": "2",
    "atendimento_humano": "3",
    "finalizado": "4",
    "perdido": "5",
}
CONFIG = Configuration(stages=STAGES)


def row(session="s-1", state=State.TRIAGE, **values) -> CrmSync:
    made = CrmSync(
        session_id=session,
        organization_id="default",
        state=state,
        contact={"name": "Ana Lima"},
        deal={"segment": "leite"},
        status="SYNCED",
        deal_id="9",
        contact_id="3",
        create_key=f"prod:{session}",
    )
    named = revision(made.desired)
    return replace(made, **{"revision": named, "confirmed_revision": named, **values})


def seen(deal_id="9", contacts=("3",), archived=False, known=True, **properties) -> Seen:
    usual = {"name": "Ana Lima", "segment": "leite", "stage": "2", "key": "prod:s-1"}
    kept = {name: value for name, value in {**usual, **properties}.items() if value}
    deal = Remote(id=deal_id, properties=kept, archived=archived, contact_ids=contacts)
    return Seen(deal=deal, contacts_known=known)


def classes(sync, each):
    return [drift.kind for drift in of_a_deal(sync, each, CONFIG)]


def test_a_row_and_a_deal_that_agree_differ_in_nothing():
    assert classes(row(), seen()) == []
    assert classes(row(), seen(name="Ana   Lima")) == []
    assert classes(row(), seen(key="prod:s-1#2")) == []
    assert list(of_a_row(row(), NOW)) == []
    assert list(of_strangers([seen()], [row()], CONFIG)) == []


@pytest.mark.parametrize(
    ("kind", "sync", "each"),
    [
        ("missing", row(), None),
        ("archived", row(), seen(archived=True)),
        ("merged", row(), seen("10")),
        ("unlinked", row(status="UNCERTAIN", deal_id="", creation_started=LONG_AGO), seen()),
        ("stage_behind", row(), seen(stage="1")),
        ("stage_ahead_human", row(), seen(stage="3")),
        ("stage_ahead_human", row(), seen(stage="77")),
        ("property_diff", row(), seen(segment="corte")),
        ("property_diff", row(), seen(key="")),
        ("association_missing", row(), seen(contacts=())),
        ("contact_mismatch", row(), seen(contacts=("4",))),
    ],
)
def test_each_difference_is_of_one_class(kind, sync, each):
    assert classes(sync, each) == [kind]


def test_what_is_on_its_way_is_not_compared():
    pending = row(status="PENDING", confirmed_revision="older")
    assert classes(pending, seen(stage="1", name="X", contacts=())) == []
    assert classes(pending, None) == ["missing"]
    assert classes(row(status="PENDING", deal_id=""), None) == []


def test_contacts_that_were_not_looked_at_are_not_missed():
    assert classes(row(), seen(contacts=(), known=False)) == []


@pytest.mark.parametrize(
    ("source", "app", "by", "kept"),
    [
        ("CRM_UI", "userId:1", "human", True),
        ("INTEGRATION", "app-1", "ours", False),
        ("INTEGRATION", "app-2", "other_app", True),
        ("", "", "unknown", True),
    ],
)
def test_who_wrote_a_value_decides_whether_it_may_stay(source, app, by, kept):
    changed = replace(
        seen(name="Outra"),
        sources={"name": source} if source else {},
        apps={"name": app, "key": "app-1"},
    )
    [told] = of_a_deal(row(), changed, CONFIG)
    assert (told.about, told.by, told.kept) == ("name", by, kept)


def test_what_is_ours_alone_may_not_stay_whoever_changed_it():
    sync = row(collected={"raca": "Gir"})
    sync = replace(sync, revision=revision(sync.desired), confirmed_revision=revision(sync.desired))
    changed = replace(seen(notes="nada"), sources={"notes": "CRM_UI"})
    [told] = of_a_deal(sync, changed, CONFIG)
    assert (told.about, told.by, told.kept) == ("notes", "human", False)


def test_a_property_that_people_emptied_is_ours_to_write():
    [told] = of_a_deal(row(), seen(name=""), CONFIG)
    assert (told.about, told.kept) == ("name", False)


@pytest.mark.parametrize(
    ("kind", "sync"),
    [
        ("synced_unconfirmed", row(confirmed_revision="older")),
        ("blocked_without_reason", row(status="BLOCKED")),
        ("uncertain_long", row(status="UNCERTAIN", uncertain_since=LONG_AGO)),
    ],
)
def test_a_row_that_contradicts_itself_is_told(kind, sync):
    [told] = of_a_row(sync, NOW)
    assert (told.kind, told.session_id) == (kind, "s-1")


def test_doubt_of_a_few_minutes_is_no_drift():
    assert list(of_a_row(row(status="UNCERTAIN", uncertain_since=NOW), NOW)) == []


def strangers(*deals, rows=None):
    return [
        (each.kind, each.session_id, each.deal_id)
        for each in of_strangers(deals, [row()] if rows is None else rows, CONFIG)
    ]


def test_a_deal_of_no_session_is_an_orphan_unless_another_deployment_has_it():
    assert strangers(seen(), seen("20", key="prod:s-9")) == [("orphan_remote", "", "20")]
    assert strangers(seen(), seen("20", key="staging:s-9")) == []
    assert strangers(seen(), seen("20", key="prod:s-1#2")) == []
    assert strangers(seen("20", key="prod:S-1".lower()), rows=[row("S-1", deal_id="")]) == []


def test_a_second_deal_of_one_key_is_a_twin():
    twins = [seen(), seen("20", archived=True)]
    assert strangers(*twins) == [("duplicate_key_twin", "s-1", "20")]


def test_a_deal_that_a_program_made_for_our_contact_without_a_key_is_a_twin():
    unkeyed = seen("20", key="")
    assert strangers(seen(), replace(unkeyed, by_app=True)) == [("unkeyed_twin", "", "20")]
    assert strangers(seen(), unkeyed) == []
    elsewhere = replace(seen("20", key="", contacts=("8",)), by_app=True)
    assert strangers(seen(), elsewhere) == []


def test_what_was_merged_into_a_session_s_deal_is_no_stranger():
    survivor = replace(seen("30"), merged=("9", "8"))
    assert find(row(), [survivor], CONFIG) == survivor
    assert strangers(survivor) == []


def test_a_session_s_deal_is_its_own_before_one_of_its_key_and_a_live_one_first():
    own, keyed = seen("9", key="x"), seen("10")
    assert find(row(), [keyed, own], CONFIG) == own
    gone = replace(own, deal=replace(own.deal, archived=True))
    assert find(row(), [gone, keyed], CONFIG) == keyed
    assert find(row(), [gone], CONFIG) == gone
    assert find(row(), [seen("20", key="prod:s-2")], CONFIG) is None
    assert find(row(deal_id=""), [seen("20", key="")], CONFIG) is None


def test_a_difference_names_no_value():
    told = [*of_a_deal(row(), seen(name="Outra Pessoa", segment="corte"), CONFIG)]
    assert len(told) == 2
    assert all(isinstance(each, Drift) for each in told)
    assert "Outra" not in str(told)
    assert "corte" not in str(told)

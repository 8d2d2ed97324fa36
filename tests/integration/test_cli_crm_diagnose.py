"""Drift between the mirror and the CRM: each class made once, told by the command, and healed by nothing."""

import json
from datetime import timedelta

import httpx2
import pytest

from adapters.clock import utc_now
from domain import keys
from domain.instants import shift
from domain.records import Row
from handlers.bootstrap.crm_operators import build_diagnosing
from handlers.settings import read_crm_settings
from handlers.simulators.hubspot import CONTACTS, DEALS, SESSION_KEY, STAGES
from tests.support.crm_desk import NAME, NOTE, PHONE, crm_desk, human_deal

OTHER = "5511955550143"


@pytest.fixture
def desk(leads):
    with crm_desk(leads) as desk:
        yield desk


@pytest.fixture
def synced(desk):
    """A confirmed row, and a second one that agrees with its deal whatever happens to the first."""
    desk.session(name=NAME)
    desk.turn(segment="leite", cadastral_data=json.dumps({"email": NOTE}))
    desk.session("s-2", phone=OTHER, name="Bia Rocha")
    assert desk("sync").code == 0
    assert {desk.row(each).status for each in ("s-1", "s-2")} == {"SYNCED"}
    return desk


def found(answer):
    """Classes by session, or by deal where nobody has it."""
    return {
        (each["class"], each["sessionId"] or each["dealId"]) for each in answer.document["drifts"]
    }


def look(desk, how, code=1):
    """Compare over the network, or with a file; whatever is found, nothing was changed."""
    writes = len(desk.account.journal.writes)
    if how == "remote":
        told = desk("diagnose", "--remote", "--contacts", "--json")
    else:
        file = desk.snapshot(desk.leads.folder / "deals.jsonl")
        asked = len(desk.account.journal)
        told = desk("diagnose", "--snapshot", file, "--json")
        assert len(desk.account.journal) == asked, "a file is compared without any network"
    assert told.code == code, told.out + told.err
    assert len(desk.account.journal.writes) == writes
    return told


both = pytest.mark.parametrize("how", ["remote", "snapshot"])


@both
def test_where_all_agree_it_is_clean(synced, how):
    told = look(synced, how, code=0)
    assert told.document["drifts"] == []
    assert (told.document["rows"], told.document["compared"]) == (2, 2)
    assert told.document["clean"] is True


def test_rows_alone_prove_nothing_and_say_so(synced):
    synced.account.people.archive(DEALS, synced.row().deal_id)
    asked = len(synced.account.journal)
    told = synced("diagnose", "--json")
    assert told.code == 0
    assert len(synced.account.journal) == asked
    assert "proves nothing" in told.document["proof"]
    assert told.document["asOf"] <= utc_now()
    assert "proves nothing" in synced("diagnose").err


def _deal(desk):
    return desk.row().deal_id


def _purged(desk):
    account, _ = desk.account._caught_up()
    account.tables[DEALS].drop(_deal(desk))


def _archived(desk):
    desk.account.people.archive(DEALS, _deal(desk))


def _merged(desk):
    desk.account.people.merge(DEALS, _deal(desk), human_deal(desk.account))


def _behind(desk):
    desk.account.people.move(_deal(desk), STAGES["novo_lead"])


def _renoted(desk):
    desk.account.people.edit(DEALS, _deal(desk), description="Segmento: leite\nAnotações:\noutra")


def _unassociated(desk):
    desk.account.people.dissociate(_deal(desk), desk.row().contact_id)


def _other_contact(desk):
    other = desk.account.people.create(CONTACTS, firstname="Caio")
    _unassociated(desk)
    asked = httpx2.put(
        f"{desk.account.url}/crm/objects/2026-09/deals/{_deal(desk)}"
        f"/associations/default/contacts/{other}",
        headers={"Authorization": f"Bearer {desk.account.token}"},
        trust_env=False,
    )
    assert asked.status_code == 200


@both
@pytest.mark.parametrize(
    ("kind", "happens"),
    [
        ("missing", _purged),
        ("archived", _archived),
        ("merged", _merged),
        ("stage_behind", _behind),
        ("property_diff", _renoted),
        ("association_missing", _unassociated),
        ("contact_mismatch", _other_contact),
    ],
)
def test_each_class_of_drift_is_told_of_the_session_it_is_about(synced, kind, happens, how):
    happens(synced)
    told = look(synced, how)
    assert (kind, "s-1") in found(told)
    assert {session for _, session in found(told)} == {"s-1"}
    if kind != "merged":
        assert {each for each, _ in found(told)} == {kind}


@both
def test_what_people_may_keep_is_told_and_is_no_drift(synced, how):
    synced.account.people.move(_deal(synced), STAGES["proposta"])
    synced.account.people.edit(DEALS, _deal(synced), dealname="Nome da pessoa")
    told = look(synced, how, code=0)
    assert found(told) == {("stage_ahead_human", "s-1"), ("property_diff", "s-1")}
    assert all(each["kept"] for each in told.document["drifts"])
    assert told.document["clean"] is True


def test_a_file_tells_who_wrote_what_differs(synced):
    deal = _deal(synced)
    synced.account.people.edit(DEALS, deal, dealname="Nome da pessoa")
    told = look(synced, "snapshot", code=0)
    assert [each["by"] for each in told.document["drifts"]] == ["human"]

    file = synced.leads.folder / "deals.jsonl"
    lines = [json.loads(each) for each in file.read_text().splitlines()]
    for line in lines[1:]:
        if line["id"] == deal:
            line["propertiesWithHistory"]["dealname"][0] |= {
                "sourceType": "INTEGRATION",
                "sourceId": "another-app",
            }
    file.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    told = synced("diagnose", "--snapshot", file, "--json")
    assert [each["by"] for each in told.document["drifts"]] == ["other_app"]


def test_a_creation_nobody_heard_of_is_found_by_its_key(desk):
    desk.session()
    desk.in_doubt(minutes=1)
    human_deal(desk.account, **{SESSION_KEY: "prod:s-1"})
    for how in ("remote", "snapshot"):
        assert found(look(desk, how)) == {("unlinked", "s-1")}


def test_deals_of_nobody_are_found_in_a_file(synced):
    orphan = human_deal(synced.account, **{SESSION_KEY: "prod:never-seen"})
    asked = httpx2.post(
        f"{synced.account.url}/crm/objects/2026-09/deals",
        headers={"Authorization": f"Bearer {synced.account.token}"},
        json={
            "properties": {"dealname": "x", "dealstage": "1000001", "pipeline": "default"},
            "associations": [
                {
                    "to": {"id": synced.row().contact_id},
                    "types": [{"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": 3}],
                }
            ],
        },
        trust_env=False,
    )
    told = look(synced, "snapshot")
    assert found(told) == {("orphan_remote", orphan), ("unkeyed_twin", asked.json()["id"])}


def test_an_archived_twin_of_a_key_is_found_in_a_file(leads):
    with crm_desk(leads, reserved=False) as desk:
        twin = human_deal(desk.account, **{SESSION_KEY: "prod:s-1"})
        desk.account.people.archive(DEALS, twin)
        desk.session()
        desk("sync")
        told = look(desk, "snapshot")
        assert [each["class"] for each in told.document["drifts"]] == ["duplicate_key_twin"]
        assert told.document["drifts"][0]["dealId"] == twin


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("row_differs", {"attempts": 7}),
        ("index_mismatch", {"gsi1": ("default#CRM_SYNC#BLOCKED", "x#s-1")}),
        ("synced_unconfirmed", {"confirmed_revision": "older"}),
        ("blocked_without_reason", {"status": "BLOCKED"}),
        ("link_unclaimed", {"deal_id": "424242"}),
    ],
)
def test_each_thing_a_row_may_have_wrong_in_itself_is_told_without_a_look_at_the_crm(
    synced, kind, changes
):
    synced.tamper(**changes)
    told = synced("diagnose", "--json")
    assert told.code == 1
    assert (kind, "s-1") in found(told)
    assert {session for _, session in found(told)} == {"s-1"}


def test_a_deal_that_is_another_session_s_by_its_claim_is_told(synced):
    synced.tamper(deal_id=synced.row("s-2").deal_id)
    assert ("link_of_another", "s-1") in found(synced("diagnose", "--json"))


def test_a_row_that_is_gone_is_told(synced):
    with synced.app() as app:
        app.table.delete(keys.crm_sync("s-1"))
    assert found(synced("diagnose", "--json")) == {("row_differs", "s-1")}


def test_doubt_that_lasts_and_a_worker_that_died_are_told(desk):
    desk.session()
    desk.in_doubt(minutes=20)
    until = shift(utc_now(), timedelta(minutes=-10))
    attributes = {"token": "w", "until": until, "version": "w.0", "taken_at": until, "sent": ""}
    with desk.app() as app:
        app.table.put(Row(keys.crm_lease("s-1"), attributes))
    told = desk("diagnose", "--json")
    assert found(told) == {("uncertain_long", "s-1"), ("lease_expired", "s-1")}
    assert told.code == 1


def test_only_rows_that_changed_since_are_looked_at(synced):
    synced.account.people.archive(DEALS, _deal(synced))
    later = shift(utc_now(), timedelta(minutes=1))
    told = synced("diagnose", "--remote", "--since", later, "--json")
    assert (told.code, told.document["rows"]) == (0, 0)
    assert synced("diagnose", "--remote", "--since", "1d", "--json").code == 1


def test_a_hundred_keys_are_read_by_one_request(desk):
    for number in range(3):
        desk.session(f"s-{number}", phone=f"551195555{number:04d}")
    desk("sync")
    desk.account.journal.clear()
    assert desk("diagnose", "--remote").code == 0
    reads = [each.path.rpartition("/2026-09/")[2] for each in desk.account.journal]
    assert reads.count("deals/batch/read") == 1
    assert not [each for each in reads if each.startswith("deals/9")]


def test_what_cannot_be_told_has_a_code_of_its_own(synced):
    folder = synced.leads.folder
    broken = folder / "broken.jsonl"
    broken.write_text('{"id": "1"}\nnot a deal\n')
    cases = (
        ("--remote", "--snapshot", broken),
        ("--contacts",),
        ("--snapshot", folder / "nowhere.jsonl"),
        ("--snapshot", broken),
        ("--since", "yesterday-ish"),
        ("--remote", "--org", " "),
    )
    for words in cases:
        assert synced("diagnose", *words).code == 2, words
    assert synced("diagnose", "--remote", HUBSPOT_TOKEN="").code == 2
    assert synced("diagnose", "--remote", HUBSPOT_TOKEN="outro").code == 2
    with synced.account.refusing():
        assert synced("diagnose", "--remote").code == 2
    assert "Line 2" in synced("diagnose", "--snapshot", broken).err


def test_a_report_is_a_table_or_a_line_of_json_for_each_difference(synced):
    _behind(synced)
    heading, drift = synced("diagnose", "--remote", "--jsonl").lines
    assert heading["against"] == "remote"
    assert heading["clean"] is False
    assert drift == {
        "class": "stage_behind",
        "sessionId": "s-1",
        "dealId": _deal(synced),
        "about": "stage",
        "by": "unknown",
        "kept": False,
    }
    assert f"stage_behind\ts-1\t{_deal(synced)}" in synced("diagnose", "--remote").out


def test_the_age_of_a_file_is_what_it_says_or_that_of_the_file(synced):
    file = synced.snapshot(synced.leads.folder / "deals.jsonl")
    told = synced("diagnose", "--snapshot", file, "--json").document
    assert told["asOf"] == "2026-03-20T12:00:00.000000Z"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[1:]))
    told = synced("diagnose", "--snapshot", file, "--json").document
    assert shift(utc_now(), timedelta(minutes=-1)) < told["asOf"] <= utc_now()


def test_nothing_that_anybody_wrote_is_in_a_report_or_a_log(synced, capfd):
    canaries = {PHONE, PHONE[2:], NOTE, *NAME.split(), "Nome", "pessoa"}
    _renoted(synced)
    synced.account.people.edit(DEALS, _deal(synced), dealname="Nome da pessoa")
    file = synced.snapshot(synced.leads.folder / "deals.jsonl")
    assert NAME.split()[0] in file.read_text(), "what must not come out went in"
    told = [
        synced("diagnose", *how, form)
        for form in ("--json", "--jsonl", "--debug")
        for how in (("--remote", "--contacts"), ("--snapshot", file), ())
    ]
    synced.account.configure(access=())
    told.append(synced("diagnose", "--remote", "--debug"))
    logged = capfd.readouterr()
    texts = [each.out + each.err for each in told] + [logged.out, logged.err]
    assert any("property_diff" in text for text in texts)
    for text in texts:
        assert not [each for each in canaries if each in text], text


def test_an_account_without_keys_is_compared_by_the_ids_of_its_deals(leads):
    with crm_desk(leads, keys=False) as desk:
        for session, phone in (("s-1", PHONE), ("s-2", OTHER), ("s-3", "5511955550144")):
            desk.session(session, phone=phone)
        assert desk("sync").code == 0
        assert look(desk, "remote", code=0).document["compared"] == 3

        _merged(desk)
        desk.account.people.archive(DEALS, desk.row("s-2").deal_id)
        assert found(look(desk, "remote")) >= {("merged", "s-1"), ("archived", "s-2")}


def test_what_compares_has_no_way_to_change_anything(synced):
    settings = read_crm_settings(synced.env, file=synced.leads.folder / "none.toml")
    with synced.app() as app:
        diagnosing = build_diagnosing(app, settings, remote=True)
        assert diagnosing.account is not None
        refused = diagnosing.account.crm.update_deal(_deal(synced), {"name": "outro"})
        diagnosing.close()
    assert refused.reason == "read_only"
    assert not [each for each in synced.account.journal.writes if each.method == "PATCH"]

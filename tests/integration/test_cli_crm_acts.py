"""What operators set right about the mirror, at the command line, against the HubSpot of a laptop."""

import json
from datetime import timedelta

import pytest

from domain import keys
from domain.records import Identity, Row
from handlers.simulators.hubspot import DEALS, REPLY_LOST, SESSION_KEY, STAGES
from projections.folding import identities_of
from tests.support.crm_desk import APPLY, NAME, crm_desk, human_deal


@pytest.fixture
def desk(leads):
    with crm_desk(leads) as desk:
        yield desk


def etag(desk, session="s-1"):
    return desk.json("show", session)["row"]["etag"]


def synced(desk, session="s-1", **said):
    desk.session(session, **said)
    assert desk("sync").code == 0
    return desk.row(session)


def archived(desk, session="s-1"):
    """A row that is blocked because a person deleted its deal."""
    deal_id = synced(desk, session).deal_id
    desk.account.people.archive(DEALS, deal_id)
    desk.turn(session, intent="compra")
    assert desk("sync").code == 4
    assert desk.row(session).blocked_reason == "deal_archived"
    return deal_id


def conservative(desk, minutes=30.0):
    desk.session()
    desk.in_doubt(mode="conservative", minutes=minutes)


def _blocked(desk):
    desk.session()
    desk.blocked()


def _doubtful(desk):
    desk.session()
    desk.in_doubt()


def _pending(desk):
    desk.session()
    return human_deal(desk.account)


RELEASE = ("release", "s-1", "--checked-absent", "--evidence", "Busca por telefone: nada")
RECREATE = ("recreate", "s-1", "--i-know-the-deal-was-deleted")
DEAL = "the deal a person made"
ACTS = {
    "retry": (_blocked, ("retry", "s-1")),
    "reconcile": (_doubtful, ("reconcile", "s-1")),
    "release": (conservative, RELEASE),
    "adopt": (_pending, ("adopt", "s-1", "--deal-id", DEAL)),
    "recreate": (archived, RECREATE),
    "unlink": (synced, ("unlink", "s-1")),
}


@pytest.fixture(params=ACTS)
def prepared(request, desk):
    """A row that one act is for, and the words of the act."""
    prepare, words = ACTS[request.param]
    made = prepare(desk)
    return request.param, tuple(made if each is DEAL else each for each in words)


def test_an_act_that_is_not_applied_says_what_would_happen_and_changes_nothing(desk, prepared):
    name, words = prepared
    before, writes = desk.row(), len(desk.account.journal.writes)
    told = desk.json(*words)

    assert (told["action"], told["applied"], told["was"]["etag"]) == (name, False, etag(desk))
    assert told["after"] == ("UNCERTAIN" if name == "reconcile" else "PENDING")
    assert desk.row() == before
    assert desk.acts() == []
    assert len(desk.account.journal.writes) == writes


def test_an_act_on_another_row_than_was_seen_is_refused_and_says_what_stands(desk, prepared):
    name, words = prepared
    seen = etag(desk)
    desk.turn(intent=f"mudou antes de {name}")
    before, writes = desk.row(), len(desk.account.journal.writes)

    refused = desk(*words, *APPLY, "--etag", seen, "--json")

    assert refused.code == 4
    assert refused.document["error"] == "crm_row_changed"
    assert refused.document["now"]["etag"] == etag(desk) != seen
    assert "/problems/crm_row_changed" in refused.err
    assert desk.row() == before
    assert desk.acts() == []
    assert len(desk.account.journal.writes) == writes


def test_an_act_that_is_applied_leaves_one_event_with_who_and_why(desk, prepared):
    name, words = prepared
    done = desk(*words, *APPLY, "--etag", etag(desk))

    assert done.code == 0, done.err
    [act] = desk.acts()
    assert act.source == "crm_sync"
    assert act.external_event_id.startswith(f"s-1:{name}:")
    told = {each: act.payload[each] for each in ("action", "operator", "reason", "sessionId")}
    assert told == {
        "action": name,
        "operator": "ana",
        "reason": "Conferido no CRM",
        "sessionId": "s-1",
    }
    with desk.app() as app:
        assert app.table.get(keys.crm_lease("s-1")) is None, "the row is given back"


def test_an_act_is_not_applied_without_a_reason_and_an_operator(desk, prepared):
    _, words = prepared
    for given in (("--apply",), ("--apply", "--reason", " "), (*APPLY[:3], "--operator", " ")):
        refused = desk(*words, *given)
        assert refused.code == 2
        assert "is needed" in refused.err
    assert desk.acts() == []


def test_an_act_waits_for_the_worker_that_is_at_the_row(desk, prepared):
    _, words = prepared
    key = keys.crm_lease("s-1")
    held = {"token": "w", "until": "2099-01-01T00:00:00.000000Z", "version": "w.0"}
    with desk.app() as app:
        app.table.put(Row(key, {**held, "taken_at": "2026-01-01T00:00:00.000000Z", "sent": ""}))

    refused = desk(*words, *APPLY)

    assert refused.code == 4
    assert "/problems/crm_row_at_work" in refused.err
    assert desk.acts() == []
    with desk.app() as app:
        assert app.table.get(key).attributes["token"] == "w"


def test_acts_on_sessions_that_nobody_has_or_another_organization_has_are_not_found(desk):
    _blocked(desk)
    for words in (("retry", "nobody"), ("unlink", "nobody"), ("show", "nobody"), RELEASE[:1]):
        told = desk(*words, *(("nobody", *RELEASE[2:]) if words == ("release",) else ()))
        assert told.code == 3
    assert desk("retry", "s-1", "--org", "another", *APPLY).code == 3
    assert desk.acts() == []


def test_what_is_tried_again_is_worked_on_at_once(desk):
    _blocked(desk)
    assert desk("retry", "s-1", *APPLY).code == 0
    assert desk("sync").code == 0
    assert desk.row().status == "SYNCED"


def test_all_that_is_blocked_for_one_reason_is_tried_again_and_nothing_else(desk):
    for session, reason in (("s-1", "validation"), ("s-2", "validation"), ("s-3", "deal_missing")):
        desk.session(session)
        desk.blocked(session, reason)

    foretold = desk.json("retry", "--blocked-reason", "validation")
    assert [each["sessionId"] for each in foretold["acts"]] == ["s-1", "s-2"]
    assert desk.row("s-1").status == "BLOCKED"

    done = desk.json("retry", "--blocked-reason", "validation", *APPLY)
    assert {each["after"] for each in done["acts"]} == {"PENDING"}
    assert [desk.row(each).status for each in ("s-1", "s-2", "s-3")] == [
        "PENDING",
        "PENDING",
        "BLOCKED",
    ]


def test_one_of_several_that_is_refused_stops_no_other(desk):
    _blocked(desk)
    synced(desk, "s-2", phone="5511955550143")
    done = desk("retry", "s-2", "nobody", "s-1", *APPLY, "--json")

    assert done.code == 6
    problems = {each["sessionId"]: each.get("problem") for each in done.document["acts"]}
    assert problems == {"s-2": "crm_act_refused", "nobody": "not-found", "s-1": None}
    assert desk.row("s-1").status == "PENDING"


def test_which_rows_are_meant_has_to_be_clear(desk):
    _blocked(desk)
    for words in (
        ("retry",),
        ("retry", "s-1", "--blocked-reason", "x"),
        ("retry", "s-1", "s-2", "--etag", "e"),
        ("reconcile",),
        ("reconcile", "s-1", "--all-uncertain"),
        ("release", "s-1"),
        ("release", "s-1", "--checked-absent"),
        ("recreate", "s-1"),
    ):
        assert desk(*words, *APPLY).code == 2
    assert desk.acts() == []


def test_a_creation_in_doubt_is_looked_up_and_heals_at_once(desk):
    desk.session()
    desk.account.script(REPLY_LOST, method="POST", path="*/deals")
    assert desk("sync").code == 4
    assert desk.row().status == "UNCERTAIN"

    done = desk.json("reconcile", "--all-uncertain", *APPLY)

    [act] = done["acts"]
    assert (act["then"], act["after"]) == ("synced", "SYNCED")
    assert desk.row().deal_id == desk.deal_of().id
    assert len(desk.account.deals()) == 1


def test_what_was_created_without_a_key_is_not_reconciled_but_released(desk):
    conservative(desk)
    refused = desk("reconcile", "s-1", *APPLY)
    assert refused.code == 4
    assert "leads crm release" in refused.err

    assert desk(*RELEASE, *APPLY).code == 0
    assert desk.acts()[0].payload["evidence"] == "Busca por telefone: nada"
    assert desk("sync").code == 0
    assert desk.row().deal_id == desk.deal_of().id


def test_the_deals_a_creation_in_doubt_may_have_made_are_named_to_who_has_to_choose(desk):
    taken = synced(desk, "s-2")
    conservative(desk)
    linked = {"contact_id": taken.contact_id, "how": "found"}
    desk.mirror("s-1", "crm_contact_linked", ago=timedelta(minutes=1), **linked)
    asked = ("reconcile", "s-1", *APPLY)
    assert "no deal of its contact" in desk(*asked).err

    values = {"dealstage": STAGES["em_triagem"], "pipeline": "default"}
    deals = [
        desk.account.people.create_deal(taken.contact_id, dealname=name, **values)
        for name in ("Outra", NAME, NAME)
    ]
    gone = deals.pop()
    desk.account.people.archive(DEALS, gone)
    before = len(desk.account.journal.writes)
    refused = desk(*asked)
    assert refused.code == 4
    assert f"{deals[1]} (named alike), {deals[0]}. " in refused.err
    assert not any(each in refused.err for each in (taken.deal_id, gone, NAME))
    many = desk("reconcile", "--all-uncertain", *APPLY)
    assert (many.code, f"{deals[1]} (named alike), {deals[0]}. " in many.out) == (6, True)
    assert len(desk.account.journal.writes) == before
    assert desk.acts() == []
    assert desk("adopt", "s-1", "--deal-id", deals[1], *APPLY).code == 0


def test_who_has_to_choose_is_told_so_where_the_account_does_not_answer(desk):
    conservative(desk)
    desk.mirror("s-1", "crm_contact_linked", ago=timedelta(minutes=1), contact_id="1", how="found")
    with desk.account.refusing():
        refused = desk("reconcile", "s-1", *APPLY)
    assert (refused.code, "Search the CRM" in refused.err) == (4, True)


def test_a_release_is_refused_within_ten_minutes_and_where_the_key_finds_a_deal(desk):
    conservative(desk, minutes=9)
    assert "ten minutes" in desk(*RELEASE, *APPLY).err
    assert desk.acts() == []

    desk.session("s-2")
    desk.in_doubt("s-2", mode="conservative")
    deal = human_deal(desk.account, **{SESSION_KEY: "prod:s-2"})
    refused = desk("release", "s-2", *RELEASE[2:], *APPLY)
    assert refused.code == 4
    assert deal in refused.err
    desk.account.people.archive(DEALS, deal)
    assert desk("release", "s-2", *RELEASE[2:], *APPLY).code == 4
    assert desk.acts("s-2") == []


def test_an_adopted_deal_is_the_session_s_has_its_key_and_keeps_what_people_wrote(desk):
    desk.session()
    deal = human_deal(desk.account, dealname="Nome da pessoa")
    done = desk.json("adopt", "s-1", "--deal-id", deal, *APPLY)

    assert done["then"] == "key_written"
    assert desk.deal_of().id == deal
    assert desk("sync").code == 0
    row = desk.row()
    assert (row.status, row.deal_id) == ("SYNCED", deal)
    [only] = desk.account.deals()
    assert only.values["dealname"] == "Nome da pessoa"
    assert desk.account.contacts_of(deal) == [row.contact_id]
    with desk.app() as app:
        claimed = app.log.reader.recorder.resolve([keys.crm_deal("default", deal)])
    assert list(claimed.values()) == ["s-1"]


def test_a_deal_of_another_session_is_not_adopted_by_its_key_or_by_its_link(desk):
    held = synced(desk, "s-2", phone="5511955550143").deal_id
    desk.session("s-1")
    by_key = desk("adopt", "s-1", "--deal-id", held, *APPLY)
    assert by_key.code == 4
    assert "crm_act_refused" in by_key.err

    desk.account.people.edit(DEALS, held, **{SESSION_KEY: ""})
    for apply in ((), APPLY):
        by_link = desk("adopt", "s-1", "--deal-id", held, *apply)
        assert by_link.code == 4
        assert "claim-taken" in by_link.err
    assert desk.acts("s-1") == []
    assert desk.account.deals()[0].values.get(SESSION_KEY, "") == ""


def test_a_deal_that_is_archived_or_unknown_is_not_adopted(desk):
    desk.session()
    deal = human_deal(desk.account)
    desk.account.people.archive(DEALS, deal)
    assert desk("adopt", "s-1", "--deal-id", deal, *APPLY).code == 4
    assert desk("adopt", "s-1", "--deal-id", "424242", *APPLY).code == 3
    assert desk.acts() == []


def test_a_deal_that_was_merged_is_adopted_as_what_is_left_of_it(desk):
    desk.session()
    first, second = human_deal(desk.account), human_deal(desk.account)
    left = desk.account.people.merge(DEALS, first, second)
    assert desk("adopt", "s-1", "--deal-id", first, *APPLY).code == 0
    assert desk.row().deal_id == left


def test_a_deal_in_place_of_an_archived_one_gets_a_key_of_its_own(desk):
    archived(desk)
    deal = human_deal(desk.account)
    assert desk.json("adopt", "s-1", "--deal-id", deal, *APPLY)["then"] == "key_written"
    assert desk("sync").code == 0
    assert desk.row().status == "SYNCED"
    assert desk.account.deals()[0].values[SESSION_KEY] == "prod:s-1#2"


def test_a_deal_is_created_again_only_after_people_took_it_away(desk):
    synced(desk)
    desk.blocked(reason="validation")
    assert desk(*RECREATE, *APPLY).code == 4
    assert desk.acts() == []


def test_a_deal_that_was_restored_is_not_created_again(desk):
    deal = archived(desk)
    desk.account.people.restore(DEALS, deal)
    refused = desk(*RECREATE, *APPLY)
    assert refused.code == 4
    assert "there again" in refused.err
    assert desk.acts() == []


def test_another_deal_is_created_in_place_of_an_archived_one(desk):
    gone = archived(desk)
    assert desk(*RECREATE, *APPLY).code == 0
    assert desk("sync").code == 0
    row = desk.row()
    assert (row.status, row.deal_id != gone) == ("SYNCED", True)
    assert desk.account.deals()[0].values[SESSION_KEY] == "prod:s-1#2"


def test_an_unlinked_session_gets_a_deal_of_its_own_and_leaves_the_first_one_as_it_was(desk):
    first = synced(desk).deal_id
    assert desk("unlink", "s-1", *APPLY).code == 0
    assert desk("sync").code == 0
    assert desk.row().deal_id not in {"", first}
    assert len(desk.account.deals()) == 2
    again = desk("unlink", "s-1", *APPLY, "--json")
    assert again.code == 0
    assert json.loads(again.out)["after"] == "PENDING"


def test_a_deal_that_was_unlinked_is_adopted_by_another_session_and_only_then(desk):
    first = synced(desk).deal_id
    desk.session("s-2", phone="5511955550143")
    words = ("adopt", "s-2", "--deal-id", first, *APPLY)
    assert desk(*words).code == 4
    assert desk("unlink", "s-1", *APPLY).code == 0
    assert desk.json(*words)["then"] == "key_stands"
    assert desk("sync").code == 0

    rows = {each: desk.row(each) for each in ("s-1", "s-2")}
    assert {each.status for each in rows.values()} == {"SYNCED"}
    assert rows["s-2"].deal_id == first != rows["s-1"].deal_id
    assert len(desk.account.deals()) == 2
    assert desk("diagnose").code == 0
    assert desk("diagnose", "--remote").code == 0


def test_the_events_of_acts_claim_a_deal_and_release_it_so_that_a_repair_can(desk):
    desk.session()
    deal = human_deal(desk.account)
    desk("adopt", "s-1", "--deal-id", deal, *APPLY)
    [act] = desk.acts()
    assert identities_of(act) == [Identity(keys.crm_deal("default", deal), "s-1")]
    desk("unlink", "s-1", *APPLY)
    released = keys.crm_deal_release("default", deal, 1)
    assert identities_of(desk.acts()[1]) == [Identity(released, "s-1")]


def test_an_account_that_does_not_answer_lets_nothing_be_decided(desk):
    desk.session()
    deal = human_deal(desk.account)
    with desk.account.refusing():
        refused = desk("adopt", "s-1", "--deal-id", deal, *APPLY)
    assert refused.code == 5
    nobody = desk("adopt", "s-1", "--deal-id", deal, *APPLY, HUBSPOT_TOKEN="")
    assert nobody.code == 2
    assert desk.acts() == []


def test_a_mirror_that_is_turned_off_writes_no_key(desk):
    desk.session()
    deal = human_deal(desk.account)
    words = ("adopt", "s-1", "--deal-id", deal, *APPLY)
    assert desk.json(*words, HUBSPOT_ENABLED="false")["then"] == "key_later"
    assert desk.account.journal.writes == []
    assert desk("sync").code == 0
    assert desk.deal_of().id == deal


def test_a_deal_that_was_restored_without_its_key_is_found_by_its_id(desk):
    deal = archived(desk)
    desk.account.people.restore(DEALS, deal)
    desk.account.people.edit(DEALS, deal, **{SESSION_KEY: ""})
    assert desk(*RECREATE, *APPLY).code == 4
    assert desk.acts() == []

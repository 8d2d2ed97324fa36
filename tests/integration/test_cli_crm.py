"""How the mirror stands, at the command line, against the HubSpot that fits on a laptop."""

from datetime import timedelta

import pytest

from handlers.crm.audit import Audit
from handlers.simulators.hubspot import FAILING, SCOPES, STAGES, Access
from tests.support.crm_desk import APPLY, NAME, NOTE, PHONE, crm_desk

TOLD_NOTHING = (PHONE, PHONE[2:], NAME, NAME.split()[1], NOTE)


@pytest.fixture
def desk(leads):
    with crm_desk(leads) as desk:
        yield desk


def test_rows_are_counted_by_status_with_the_oldest_and_the_reasons(desk):
    for session in ("s-1", "s-2", "s-3", "s-4"):
        desk.session(session)
    desk.blocked("s-2", "stage_missing")
    desk.in_doubt("s-3")

    told = desk.json("status")

    assert [told[name] for name in ("pending", "uncertain", "blocked", "verifying")] == [2, 1, 1, 0]
    assert told["blockedReasons"] == {"stage_missing": 1}
    assert told["oldestSince"] == desk.row("s-1").pending_since == told["oldestPending"]
    assert told["rest"] is None


def test_problems_are_listed_the_oldest_first_and_by_status(desk):
    for session in ("s-1", "s-2", "s-3"):
        desk.session(session)
    desk.in_doubt("s-2")

    listed = desk.json("status", "--list")["rows"]
    assert [each["sessionId"] for each in listed] == ["s-1", "s-2", "s-3"]
    doubtful = desk.json("status", "--status", "uncertain")["rows"]
    assert [(each["sessionId"], each["error"]) for each in doubtful] == [
        ("s-2", "creation_result_unknown")
    ]
    assert desk("status", "--status", "LOST").code == 2
    assert desk.json("status", "--list", "--org", "another")["rows"] == []


def test_a_row_is_shown_with_its_attempts_their_correlation_ids_and_no_content(desk):
    desk.session()
    desk.turn(segment="leite", cadastral_data=f'{{"email":"{NOTE}"}}')
    desk.account.script(FAILING, method="POST", path="*/contacts")
    desk("sync")
    shown = desk.json("show", "s-1")

    assert shown["row"]["status"] == "PENDING"
    assert shown["row"]["etag"]
    [failed] = [each for each in shown["steps"] if each["eventType"] == "crm_sync_deferred"]
    assert failed["told"]["errorClass"] == "AMBIGUOUS"
    assert failed["told"]["httpStatus"] >= 500
    assert failed["told"]["correlation"]
    desk("retry", "s-1", *APPLY)
    told = desk("show", "s-1")
    assert "crm_operator_action" in told.out
    assert "Conferido no CRM" in told.out
    assert desk.json("show", "s-1")["row"]["etag"] in told.err
    for text in TOLD_NOTHING:
        assert text not in told.out + told.err + str(shown)


def test_a_run_by_hand_works_on_what_is_due_once(desk):
    desk.session()
    done = desk.json("sync")
    assert (done["rows"], done["endings"], done["stopped"]) == (1, {"synced": 1}, None)
    assert desk.row().status == "SYNCED"
    assert desk.json("sync")["rows"] == 0


def test_one_row_is_worked_on_by_hand_due_or_not(desk):
    desk.session()
    desk.session("s-2", phone="5511955550143")
    assert desk.json("sync", "s-2") == {"sessionId": "s-2", "ending": "synced"}
    assert desk.row("s-1").status == "PENDING"
    assert desk("sync", "nobody").code == 3


def test_a_run_that_needs_a_person_or_an_account_says_so_by_its_code(desk):
    desk.session()
    desk.account.configure(access=(Access(token="another"),))
    assert desk("sync").code == 5
    assert desk.row().status == "PENDING"
    assert desk.json("status")["rest"]["why"] == "breaker"
    assert desk("sync", HUBSPOT_TOKEN="").code == 2
    assert desk.json("sync", HUBSPOT_ENABLED="false")["stopped"] == "disabled"


def test_an_account_is_paused_and_resumed_by_name_and_only_when_told_to(desk):
    desk.session()
    assert desk.json("pause")["rest"] is None
    assert desk("pause", "--apply", "--operator", "ana").code == 2
    rest = desk.json("pause", *APPLY)["rest"]
    assert (rest["why"], rest["reason"], rest["operator"], rest["until"]) == (
        "manual",
        "Conferido no CRM",
        "ana",
        None,
    )
    assert desk("sync").code == 5
    assert desk.account.journal.of() == []
    assert desk.json("status")["rest"]["operator"] == "ana"

    assert desk.json("resume") == {"applied": False, "rested": True}
    assert desk("sync").code == 5
    assert desk.json("resume", *APPLY) == {"applied": True, "rested": True}
    assert desk("sync").code == 0
    assert desk.json("resume", *APPLY)["rested"] is False


def test_who_let_an_account_rest_and_why_is_kept(desk):
    desk.session()
    desk("pause")
    desk("pause", *APPLY)
    desk("resume", *APPLY)
    app = desk.leads.app()
    kept = Audit(table=app.table, now=app.now, new_id=app.new_id).list_recent("default").items
    app.close()

    assert [(each.attributes["action"], each.attributes["operator"]) for each in kept] == [
        ("crm_resume", "ana"),
        ("crm_pause", "ana"),
    ]
    assert {each.attributes["reason"] for each in kept} == {"Conferido no CRM"}


def test_an_account_is_prepared_once_and_only_when_told_to(leads):
    with crm_desk(leads, keys=False) as desk:
        before = desk.json("bootstrap")
        assert [each["state"] for each in before["properties"]] == ["missing", "missing"]
        assert desk.account.journal.writes == []
        assert {each["stage"]: each["id"] for each in before["stages"]} == {
            name: stage for name, stage in STAGES.items() if name != "proposta"
        }

        made = desk.json("bootstrap", "--apply")
        assert [each["state"] for each in made["properties"]] == ["created", "created"]
        assert len(desk.account.journal.writes) == 2
        again = desk.json("bootstrap", "--apply")
        assert [each["state"] for each in again["properties"]] == ["stands", "stands"]
        assert len(desk.account.journal.writes) == 2
        assert desk("bootstrap", HUBSPOT_TOKEN="").code == 2


def test_who_may_not_declare_properties_is_told(leads):
    reader = Access(
        token="leitor", scopes=frozenset(each for each in SCOPES if "schemas" not in each)
    )
    with crm_desk(leads, keys=False, access=(reader,)) as desk:
        told = desk("bootstrap", "--apply", "--json")
        assert told.code == 5
        assert {each["reason"] for each in told.document["properties"]} == {"scopes_missing"}


def checks(answer):
    return {(each["check"], each["state"]) for each in answer.document["checks"]}


def test_an_account_in_order_is_well(desk):
    told = desk("doctor", "--json")
    assert told.code == 0
    assert told.document["healthy"] is True
    assert checks(told) == {
        (check, "ok") for check in ("address", "stages", "scopes", "keys", "limits")
    }
    assert desk.account.journal.writes == []


def test_a_setting_that_is_ignored_is_told(desk):
    told = desk("doctor", HUBSPOT_RETRY_MAX="3")
    assert told.code == 0
    assert "HUBSPOT_RETRY_MAX is read and ignored" in told.out
    assert "HUBSPOT_RETRY_MAX" not in desk("doctor").out


def test_each_thing_that_keeps_the_mirror_from_its_work_is_named(desk, leads):
    def told(check, state, says, **env):
        answer = desk("doctor", "--json", **env)
        found = [each for each in answer.document["checks"] if each["check"] == check]
        assert (state, True) in {(each["state"], says in each["detail"]) for each in found}, (
            answer.out
        )
        return answer.code

    assert told("token", "wrong", "is not set", HUBSPOT_TOKEN="") == 4
    assert told("token", "wrong", "token_refused", HUBSPOT_TOKEN="outro") == 4
    assert told("token", "wrong", "endpoint_gone", HUBSPOT_VERSION="2019-01") == 4
    assert told("settings", "warning", "HUBSPOT_ENABLED", HUBSPOT_ENABLED="false") == 0
    assert told("stages", "wrong", "PERDIDO is not set", HUBSPOT_STAGE_PERDIDO="") == 4
    assert told("stages", "wrong", "PERDIDO is no stage", HUBSPOT_STAGE_PERDIDO="77") == 4
    same = STAGES["novo_lead"]
    assert told("stages", "wrong", "open and for what is closed", HUBSPOT_STAGE_PERDIDO=same) == 4
    assert told("stages", "wrong", "no stage of the pipeline", HUBSPOT_PIPELINE="outro") == 4
    desk("pause", *APPLY)
    assert told("account", "warning", "manual") == 0
    with desk.account.refusing():
        assert told("token", "unavailable", "not_sent") == 5


def test_scopes_and_properties_that_are_missing_are_told(leads):
    without = Access(
        token="sem-contatos",
        scopes=frozenset(each for each in SCOPES if each != "crm.objects.contacts.read"),
    )
    with crm_desk(leads, keys=False, access=(without,)) as desk:
        told = desk("doctor", "--json")
        assert told.code == 4
        assert ("keys", "warning") in checks(told)
        [scopes] = [each for each in told.document["checks"] if each["check"] == "scopes"]
        assert scopes["state"] == "wrong"
        assert "crm.objects.contacts.read" in scopes["detail"]


def test_no_command_makes_a_database(leads):
    for words in (("status",), ("show", "s-1"), ("sync",), ("doctor",), ("retry", "s-1")):
        assert leads("crm", *words).code == 3
    assert leads("crm", "diagnose").code == 2
    assert not leads.db.exists()


def test_a_long_wait_is_told_by_when_it_began(desk):
    desk.session()
    desk.mirror(
        "s-1",
        "crm_sync_deferred",
        ago=timedelta(),
        revision=desk.row().revision,
        error_class="TRANSIENT",
        retry_at="2098-01-01T00:00:00.000000Z",
        counted="yes",
        marker="kept",
    )
    [listed] = desk.json("status", "--status", "PENDING")["rows"]
    assert listed["since"] == desk.row().pending_since
    assert listed["dueAt"] == "2098-01-01T00:00:00.000000Z"
    assert desk.json("sync")["rows"] == 0

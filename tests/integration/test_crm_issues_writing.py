"""Failures that others have met in public when records are changed: over real sockets, what must not happen.

Source: research/crm.md §3. Each test has the name of the report, and asserts what stands in the account.
"""

import json
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from adapters.hubspot.client import HubSpotClient
from adapters.hubspot.crm import HubSpotCrm
from domain import keys
from domain.errors import Unavailable
from handlers.simulators.hubspot import (
    CONTACTS,
    DEALS,
    REPLY_LOST,
    SESSION_KEY,
    STAGES,
    Answer,
    Late,
)
from tests.support.crm_deployment import DEALS_PATH, deployed

FIVE = ("s-1", "s-2", "s-3", "s-4", "s-5")
ASSOCIATIONS = "*/associations/*"


def error(category="VALIDATION_ERROR", message="no"):
    return json.dumps({"status": "error", "category": category, "message": message}).encode()


# Row 7: airbytehq/airbyte#76340.
def test_issue_airbyte_76340_one_conflict_holds_up_no_other_record(tmp_path):
    with deployed(tmp_path) as world:
        for session in FIVE:
            world.start(session)
            world.turn(session)
        conflict = Answer(status=409, body=error("CONFLICT", "one of them is there already"))
        world.hubspot.script(conflict, method="POST", path=DEALS_PATH, nth=3)
        assert world.run().endings == {"synced": 4, "uncertain": 1}

        assert sorted(world.statuses(*FIVE)) == ["SYNCED"] * 4 + ["UNCERTAIN"]
        assert len(world.hubspot.deals()) == 4
        assert [each for each in world.hubspot.journal.writes if "/batch/" in each.path] == []
        world.pass_time(minutes=1)
        world.run()
        assert world.statuses(*FIVE) == ["SYNCED"] * 5
        assert sorted(each.values[SESSION_KEY] for each in world.hubspot.deals()) == [
            f"test:{session}" for session in FIVE
        ]


# Row 8: airbytehq/airbyte#74725, and #74716 of which it is the mending.
def test_issue_airbyte_74725_what_a_partial_success_leaves_out_is_missed(tmp_path):
    with deployed(tmp_path) as world:
        world.synced(*FIVE)
        gone = world.deal("s-3").id
        world.hubspot.people.archive(DEALS, gone)
        report = world.diagnosed()

        assert [(each.kind, each.session_id) for each in report.drifts] == [("archived", "s-3")]
        first, *_ = world.asked("POST", "*/deals/batch/read")
        assert first.status == 207
        assert not report.is_clean


@pytest.mark.parametrize(
    "body",
    [b'{"status":"COMPLETE","results":[]}', b'{"status":"COMPLETE","results":[],"errors":[]}'],
)
def test_issue_airbyte_74716_a_success_without_content_proves_nothing(tmp_path, body):
    with deployed(tmp_path) as world:
        world.synced()
        world.hubspot.script(Answer(status=200, body=body), path="*/deals/batch/read")

        with pytest.raises(Unavailable, match="did not tell"):
            world.diagnosed()


# Row 10: chatwoot/chatwoot#14818, merged.
@pytest.mark.parametrize("preserve_id", [False, True])
@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_issue_chatwoot_14818_a_merged_deal_is_followed(tmp_path, preserve_id, first):
    with deployed(tmp_path, preserve_id=preserve_id) as world:
        world.synced()
        ours = world.deal().id
        twin = world.hubspot.people.create_deal(
            world.contact().id, dealname="Ana", dealstage=STAGES["em_triagem"], pipeline="default"
        )
        pair = (ours, twin) if first == "ours" else (twin, ours)
        left = world.hubspot.people.merge(DEALS, *pair)
        world.turn(intent="servico")

        assert world.run().endings == {"synced": 1}
        assert world.row().deal_id == left
        assert "servico" in world.deal().values["description"]
        assert world.creations() == []


# Row 10: chatwoot/chatwoot#14818, deleted.
def test_issue_chatwoot_14818_a_deleted_deal_is_told_and_not_tried_for_ever(tmp_path):
    with deployed(tmp_path) as world:
        world.synced()
        world.hubspot.people.archive(DEALS, world.row().deal_id)
        world.turn(intent="servico")

        assert world.run().endings == {"blocked": 1}
        assert world.row().blocked_reason == "deal_archived"
        asked = len(world.asked())
        world.pass_time(days=1)
        assert world.run().rows == 0
        assert len(world.asked()) == asked
        assert world.asked("PATCH") == world.creations() == []


# Row 10: chatwoot/chatwoot#14818, a contact that is gone.
@pytest.mark.parametrize("when", ["before it is read", "after it was read"])
def test_issue_chatwoot_14818_a_deleted_contact_is_looked_for_anew(tmp_path, when):
    with deployed(tmp_path, reserved=False) as world:
        world.start()
        world.turn()
        locked = Answer(status=423, body=error("LOCKED"))
        world.hubspot.script(locked, method="POST", path=DEALS_PATH)
        assert world.run().endings == {"deferred": 1}
        before = world.row().contact_id
        world.pass_time(minutes=2)

        class Meanwhile(HubSpotCrm):
            def create_deal(self, properties, contact_id):
                if when == "after it was read" and contact_id == before:
                    world.hubspot.people.archive(CONTACTS, before)
                return super().create_deal(properties, contact_id)

        if when == "before it is read":
            world.hubspot.people.archive(CONTACTS, before)
        client = HubSpotClient(world.hubspot.token, base_url=world.hubspot.url)
        crm = Meanwhile(client)
        assert world.run(world.mirror(crm)).endings == {"synced": 1}
        crm.close()

        assert world.row().contact_id == world.contact().id != before
        assert world.hubspot.contacts_of(world.deal().id) == [world.contact().id]


# Row 15: Atlas-Authority/marketing-automation#64.
def test_issue_marketing_automation_64_what_people_manage_is_theirs(tmp_path):
    with deployed(tmp_path) as world:
        world.synced(intent="compra", qualification_data='{"raca":"Gir"}')
        world.edit(dealname="Conta grande", amount="9000", dealtype="newbusiness")
        world.hubspot.people.edit(
            CONTACTS, world.contact().id, firstname="Dona Ana", phone="+55 11 4004-0000"
        )
        world.turn(intent="venda", qualification_data='{"prazo":"maio"}')
        world.ask_for_people()
        report = world.run()

        assert report.kept_by_people == 1
        values = world.deal().values
        assert (values["dealname"], values["amount"]) == ("Conta grande", "9000")
        assert values["dealtype"] == "newbusiness"
        assert values["dealstage"] == STAGES["atendimento_humano"]
        assert values["description"].split("\n") == [
            "Intenção: venda",
            "Anotações:",
            "prazo: maio",
            "raca: Gir",
        ]
        assert world.contact().values["firstname"] == "Dona Ana"
        assert world.contact().values["phone"] == "+55 11 4004-0000"
        assert [set(each.document["properties"]) for each in world.asked("PATCH")] == [
            {"dealstage", "pipeline", "description"}
        ]


# Row 16: activepieces/activepieces#10037.
def test_issue_activepieces_10037_what_is_not_said_wipes_nothing(tmp_path):
    with deployed(tmp_path) as world:
        world.synced(segment="PESQUISA", intent="compra")
        world.edit(amount="500")
        before = world.deal().values
        world.turn(state="QUALIFYING", qualification_data='{"prazo":"maio","raca":null}')
        world.run()

        after = world.deal().values
        assert after["description"] == before["description"] + "\nAnotações:\nprazo: maio"
        assert {**after, "description": ""} == {**before, "description": ""}
        sent = [each.document["properties"] for each in world.hubspot.journal.writes]
        assert [name for values in sent for name, value in values.items() if not value] == []


# Row 16: NangoHQ/integration-templates#589, estuary/connectors#4272.
@pytest.mark.parametrize("cleared", ["", "  "])
def test_issue_nangohq_589_what_is_said_to_be_empty_is_cleared(tmp_path, cleared):
    with deployed(tmp_path) as world:
        world.synced(qualification_data='{"prazo":"maio","raca":"Gir"}')
        world.turn(qualification_data=json.dumps({"raca": cleared}))
        assert world.run().endings == {"synced": 1}

        assert "Gir" not in world.deal().values["description"]
        assert "prazo: maio" in world.deal().values["description"]


# Row 19: HubSpot/hubspot-api-nodejs#382, MemberJunction/MJ#2743, HubSpot/hubspot-api-python#88.
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(None, id="hubspot_api_nodejs_382"),
        pytest.param(Answer(status=200, body=b'{"results":[]}'), id="memberjunction_2743"),
        pytest.param(REPLY_LOST, id="hubspot_api_python_88"),
    ],
)
def test_issue_hubspot_api_nodejs_382_a_deal_has_its_contact_whatever_was_answered(tmp_path, fault):
    with deployed(tmp_path, drop_associations=True) as world:
        world.start()
        world.turn()
        if fault is not None:
            world.hubspot.script(fault, method="PUT", path=ASSOCIATIONS)
            assert world.run().endings == {"deferred": 1}
            assert world.row().confirmed_revision == ""
            world.pass_time(minutes=1)

        assert world.run().endings == {"synced": 1}
        assert world.hubspot.contacts_of(world.deal().id) == [world.contact().id]
        assert len(world.creations()) == 1


# Row 27: mitodl/mitxpro#3927, mitodl/mitxpro#4019.
@pytest.mark.parametrize("issue", ["mitxpro_3927_stored", "mitxpro_4019_refused"])
def test_issue_mitxpro_3927_one_row_that_cannot_be_done_stops_no_other(tmp_path, issue):
    with deployed(tmp_path) as world:
        for session in FIVE:
            world.start(session)
            world.turn(session)
        if issue == "mitxpro_3927_stored":
            row = world.app.table.get(keys.crm_sync("s-2"))
            assert row is not None
            world.app.table.put(replace(row, attributes={**row.attributes, "contact": "{"}))
        else:
            refusal = Answer(status=400, body=error())
            world.hubspot.script(refusal, method="POST", path=DEALS_PATH, nth=2)
        with capture_logs() as logs:
            report = world.run()

        assert report.endings["synced"] == 4
        assert report.stopped == ""
        assert len(world.hubspot.deals()) == 4
        failed = [each for each in logs if each["event"] == "crm_sync_worker_failed"]
        if issue == "mitxpro_3927_stored":
            assert [each["lead"] for each in failed] == [world.lead("s-2")]
            assert report.endings["failed"] == 1
        else:
            assert report.endings["blocked"] == 1
            assert sorted(world.statuses(*FIVE)) == ["BLOCKED"] + ["SYNCED"] * 4


# Row 28: tablexi/restforce-db#35.
@pytest.mark.parametrize("answer", ["done", "lost"])
def test_issue_restforce_db_35_a_change_meanwhile_is_confirmed_by_the_next_run(tmp_path, answer):
    with deployed(tmp_path) as world:
        world.synced()
        world.turn(intent="primeiro")
        first = world.row().revision

        class Meanwhile(HubSpotCrm):
            def update_deal(self, deal_id, properties):
                reply = super().update_deal(deal_id, properties)
                world.turn(intent="segundo")
                return reply

        if answer == "lost":
            world.hubspot.script(REPLY_LOST, method="PATCH", path="*/deals/*")
        client = HubSpotClient(world.hubspot.token, base_url=world.hubspot.url)
        crm = Meanwhile(client)
        world.run(world.mirror(crm))
        crm.close()

        row = world.row()
        assert (row.status, row.confirmed_revision == first) == ("PENDING", answer == "done")
        assert row.revision != first
        assert "primeiro" in world.deal().values["description"]
        world.pass_time(minutes=1)
        assert world.run().endings == {"synced": 1}
        assert "segundo" in world.deal().values["description"]
        assert world.row().confirmed_revision == world.row().revision == row.revision


# No report: a random life found it. Segment, intent and notes share the deal's description.
def test_what_a_late_request_puts_back_beside_what_it_names_is_no_persons_doing(tmp_path):
    with deployed(tmp_path) as world:
        world.synced("s-1", intent="comprar")
        world.turn("s-1", intent="alugar")
        world.hubspot.script(Late(after_s=90), method="PATCH", path=DEALS_PATH + "/*")
        assert world.run().endings == {"deferred": 1}
        world.pass_time(minutes=1)
        world.turn("s-1", segment="Pesquisa")
        assert world.run().endings == {"synced": 1}
        assert world.deal().values["description"] == "Segmento: Pesquisa\nIntenção: alugar"
        world.pass_time(minutes=1)
        assert world.deal().values["description"] == "Intenção: alugar"  # The late one came.

        world.turn("s-1", qualification_data='{"amostras":"12"}')
        world.pass_time(minutes=5)
        world.run()

        assert world.statuses("s-1") == ["SYNCED"]
        told = world.deal().values["description"]
        assert told == "Segmento: Pesquisa\nIntenção: alugar\nAnotações:\namostras: 12"


def test_what_a_person_put_there_stays_theirs_whatever_is_late(tmp_path):
    with deployed(tmp_path) as world:
        world.synced("s-1", intent="comprar", segment="Pesquisa")
        world.edit(description="Segmento: Indústria\nIntenção: comprar")
        world.turn("s-1", intent="alugar")
        world.hubspot.script(Late(after_s=90), method="PATCH", path=DEALS_PATH + "/*")
        assert world.run().endings == {"deferred": 1}
        world.turn("s-1", segment="Ensino")
        world.pass_time(minutes=5)
        world.run()

        assert world.statuses("s-1") == ["SYNCED"]
        assert world.deal().values["description"] == "Segmento: Indústria\nIntenção: alugar"

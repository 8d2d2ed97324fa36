import re

import pytest

from handlers.simulators.hubspot import REPLY_LOST
from tests.support.hubspot_account import deal

NASTY = "\"'<script>&" * 30


def test_the_page_shows_deals_by_stage_and_contacts(program):
    contact = program.contact(firstname="Ana", lastname="Souza", phone="+5511955550142")
    program.deal(contact, dealname="Exame de Ana")
    program.deal(dealname="Exame de Bia", dealstage="1000003")
    answer = program.http.get("/")
    columns = {each.split("</span>")[0]: each for each in answer.text.split("<section><h3><span>")}

    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "Negócios por etapa (2)" in answer.text
    assert "Contatos (1)" in answer.text
    assert "Exame de Ana" in columns["Novo lead"]
    assert "Ana Souza" in columns["Novo lead"]
    assert "Exame de Bia" in columns["Atendimento humano"]
    assert "Exame" not in columns["Finalizado"]
    assert 'lang="pt-BR"' in answer.text


def test_the_page_takes_nothing_from_elsewhere_and_no_word_for_markup(program):
    program.deal(program.contact(firstname=NASTY), dealname=NASTY)
    answer = program.http.get("/")

    assert "<script" not in answer.text
    assert not re.search(r"(src|href)=\"(?!data:)", answer.text)
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_the_page_stays_small_whatever_the_account_holds(program):
    for _ in range(60):
        contact = program.contact(firstname=NASTY, lastname=NASTY, phone=NASTY)
        program.deal(contact, dealname=NASTY)
    answer = program.http.get("/")

    assert len(answer.content) <= 50_000
    assert answer.text.count("e mais 20") == 2


def test_a_deal_in_a_stage_that_is_gone_is_shown_beside(program):
    program.deal(dealname="Exame de Ana")
    program.account.people.remove_stage("1000001")
    assert "Outra etapa" in program.http.get("/").text


def test_programs_are_told_what_there_is(program):
    made = program.deal(program.contact())
    program.account.people.move(made, "1000002")
    told = program.http.get("/_simulator").json()
    deals = program.http.get("/_simulator/deals").json()["results"]
    journal = program.http.get("/_simulator/journal").json()["results"]

    assert (told["contacts"], told["deals"], told["requests"]) == (1, 1, 2)
    assert told["dealsByStage"] == {"1000002": 1}
    assert deals[0]["id"] == made
    assert [(each["method"], each["status"]) for each in journal] == [("POST", 201)] * 2
    assert "body" not in journal[0]
    assert program.http.get("/_simulator/nada").status_code == 404


def test_another_process_can_let_something_go_wrong_and_act_as_people_do(program):
    asked = {"fault": "502", "method": "POST", "path": "*/deals"}
    assert program.http.post("/_simulator/faults", json=asked).status_code == 202
    head = {"Authorization": f"Bearer {program.account.token}"}
    refused = program.http.post("/crm/objects/2026-09/deals", json=deal(), headers=head)
    made = program.deal()
    moved = {"deal": made, "stage": "1000003"}

    assert refused.status_code == 502
    assert program.http.post("/_simulator/move", json=moved).status_code == 202
    assert program.account.deals()[0].values["dealstage"] == "1000003"
    archived = {"kind": "deals", "id": made}
    assert program.http.post("/_simulator/archive", json=archived).status_code == 202
    assert program.account.deals() == []
    assert program.http.post("/_simulator/restore", json=archived).status_code == 202
    assert len(program.account.deals()) == 1


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("faults", {"fault": "nada"}, 422),
        ("move", {"deal": "404", "stage": "1000003"}, 422),
        ("archive", {"kind": "carros", "id": "1"}, 422),
        ("nada", {}, 404),
    ],
)
def test_what_cannot_be_done_is_said_so(program, path, body, status):
    assert program.http.post(f"/_simulator/{path}", json=body).status_code == status


def test_a_page_of_a_foreign_site_sees_and_does_nothing(program):
    foreign = {"Host": "mau.example"}
    form = {"Content-Type": "application/x-www-form-urlencoded"}

    assert program.http.get("/", headers=foreign).status_code == 403
    assert program.http.get("/_simulator", headers=foreign).status_code == 403
    assert program.http.post("/_simulator/faults", content=b"a=b", headers=form).status_code == 415


def test_the_journal_has_every_request_in_order_and_no_header(program):
    program.account.script(REPLY_LOST, method="GET")
    made = program.deal(lead_session_id="prod:a")
    program.patch(f"deals/{made}", {"properties": {"dealname": "Bia"}})
    program.post("deals/search", {})
    journal = program.account.journal

    assert [entry.number for entry in journal] == [1, 2, 3]
    assert [entry.method for entry in journal.writes] == ["POST", "PATCH"]
    assert [entry.number for entry in journal.of("PATCH", "*/deals/*")] == [2]
    assert journal.of("PATCH")[0].document == {"properties": {"dealname": "Bia"}}
    assert program.account.token not in repr(list(journal))
    journal.clear()
    assert len(journal) == 0

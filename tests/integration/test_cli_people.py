"""Operators at the command line: lists, acts, and what a refusal says."""

import json

import pytest

from adapters.clock import utc_now
from tests.support.people import desk
from tests.support.talks import PHONE

OTHER = "5511955550143"
ANA = ("--operator", "ana")
BIA = ("--operator", "bia")


@pytest.fixture
def lead(leads):
    """A lead that waits for a person, by the clock that the command line goes by."""
    with desk(leads.folder) as at:
        at.now = utc_now()
        return at.waiting()


def test_the_inbox_says_who_waits_and_whose_the_others_are(leads):
    with desk(leads.folder) as at:
        lead, waiting = at.claimed("ana"), at.waiting(OTHER)

    told = leads("inbox", *ANA, "--json").document

    assert [each["leadOrganizationId"] for each in told["queue"]] == [waiting]
    assert [each["leadOrganizationId"] for each in told["own"]] == [lead]
    assert told["queue"][0]["reason"] == "no_model"
    table = leads("inbox", *BIA)
    assert waiting in table.out
    assert lead not in table.out
    assert "1 wait; 0 are bia's." in table.err


def test_sessions_are_listed_by_state_and_final_states_are_refused(leads, lead):
    [listed] = leads("sessions", "--state", "HANDOFF_PENDING", "--json").document["sessions"]
    assert listed["leadOrganizationId"] == lead

    refused = leads("sessions", "--state", "COMPLETED")
    assert refused.code == 2
    assert "HANDOFF_PENDING" in refused.err


def test_a_conversation_goes_from_hand_to_hand_and_ends(leads, lead):
    assert leads("claim", f"whatsapp:{PHONE}", *ANA, "--json").document["assignedTo"] == "ana"
    assert leads("release", lead, *ANA, "--note", "Aguarda", "--json").document["state"] == (
        "HANDOFF_PENDING"
    )
    leads("claim", lead, *ANA)
    assert leads("transfer", lead, "bia", *ANA, "--json").document["assignedTo"] == "bia"
    assert leads("return", lead, *BIA, "--json").document["state"] == "TRIAGE"
    assert leads("claim", lead, *BIA, "--take-over", "--json").document["assignedTo"] == "bia"
    assert leads("close", lead, *BIA, "--json").document["state"] is None

    over = leads("close", lead, *BIA)
    assert over.code == 4


def test_who_comes_second_gets_a_conflict_and_what_stands(leads, lead):
    leads("claim", lead, *ANA)

    refused = leads("claim", lead, *BIA, "--json")

    assert refused.code == 4
    assert refused.document["error"] == "conversation_state_changed"
    assert refused.document["now"]["assignedTo"] == "ana"
    assert "/problems/conversation_state_changed" in refused.err
    assert "assignedTo ana" in leads("claim", lead, *BIA).err


def test_a_text_of_a_process_without_the_channel_waits_and_given_twice_it_is_one(leads, lead):
    leads("claim", lead, *ANA)

    first = leads("reply", lead, "Bom dia", *ANA, "--id", "click-1", "--json").document
    again = leads("reply", lead, "Bom dia", *ANA, "--id", "click-1", "--json").document

    assert (first["state"], first["duplicate"]) == ("queued", False)
    assert (again["outboundId"], again["duplicate"]) == (first["outboundId"], True)
    other = leads("reply", lead, "Boa noite", *ANA, "--id", "click-1")
    assert other.code == 4


def test_a_text_on_a_stale_view_is_refused_with_the_newer_message(leads, lead):
    leads("claim", lead, *ANA)
    [own] = leads("inbox", *ANA, "--json").document["own"]

    refused = leads("reply", lead, "Bom dia", *ANA, "--seen", "wamid.OLD", "--json")
    assert refused.code == 4
    assert refused.document["changed"] == ["latest"]
    assert refused.document["now"]["latestMessageId"] == own["lastMessageId"]


def test_after_a_day_the_window_is_closed(leads):
    with desk(leads.folder) as at:
        lead = at.claimed()

    # The desk's clock stands in March; the command line's is months later.
    refused = leads("reply", lead, "Bom dia", *ANA)

    assert refused.code == 2
    assert "/problems/window_closed" in refused.err


@pytest.mark.parametrize("line", ["claim", "release", "return", "close"])
def test_a_lead_nobody_knows_is_not_found(leads, lead, line):
    assert leads(line, "lead-nobody", *ANA).code == 3


@pytest.mark.parametrize(
    "line", ["inbox", "sessions --state HUMAN", "available", "demands", "costs", "trace wamid.X"]
)
def test_no_command_of_people_makes_a_database(leads, line):
    assert leads(*line.split()).code == 3
    assert not leads.db.exists()


def test_another_organization_sees_nothing(leads, lead):
    assert leads("inbox", *ANA, "--org", "another", "--json").document["queue"] == []
    assert leads("claim", lead, *ANA, "--org", "another").code == 3


def test_operators_say_that_they_are_there(leads, lead):
    assert leads("available", *ANA, "--json").document == {"available": [{"operator": "ana"}]}
    leads("available", *BIA)
    leads("available", "--off", *ANA)
    assert leads("available", "--list", "--json").document == {"available": [{"operator": "bia"}]}
    assert leads("available", "--list", "--off").code == 2


def test_a_message_is_followed_from_its_receipt_to_the_last_status(leads):
    with desk(leads.folder, model="scripted") as at:
        lead = at.says("Quanto custa o sequenciamento?")
        [text] = at.phone.texts
        wamid = at.phone.wamid(text)

    told = leads("trace", "wamid.IN0001", "--json")
    found = told.document

    assert found["leadOrganizationId"] == lead
    assert found["messageIds"] == ["wamid.IN0001"]
    assert found["outboundIds"] == [text.outbound_id]
    assert found["providerMessageIds"] == [wamid]
    assert [each["eventType"] for each in found["steps"]] == [
        "message_received",
        "agent_turn_completed",
        "reply_sending",
        "reply_sent",
    ]
    assert found["sessionId"] == found["steps"][0]["told"]["sessionId"]
    by_text = leads("trace", text.outbound_id, "--json").document
    assert by_text["steps"] == found["steps"]
    by_wamid = leads("trace", wamid, "--lead", lead, "--json").document
    assert by_wamid["steps"] == found["steps"]


def test_a_trace_tells_no_content(leads):
    with desk(leads.folder, model="scripted") as at:
        lead = at.claimed()
        at.reply(lead, text="palavra-secreta")
        name = at.phone.texts[-1].outbound_id

    for message_id in ("wamid.IN0001", name):
        told = leads("trace", message_id, "--lead", lead, "--json")
        assert told.document["steps"]
        for word in ("palavra-secreta", "atendente", PHONE):
            assert word not in told.out


@pytest.mark.parametrize("message_id", ["wamid.NOBODY", "out_nobody"])
def test_a_message_nobody_knows_is_not_found(leads, lead, message_id):
    assert leads("trace", message_id).code == 3
    assert leads("trace", message_id, "--lead", lead).code == 3


def test_costs_are_summed_by_day_and_model(leads):
    with desk(leads.folder, model="scripted") as at:
        at.now = utc_now()
        at.says("oi")
        at.says("quero sequenciamento")

    [cost] = leads("costs", "--json").document["costs"]
    assert (cost["day"], cost["model"], cost["calls"]) == (utc_now()[:10], "scripted", 2)
    assert (cost["cost"], cost["currency"]) == (None, None)


def test_what_is_not_sold_is_listed_newest_first(leads):
    with desk(leads.folder, model="scripted") as at:
        lead = at.says("Vocês fazem teste de paternidade?")
        at.pass_by(minutes=1)
        at.says("E vacina?", phone=OTHER)

    demands = leads("demands", "--json").document["demands"]
    assert [each["service"] for each in demands] == ["Vacina", "Teste de paternidade"]
    assert demands[1]["leadOrganizationId"] == lead
    assert len(leads("demands", "--limit", "1", "--json").document["demands"]) == 1


def test_a_lead_talks_at_a_terminal_and_an_agent_answers(leads):
    talked = leads("chat", "--as", "rui", stdin=b"oi\n", env={"LEADS_MODEL": "scripted"})

    assert talked.code == 0
    assert talked.out.startswith("triagem: Olá!")
    later = leads(
        "chat", "--as", "rui", stdin=b"quero sequenciamento\n", env={"LEADS_MODEL": "scripted"}
    )
    assert "que tipo de amostra" in later.out
    assert "Olá!" not in later.out, "what was said before is not said again"


def test_an_operator_claims_answers_and_ends_at_a_terminal(leads):
    leads("chat", "--as", "rui", stdin="tem alguém aí?\n".encode())

    talked = leads("chat", "--operator", "ana", stdin=b"/claim 1\nOi, Rui!\n/close\n")

    assert "lead: tem alguém aí?" in talked.out
    assert "[1] waits 0 min" in talked.err
    assert "the conversation is over" in talked.err
    told = [json.loads(line) for line in leads("events", "console:rui", "--jsonl").out.splitlines()]
    assert [
        each["payload"]["text"]
        for each in told
        if "operator" in each["payload"] and "text" in each["payload"]
    ] == ["Oi, Rui!"]
    assert told[-1]["payload"]["outcome"] == "closed_by_operator"


def test_a_terminal_s_mistakes_end_nothing(leads):
    leads("chat", "--as", "rui", stdin=b"oi\n")
    lines = "hm\n/claim 7\n/what\n/release\n/transfer\n/claim 1\n/transfer bia\n/claim 1\n/quit\nnever\n"

    talked = leads("chat", "--operator", "ana", stdin=lines.encode())

    assert talked.code == 0
    assert "Claim a conversation first" in talked.err
    assert "Which one is not clear" in talked.err
    assert "It is bia's." in talked.err
    assert "assignedTo bia" in talked.err


def test_what_a_lead_writes_cannot_move_the_operator_s_cursor(leads):
    leads("chat", "--as", "rui", stdin="oi \x1b[2J\u202e!\n".encode())

    talked = leads("chat", "--operator", "ana", stdin=b"/claim 1\n")

    assert "\x1b" not in talked.out
    assert "\u202e" not in talked.out


@pytest.mark.parametrize("flags", [("--json",), ("--as", "rui", "--operator", "ana")])
def test_a_chat_is_one_person_and_for_people(leads, flags):
    assert leads("chat", *flags, stdin=b"").code == 2

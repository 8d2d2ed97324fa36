"""Public reports about people beside bots, as promises of ours. Each name says whose report it was."""

import pytest

from domain import keys
from domain.conversation.standing import StateChanged
from domain.conversation.states import State
from tests.support.people import Desk, desk, stepped_desk
from tests.support.talks import ORGANIZATION


@pytest.fixture
def at(tmp_path):
    with desk(tmp_path, model="scripted") as made:
        yield made


def bot_answers(at: Desk, lead: str) -> int:
    return len(at.events(lead, "agent_turn_completed"))


def test_issue_chatwoot_5668(at):
    """A message after "resolved" never reached the bot."""
    lead = at.claimed()
    closed = at.session(lead).session_id
    at.operators.close(ORGANIZATION, lead, "ana")
    answers, texts = bot_answers(at, lead), len(at.phone.texts)

    at.says("oi, voltei")

    assert at.session(lead).session_id != closed
    assert bot_answers(at, lead) == answers + 1
    assert len(at.phone.texts) == texts + 1


def test_issue_chatwoot_4008(at):
    """A reopened conversation stayed the operator's, so the bot was silent."""
    lead = at.claimed()
    at.operators.close(ORGANIZATION, lead, "ana")

    at.says("oi", work=False)

    session = at.session(lead)
    assert (session.state, session.assigned_to) == (State.NEW, None)
    assert at.operators.inbox(ORGANIZATION, "ana").own == []


def test_issue_chatwoot_6112(at):
    """The bot handed off, and nobody was notified."""
    at.talks.availability.set(ORGANIZATION, "ana", available=True)
    lead = at.waiting()

    at.talks.jobs.round(ORGANIZATION)

    [told] = at.events(lead, "handoff_renotified")
    assert (told.payload["audience"], told.payload["step"]) == ("operator", 0)


def test_issue_chatwoot_5077(at):
    """A handoff reached no queue: here the queue and its clock are rows of the commit that asks."""
    lead = at.waiting()

    [requested] = at.events(lead, "handoff_requested")
    session = at.session(lead)
    row = at.app.table.get(keys.session(lead, session.session_id))
    assert row.gsi1[0] == keys.sessions_in(ORGANIZATION, "HANDOFF_PENDING")
    assert session.handoff_requested_at == requested.occurred_at
    [turned] = at.events(lead, "agent_turn_completed")
    assert requested.sequence == turned.sequence + 1, "no moment lies between reply and queue"


def test_issue_chatwoot_9314(at):
    """On a weak link the operator's client posted twice, and the lead read everything twice."""
    lead = at.claimed()
    before = len(at.phone.texts)

    first = at.reply(lead, client_message_id="click-1")
    second = at.reply(lead, client_message_id="click-1")

    assert first.outbound_id == second.outbound_id
    assert len(at.phone.texts) == before + 1


def test_issue_open_mercato_3380(tmp_path):
    """A check before the send let a second sender in: here the lock is judged in the commit."""
    with stepped_desk(tmp_path) as (at, steps):
        lead = at.claimed()
        refused = []

        def transfer():
            with pytest.raises(StateChanged) as error:
                at.operators.transfer(ORGANIZATION, lead, "ana", "bia")
            refused.append(error.value)

        steps.before("insert_events", transfer)
        replied = at.reply(lead)

        assert [each.now.sending for each in refused] == ["ana"]
        assert replied.state == "sent"
        assert at.session(lead).assigned_to == "ana"

"""What people may do with a conversation, and what they are told when it is not what they saw."""

import itertools

import pytest

from domain.conversation import handling
from domain.conversation.chunks import LIMIT
from domain.conversation.facts import Facts
from domain.conversation.handling import OperatorMessage, WindowClosed
from domain.conversation.messages import outbound_id
from domain.conversation.session import Session, evolve
from domain.conversation.standing import (
    Actor,
    Seen,
    Standing,
    StateChanged,
    transition_state,
)
from domain.conversation.states import BOT, PHONE_OPERATOR, State
from domain.conversation.thread import Thread
from domain.errors import LimitExceeded, Rejected

NOW = "2026-03-20T12:00:00.000000Z"
ANA = Actor(operator="ana", command_id="act-1")
BIA = Actor(operator="bia", command_id="act-2")
IDS = itertools.count(1)
FACTS = Facts(organization_id="acme", now=NOW, new_id=lambda: f"event-{next(IDS)}")
HOLDERS = [State.HANDOFF_PENDING, "ana", "bia", PHONE_OPERATOR, *sorted(BOT), None]

ACTS = {
    "claim": lambda at: handling.claim(at, ANA, FACTS),
    "take over": lambda at: handling.claim(at, ANA, FACTS, take_over=True),
    "release": lambda at: handling.release(at, ANA, FACTS),
    "transfer": lambda at: handling.transfer(at, ANA, FACTS, "bia"),
    "return": lambda at: handling.return_to_bot(at, ANA, FACTS),
    "close": lambda at: handling.close(at, ANA, FACTS),
    "write": lambda at: handling.write(at, ANA, FACTS, says()),
}
ALLOWED = {
    "claim": {State.HANDOFF_PENDING, "ana", PHONE_OPERATOR},
    "take over": {State.HANDOFF_PENDING, "ana", PHONE_OPERATOR, *BOT},
    "release": {"ana"},
    "transfer": {"ana"},
    "return": {State.HANDOFF_PENDING, "ana"},
    "close": {State.HANDOFF_PENDING, "ana"},
    "write": {"ana"},
}


def says(text="Bom dia", client_message_id="click-1", last_seen=None):
    return OperatorMessage(
        text=text, client_message_id=client_message_id, last_seen_message_id=last_seen
    )


def held(by, **changes):
    """A conversation in a state, or owned by somebody; None: it is over."""
    state = by if isinstance(by, State) else State.HUMAN
    thread = Thread(
        **{
            "organization_id": "acme",
            "latest": "wamid.2",
            "last_inbound_at": NOW,
            "channel": "whatsapp",
            "active_session_id": None if by is None else "s-1",
            "state": None if by is None else state,
            "started_at": "2026-03-20T11:00:00.000000Z",
            "session_messages": 7,
            **changes,
        }
    )
    session = Session(
        session_id="s-1",
        organization_id="acme",
        channel="whatsapp",
        whatsapp_instance="",
        state=state,
        created_at=NOW,
        updated_at=NOW,
        assigned_to=None if isinstance(by, State) else by,
    )
    return Standing(thread, None if by is None else session)


def after(standing, facts):
    """The session that facts lead to, as the fold sees it."""
    for number, fact in enumerate(facts, start=1):
        evolve(standing.session, fact.numbered("lead-1", number))
    return standing.session


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("by", HOLDERS, ids=str)
def test_an_act_is_done_or_refused_with_what_stands_and_never_illegal(act, by):
    standing = held(by)

    if by not in ALLOWED[act]:
        with pytest.raises(StateChanged) as refused:
            ACTS[act](standing)
        assert refused.value.code == "conversation_state_changed"
        assert refused.value.changed
        assert refused.value.now.state == (standing.session.state if standing.session else None)
        return
    session = after(standing, ACTS[act](standing))
    assert session.rejected_transitions == 0


def test_who_claims_owns_it_and_claiming_again_is_nothing():
    standing = held(State.HANDOFF_PENDING)

    [claimed] = handling.claim(standing, ANA, FACTS)

    assert (claimed.source, claimed.external_event_id) == ("operator_console", "act-1")
    session = after(standing, [claimed])
    assert (session.state, session.assigned_to) == (State.HUMAN, "ana")
    assert handling.claim(standing, ANA, FACTS) == []


def test_the_second_to_claim_is_told_who_owns_it_now():
    with pytest.raises(StateChanged) as refused:
        handling.claim(held("bia"), ANA, FACTS)

    assert set(refused.value.changed) == {"state", "assigned_to"}
    assert refused.value.now.assigned_to == "bia"


def test_what_the_phone_holds_may_be_claimed_and_says_from_whom():
    [claimed] = handling.claim(held(PHONE_OPERATOR), ANA, FACTS)

    assert claimed.payload["fromOperator"] == PHONE_OPERATOR


def test_taking_over_from_agents_asks_for_a_person_first():
    standing = held(State.QUALIFYING)

    facts = handling.claim(standing, ANA, FACTS, take_over=True)

    assert [fact.event_type for fact in facts] == ["handoff_requested", "handoff_claimed"]
    assert after(standing, facts).assigned_to == "ana"


def test_a_transfer_says_from_whom_and_to_oneself_is_nothing():
    [moved] = handling.transfer(held("ana"), ANA, FACTS, "bia")

    assert moved.payload == {"sessionId": "s-1", "operator": "bia", "fromOperator": "ana"}
    assert handling.transfer(held("ana"), ANA, FACTS, "ana") == []


def test_released_it_waits_again_with_a_note():
    standing = held("ana")

    session = after(standing, handling.release(standing, ANA, FACTS, "Aguarda boleto"))

    assert (session.state, session.assigned_to) == (State.HANDOFF_PENDING, None)
    assert session.operator_note == "Aguarda boleto"


def test_closing_says_who_did_and_what_came_of_it():
    facts = handling.close(held(State.HANDOFF_PENDING), ANA, FACTS)

    assert [fact.event_type for fact in facts] == ["handoff_claimed", "conversation_ended"]
    assert facts[0].payload["operator"] == "ana"
    assert facts[1].payload["outcome"] == "closed_by_operator"
    assert (facts[1].payload["messageCount"], facts[1].payload["durationSeconds"]) == (7, 3600)
    assert [f.event_type for f in handling.close(held("ana"), ANA, FACTS)] == ["conversation_ended"]


@pytest.mark.parametrize(
    ("seen", "changed"),
    [
        (Seen(session_id="s-0"), "session"),
        (Seen(state=State.HANDOFF_PENDING), "state"),
        (Seen(assigned_to="bia"), "assigned_to"),
        (Seen(latest="wamid.1"), "latest"),
    ],
)
def test_an_act_on_a_view_of_before_says_what_differs(seen, changed):
    with pytest.raises(StateChanged) as refused:
        handling.release(held("ana"), ANA, FACTS, seen=seen)

    assert refused.value.changed == (changed,)
    assert refused.value.now.latest_message_id == "wamid.2"


def test_an_act_on_what_still_stands_is_done():
    seen = Seen(session_id="s-1", state=State.HUMAN, assigned_to="ana", latest="wamid.2")

    assert handling.release(held("ana"), ANA, FACTS, seen=seen)


def test_a_state_the_machine_does_not_lead_to_is_refused_whatever_is_expected():
    with pytest.raises(StateChanged) as refused:
        transition_state(held(State.TRIAGE), State.HUMAN, expected_state=BOT)

    assert refused.value.changed == ("state",)


def test_a_text_has_the_same_id_however_often_it_is_given():
    [fact] = handling.write(held("ana"), ANA, FACTS, says(last_seen="wamid.2"))

    assert fact.external_event_id == "click-1"
    assert fact.payload["outboundId"] == outbound_id("s-1", "click-1", "operator_text")
    assert (fact.payload["operator"], fact.payload["text"]) == ("ana", "Bom dia")


def test_a_text_to_a_lead_that_wrote_meanwhile_is_refused_without_its_words():
    with pytest.raises(StateChanged) as refused:
        handling.write(held("ana"), ANA, FACTS, says("segredo", last_seen="wamid.1"))

    assert refused.value.changed == ("latest",)
    assert refused.value.now.latest_message_id == "wamid.2"
    assert "segredo" not in str(refused.value)


def test_a_text_after_the_window_says_so():
    with pytest.raises(WindowClosed) as refused:
        handling.write(
            held("ana", last_inbound_at="2026-03-19T12:00:00.000000Z"), ANA, FACTS, says()
        )

    assert refused.value.code == "window_closed"


@pytest.mark.parametrize(("text", "kind"), [("  \n", Rejected), ("é" * 4097, LimitExceeded)])
def test_a_text_that_is_no_message_is_refused(text, kind):
    with pytest.raises(kind):
        handling.write(held("ana"), ANA, FACTS, says(text))


def test_the_longest_text_a_message_holds_is_taken():
    [fact] = handling.write(held("ana"), ANA, FACTS, says("é" * LIMIT))

    assert len(fact.payload["text"]) == LIMIT

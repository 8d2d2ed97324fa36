"""The card of a handoff always fits its event, whatever was collected and said."""

import json

from hypothesis import given
from hypothesis import strategies as st

from domain.conversation.card import MAX_CHARACTERS, card_of, card_text
from domain.conversation.messages import Message
from domain.conversation.session import Session
from domain.conversation.states import State

NOW = "2026-03-20T12:00:00.000000Z"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=2000)
MAPS = st.dictionaries(TEXTS, TEXTS, max_size=60)


def session(**known):
    return Session(
        session_id="s",
        organization_id="acme",
        channel="whatsapp",
        whatsapp_instance="1",
        state=State.TRIAGE,
        created_at=NOW,
        updated_at=NOW,
        **known,
    )


def said(text, direction="inbound", error=None):
    return Message(
        message_id=text, direction=direction, kind="text", at=NOW, text=text, error=error
    )


def test_a_card_tells_what_is_known_the_open_question_and_the_last_words():
    known = session(segment="PESQUISA", qualification_data={"amostra": "solo"})
    history = [said("oi"), said("olá", "outbound"), said("velha", "outbound", "superseded")]

    card = json.loads(card_text(card_of(known, [*history, said("qual o prazo?")]), "asked"))

    assert card == {
        "reason": "asked",
        "segment": "PESQUISA",
        "intent": None,
        "qualification": {"amostra": "solo"},
        "registration": {},
        "openQuestion": "qual o prazo?",
        "last": [
            {"from": "lead", "text": "oi"},
            {"from": "us", "text": "olá"},
            {"from": "lead", "text": "qual o prazo?"},
        ],
    }


@given(MAPS, MAPS, st.lists(TEXTS, max_size=12))
def test_a_card_fits_its_event(qualification, registration, texts):
    known = session(qualification_data=qualification, cadastral_data=registration)
    text = card_text(card_of(known, [said(each) for each in texts]), "asked")

    assert len(text) <= MAX_CHARACTERS
    assert json.loads(text)["reason"] == "asked"


def test_of_a_card_too_long_the_oldest_lines_go_first():
    lines = [said(f"{number}" + '"' * 299) for number in range(10)]
    known = session(qualification_data={"k": "v" * 6000})
    last = json.loads(card_text(card_of(known, lines), "asked"))["last"]

    assert 0 < len(last) < 10
    assert last[-1]["text"].startswith("9")

"""The scripted agent leads a demo from a greeting to a person, always in the same words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.scripted import ScriptedModel
from domain.conversation.answer import ANSWER_SCHEMA, Code, parse
from domain.conversation.guard import objection
from domain.conversation.model import ModelRequest, ModelUnavailable, Said
from domain.conversation.states import AGENTS, BOT, State, is_legal

AFTER = {
    Code.TO_TRIAGE: State.TRIAGE,
    Code.TO_QUALIFICATION: State.QUALIFYING,
    Code.TO_REGISTRATION: State.REGISTERING,
    Code.HANDOFF: State.HANDOFF_PENDING,
    Code.CLOSE: State.COMPLETED,
}


class Talk:
    """A conversation whose state moves as the agent proposes."""

    def __init__(self, state=State.NEW):
        self.state = state
        self.model = ScriptedModel()
        self.said = []

    def say(self, *texts):
        self.said += [Said(role="user", text=text) for text in texts]
        answer = parse(self.model.answer(asked(self.state, self.said)).text)
        assert not answer.repaired
        assert objection(answer.message, handoff=answer.code is Code.HANDOFF) is None
        self.said.append(Said(role="assistant", text=answer.message))
        after = AFTER.get(answer.code, self.state)
        assert is_legal(self.state, after)
        self.state = after
        return answer


def asked(state, said):
    return ModelRequest(
        agent=AGENTS.get(state, "triagem"),
        state=state,
        system="",
        messages=tuple(said),
        schema=ANSWER_SCHEMA,
    )


def test_a_lead_comes_from_a_greeting_to_a_person():
    talk = Talk()

    assert talk.say("Oi, boa tarde").code is Code.TO_TRIAGE
    assert talk.say("não sei bem").code is Code.CONTINUE
    wanted = talk.say("queria um sequenciamento pro meu mestrado")
    asked_back = talk.say("quanto custa?")
    qualified = talk.say("são amostras de saliva", "24")
    missing = talk.say("ok")
    registered = talk.say("Ana Exemplo, ana@example.com")

    assert (wanted.code, wanted.segment, wanted.intent) == (
        Code.TO_QUALIFICATION,
        "PESQUISA",
        "servico",
    )
    assert wanted.qualification == {"servico": "sequenciamento"}
    assert asked_back.code is Code.CONTINUE
    assert "depende" in asked_back.message
    assert qualified.code is Code.TO_REGISTRATION
    assert qualified.qualification == {"tipo_amostra": "saliva", "quantidade": "24"}
    assert missing.code is Code.CONTINUE
    assert registered.code is Code.HANDOFF
    assert registered.registration == {"nome": "Ana Exemplo", "email": "ana@example.com"}
    assert registered.handoff_reason == "ready_for_offer"
    assert registered.insights[0].value == "high"
    assert "Ana" in registered.message
    assert talk.state is State.HANDOFF_PENDING


def test_who_says_everything_at_once_is_asked_only_what_is_missing():
    talk = Talk()

    assert talk.say("Preciso de genotipagem de 10 amostras de sangue").code is (
        Code.TO_QUALIFICATION
    )
    assert talk.say("como disse").code is Code.TO_REGISTRATION
    assert talk.say("Me chamo Bruno de Exemplo").registration == {"nome": "Bruno de Exemplo"}
    done = talk.say("bruno@example.com")
    assert done.code is Code.HANDOFF
    assert done.registration == {"nome": "Bruno de Exemplo", "email": "bruno@example.com"}


def test_what_is_not_sold_is_noted_and_the_conversation_goes_on():
    talk = Talk(State.TRIAGE)

    answer = talk.say("vocês fazem teste de paternidade?")

    assert (answer.code, answer.oop_service) == (Code.OUT_OF_PORTFOLIO, "Teste de paternidade")
    assert talk.say("entendi. E PCR?").code is Code.TO_QUALIFICATION


@pytest.mark.parametrize("state", sorted(BOT))
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("quero falar com uma pessoa", Code.HANDOFF),
        ("me passa pra alguém da equipe", Code.HANDOFF),
        ("ATENDENTE", Code.HANDOFF),
        ("obrigado, era só isso", Code.CLOSE),
        ("Valeu!", Code.CLOSE),
        ("pode encerrar", Code.CLOSE),
        ("mudando de assunto, tenho outra dúvida", Code.NEW_SUBJECT),
        ("fazem vacina?", Code.OUT_OF_PORTFOLIO),
    ],
)
def test_some_things_are_understood_in_every_state(state, text, code):
    assert Talk(state).say(text).code is code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("obrigada, e quanto custa?", Code.CONTINUE),
        ("uma pessoa me indicou vocês", Code.CONTINUE),
        ("meu telefone é 11 95555-0142", Code.CONTINUE),
    ],
)
def test_what_only_resembles_them_is_not_taken_for_them(text, code):
    assert Talk(State.TRIAGE).say(text).code is code


def test_only_what_nobody_answered_yet_ends_a_conversation():
    talk = Talk(State.TRIAGE)

    assert talk.say("valeu").code is Code.CLOSE
    talk.state = State.TRIAGE
    assert talk.say("ah, ainda preciso de PCR").code is Code.TO_QUALIFICATION


def test_the_same_question_has_the_same_answer():
    question = asked(State.NEW, [Said(role="user", text="Oi")])

    assert ScriptedModel().answer(question) == ScriptedModel().answer(question)


@given(
    st.sampled_from(State),
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text()), max_size=5),
)
def test_any_conversation_has_an_answer_in_the_form_of_the_schema(state, turns):
    said = [Said(role=role, text=text) for role, text in turns]

    assert not parse(ScriptedModel().answer(asked(state, said)).text).repaired


def test_a_script_comes_first_and_is_told_as_it_is():
    model = ScriptedModel(["nonsense", ModelUnavailable("timeout", retry_after_s=3)])
    question = asked(State.NEW, [Said(role="user", text="Oi")])

    assert model.answer(question).text == "nonsense"
    with pytest.raises(ModelUnavailable) as raised:
        model.answer(question)
    assert raised.value.retry_after_s == 3
    assert parse(model.answer(question).text).code is Code.TO_TRIAGE
    assert list(model.requests) == [question] * 3
    assert not model.script

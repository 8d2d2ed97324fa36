"""What an agent is told, and how often it is asked."""

import json

import pytest

from adapters.scripted import ScriptedModel
from adapters.sqlite import Factory
from domain.conversation.answer import ANSWER_SCHEMA, Code
from domain.conversation.model import (
    ModelAnswer,
    ModelRefused,
    ModelRequest,
    ModelUnavailable,
    Said,
)
from domain.conversation.states import AGENTS
from domain.resources import PACKAGE, PROMPT
from handlers.agents.asking import INVALID, REFUSED, Asked, ask
from handlers.agents.prompting import Prompting, rules
from handlers.resources import Resources, shipped

ORG = "org-one"
GOOD = json.dumps({"s": "CONTINUE", "message": "Olá!", "metadata": {}})
CLAIM = json.dumps({"s": "CONTINUE", "message": "Vou te transferir agora."})
REQUEST = ModelRequest(
    agent="triagem",
    state="NEW",
    system="",
    messages=(Said(role="user", text="Oi"),),
    schema=ANSWER_SCHEMA,
)


class Priced:
    """A model that answers what it is told to, at a price a call."""

    def __init__(self, *lines):
        self.lines = list(lines)
        self.requests = []

    def answer(self, request):
        self.requests.append(request)
        text, cost = self.lines.pop(0)
        return ModelAnswer(
            text=text,
            model="made-up-1",
            input_tokens=100,
            output_tokens=10,
            cost_micros=cost,
            cost_currency=None if cost is None else "USD",
            latency_ms=7,
        )


@pytest.fixture
def resources():
    factory = Factory({"LEADS_DB": ":memory:"})
    yield Resources(factory.state_table(), lambda: "2026-03-20T12:00:00.000000Z", cached_s=0)
    factory.close()


@pytest.fixture
def prompting(resources):
    return Prompting(resources)


def test_a_request_holds_rules_prompt_packages_state_and_memories_in_this_order(
    prompting, resources
):
    resources.put_next_version(
        ORG, PACKAGE, "faq", "Frete grátis.", author="ana", expected_version=0
    )
    memories = '<lead_memory about="lead">\n- Prefere mensagens curtas\n</lead_memory>\n'
    history = [Said(role="user", text="Oi"), Said(role="assistant", text="Olá!")]

    request, prompt = prompting.build(
        ORG, "QUALIFYING", "qualificacao", history, ["24", "de saliva"], memories
    )

    order = [
        rules(),
        shipped(PROMPT)["qualificacao"].content.strip(),
        "Frete grátis.",
        shipped(PACKAGE)["servicos"].content.strip(),
        "QUALIFYING",
        memories.strip(),
    ]
    places = [request.system.index(part) for part in order]
    assert places == sorted(places)
    assert prompt == "qualificacao@0"
    assert request.messages == (
        *history,
        Said(role="user", text="24"),
        Said(role="user", text="de saliva"),
    )
    assert (request.agent, request.state) == ("qualificacao", "QUALIFYING")
    assert request.schema == ANSWER_SCHEMA
    assert (request.previous, request.correction) == (None, None)


def test_a_changed_prompt_is_told_and_named_and_the_rules_stay(prompting, resources):
    resources.put_next_version(
        ORG, PROMPT, "triagem", "Só diga oi.", author="ana", expected_version=0
    )

    request, prompt = prompting.build(ORG, "NEW", "triagem", [], ["Oi"])

    assert prompt == "triagem@1"
    assert "Só diga oi." in request.system
    assert shipped(PROMPT)["triagem"].content.strip() not in request.system
    assert rules() in request.system
    assert "O que se sabe do cliente" not in request.system
    assert prompting.build("org-two", "NEW", "triagem", [], ["Oi"]).prompt == "triagem@0"


def test_what_was_taken_out_of_use_is_not_told(prompting, resources):
    resources.put_next_version(
        ORG, PROMPT, "triagem", "Só diga oi.", author="ana", expected_version=0
    )
    resources.deactivate(ORG, PROMPT, "triagem", author="ana", expected_version=1)
    resources.deactivate(ORG, PACKAGE, "servicos", author="ana", expected_version=0)

    request, prompt = prompting.build(ORG, "NEW", "triagem", [], ["Oi"])

    assert prompt == "triagem@0"
    assert "Só diga oi." not in request.system
    assert "Base de conhecimento: " not in request.system


def test_the_rules_name_every_code_and_what_may_never_be_said():
    for code in Code:
        assert f"- {code}:" in rules()
    for member in ("s", "message", "metadata"):
        assert f'"{member}"' in rules()


@pytest.mark.parametrize("state", AGENTS)
def test_the_scripted_agent_answers_what_is_built(prompting, state):
    request = prompting.build(ORG, state, AGENTS[state], [], ["Oi"]).request

    assert ask(ScriptedModel(), request).answer is not None


def test_a_good_answer_is_asked_for_once():
    model = Priced((GOOD, 40))

    asked = ask(model, REQUEST)

    assert asked.answer is not None
    assert asked.answer.code is Code.CONTINUE
    assert (asked.calls, asked.corrected, asked.reason) == (1, None, None)
    assert model.requests == [REQUEST]


def test_a_bad_answer_is_asked_for_again_with_what_is_wrong_and_both_calls_count():
    model = Priced(("Olá!", 40), (GOOD, 50))

    asked = ask(model, REQUEST)

    assert asked.answer is not None
    assert asked == Asked(
        answer=asked.answer,
        corrected="no_object",
        calls=2,
        model="made-up-1",
        input_tokens=200,
        output_tokens=20,
        cost_micros=90,
        cost_currency="USD",
        latency_ms=14,
    )
    again = model.requests[1]
    assert again.previous == "Olá!"
    assert again.correction is not None
    assert "JSON" in again.correction
    assert again.messages == REQUEST.messages


@pytest.mark.parametrize(
    ("text", "word", "named"),
    [
        ('{"s":"DANCE","message":"Olá"}', "unknown_code", "TO_QUALIFICATION"),
        ('{"s":"CONTINUE","message":""}', "empty_message", "message"),
        (CLAIM, "claims_transfer", "HANDOFF"),
        (json.dumps({"s": "CONTINUE", "message": "a" * 10_001}), "too_long", "longa"),
        (json.dumps({"s": "CONTINUE", "message": GOOD}), "looks_like_json", "JSON"),
        ('{"s":"CLOSE"', "empty_message", "message"),
    ],
)
def test_a_correction_says_what_was_wrong(text, word, named):
    model = Priced((text, None), (GOOD, None))

    asked = ask(model, REQUEST)

    assert asked.corrected == word
    assert asked.answer is not None
    assert named in model.requests[1].correction


def test_two_bad_answers_are_given_up_and_paid_for():
    model = Priced(("Olá!", 40), (CLAIM, 50), (GOOD, 1))

    asked = ask(model, REQUEST)

    assert (asked.answer, asked.reason, asked.calls, asked.cost_micros) == (None, INVALID, 2, 90)
    assert len(model.requests) == 2


def test_a_handoff_may_say_that_a_person_takes_over_or_nothing():
    for message in ("Vou te transferir agora.", ""):
        text = json.dumps({"s": "HANDOFF", "message": message})

        assert ask(Priced((text, None)), REQUEST).calls == 1


def test_an_answer_is_judged_by_what_the_caller_asks_for():
    def judge(answer):
        return "illegal_transition" if answer.code is Code.CONTINUE else None

    model = Priced((GOOD, None), ('{"s":"CLOSE","message":"Até logo!"}', None))

    asked = ask(model, REQUEST, judge)

    assert asked.answer is not None
    assert (asked.answer.code, asked.corrected) == (Code.CLOSE, "illegal_transition")
    assert ask(Priced((GOOD, None), (GOOD, None)), REQUEST, judge).reason == INVALID


@pytest.mark.parametrize("before", [[], ["Olá!"]])
def test_a_refusal_is_given_up_and_what_was_answered_counts(before):
    model = ScriptedModel([*before, ModelRefused("refusal"), GOOD])

    asked = ask(model, REQUEST)

    assert (asked.answer, asked.reason, asked.calls) == (None, REFUSED, len(before))
    assert list(model.script) == [GOOD]


@pytest.mark.parametrize("before", [[], ["Olá!"]])
def test_an_outage_is_the_callers_to_wait_for(before):
    model = ScriptedModel([*before, ModelUnavailable("rate_limited", retry_after_s=9), GOOD])

    with pytest.raises(ModelUnavailable) as raised:
        ask(model, REQUEST)

    assert (raised.value.reason, raised.value.retry_after_s) == ("rate_limited", 9)


@pytest.mark.parametrize("costs", [(None, 50), (40, None), (None, None)])
def test_a_cost_that_is_known_in_part_is_not_known(costs):
    first, second = costs

    asked = ask(Priced(("Olá!", first), (GOOD, second)), REQUEST)

    assert (asked.cost_micros, asked.cost_currency) == (None, None)
